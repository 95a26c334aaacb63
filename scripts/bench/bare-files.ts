// Yardstick of files: as little as a server can do with a file. It streams what is posted to the path of its
// argument, with SHA-256 on the way, and streams it back.

import { open, rm } from 'node:fs/promises'

const [path = '/dev/null'] = process.argv.slice(2)

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  fetch: async (request) => {
    if (request.method === 'GET') return new Response(Bun.file(path))
    await rm(path, { force: true })
    const hasher = new Bun.CryptoHasher('sha256')
    const file = await open(path, 'w')
    for await (const chunk of request.body ?? []) {
      hasher.update(chunk)
      await file.write(chunk)
    }
    await file.close()
    return Response.json({ sha256: hasher.digest('hex') })
  },
})
console.log(server.url.origin)
