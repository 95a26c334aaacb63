import type { ScratchFolder } from './scratch-folder.ts'

/** The folder over https, where what is in `latest` is elsewhere. */
export async function serveReleases(folder: ScratchFolder): Promise<Bun.Server<undefined>> {
  const [key, cert] = [folder.file('key.pem'), folder.file('cert.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-nodes', '-keyout', key, '-out', cert]
  Bun.spawnSync(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', ...names, ...files])
  return Bun.serve({
    port: 0,
    hostname: 'localhost',
    tls: { key: Bun.file(key), cert: Bun.file(cert) },
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      const [, place, name = ''] = pathname.split('/')
      if (place === 'latest') return Response.redirect(`/files/${name}`)
      return new Response(Bun.file(folder.file(name)))
    },
  })
}
