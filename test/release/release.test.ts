// A release as it is made: which files it has, who signed them, what they say of what is inside, and that
// it is the same each time. The executable is a stand-in, but for what is inside.

import { afterAll, expect, test } from 'bun:test'
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

import { deb } from '../../scripts/release/deb.ts'
import { imageArchive, imageLayout, type ImageOrder } from '../../scripts/release/image.ts'
import { namedInGuides } from '../../scripts/release/repository.ts'
import { packagesInside, sbom } from '../../scripts/release/sbom.ts'
import { readLicenses } from '../../src/cli/licenses.macro.ts'
import { VERSION } from '../../src/system/version.ts'
import { builtExecutable } from '../support/executable.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

const folder = new ScratchFolder()
afterAll(() => folder[Symbol.dispose]())
const CHECKOUT = folder.file('checkout')
const BUILT = folder.file('built')
const REPOSITORY = 'https://github.com/ann/hookline'
const RELEASES = `${REPOSITORY}/releases`
const TARGETS = ['darwin-arm64', 'linux-arm64', 'linux-x64'] as const
const STAND_IN = '#!/bin/sh\necho hookline\n'
const PART = { executable: Buffer.from(STAND_IN), library: { release: '2.36', files: [] } }
const IMAGE: ImageOrder = {
  version: VERSION,
  repository: REPOSITORY,
  seconds: 1_800_000_000,
  documents: {
    licenses: '',
    changelog: '',
    manual: '',
    completions: { bash: '', zsh: '', fish: '' },
  },
  parts: [
    { ...PART, architecture: 'amd64' },
    { ...PART, architecture: 'arm64' },
  ],
}

/** A checkout of its own, which gets a release key, and executables that are there already. */
async function prepare(): Promise<void> {
  for (const name of ['src', 'migrations', 'scripts', 'package.json', 'bun.lock', 'LICENSE']) {
    cpSync(`${ROOT}/${name}`, `${CHECKOUT}/${name}`, { recursive: true })
  }
  symlinkSync(`${ROOT}/node_modules`, `${CHECKOUT}/node_modules`)
  mkdirSync(BUILT)
  for (const name of TARGETS) {
    await Bun.write(`${BUILT}/hookline-${name}`, STAND_IN)
    await Bun.write(`${BUILT}/hookline-${name}.map`, '{}')
    chmodSync(`${BUILT}/hookline-${name}`, 0o755)
  }
  run('sign-release.ts', '--make-key', folder.file('other'))
  await Bun.file(`${CHECKOUT}/.release-key.pub`).delete()
  run('sign-release.ts', '--make-key', folder.file('key'))
}

await prepare()

function run(script: string, ...args: readonly string[]) {
  const command = [process.execPath, `${CHECKOUT}/scripts/${script}`, ...args]
  const env = { PATH: process.env['PATH'] ?? '', SOURCE_DATE_EPOCH: '1800000000' }
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env })
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

function release(out: string, ...more: readonly string[]) {
  return run('release.ts', '--built', BUILT, '--out', out, ...more)
}

test('a release without a key is refused, one with a key that no executable trusts, and one without a repository', () => {
  const none = release(folder.file('none'))
  const other = release(folder.file('none'), '--key', folder.file('other'))
  const key = ['--key', folder.file('key')]
  const nowhere = release(folder.file('none'), ...key)
  const wrong = release(folder.file('none'), ...key, '--repository', 'http://example.org/ann')

  expect([none, other, nowhere, wrong].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1])
  expect(nowhere.stderr).toBe('A release says where it is published: --repository OWNER/NAME.\n')
  expect(wrong.stderr).toStartWith('http://example.org/ann is not a repository: --repository ')
  expect(none.stderr).toStartWith('A release is signed: --key FILE.')
  expect(other.stderr).toContain('is not the secret half of .release-key.pub')
}, 180_000)

test('two releases of one commit are the same, signed, and what the installer installs', async () => {
  const targets = ['--targets', TARGETS.join(','), '--key', folder.file('key')]
  const [one, two] = [folder.file('one'), folder.file('two')]

  const made = release(one, ...targets, '--repository', 'ann/hookline')
  release(two, ...targets, '--repository', REPOSITORY)
  const sums = readFileSync(`${one}/SHA256SUMS`, 'utf8')
  const check = Bun.spawnSync(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], { cwd: one })
  const home = folder.file('home')
  const install = Bun.spawnSync(['sh', `${one}/install`], {
    env: {
      HOME: home,
      PATH: process.env['PATH'] ?? '',
      HOOKLINE_RELEASES: `file://${one}`,
      HOOKLINE_NO_UP: '1',
    },
  })

  const isImaged = made.stderr === ''
  expect([made.exitCode, check.exitCode]).toEqual([isImaged ? 0 : 1, 0])
  if (!isImaged) expect(made.stderr).toMatch(/^(Missing: the image for .*\n)+$/)
  const names = readdirSync(one).filter((name) => !name.endsWith('-oci.tar'))
  expect(names.sort()).toEqual(
    [
      'CHANGES.md',
      'LICENSES.txt',
      'SHA256SUMS',
      'SHA256SUMS.minisig',
      'SHA256SUMS.sig',
      `hookline-${VERSION}.cdx.json`,
      'hookline-darwin-arm64',
      'hookline-darwin-arm64.map',
      'hookline-linux-arm64',
      'hookline-linux-arm64.map',
      'hookline-linux-x64',
      'hookline-linux-x64.map',
      'hookline.rb',
      `hookline_${VERSION}_amd64.deb`,
      `hookline_${VERSION}_arm64.deb`,
      'install',
    ].sort(),
  )
  expect(readFileSync(`${two}/SHA256SUMS`, 'utf8')).toBe(sums)
  expect([install.stderr.toString(), install.exitCode]).toEqual(['', 0])
  expect(readFileSync(`${home}/.local/bin/hookline`, 'utf8')).toBe(STAND_IN)
  const installer = readFileSync(`${one}/install`, 'utf8')
  expect(installer).toContain(`\nown_releases='${RELEASES}/latest/download'\n`)
  expect(installer).toContain(`#   curl -fsSL ${RELEASES}/latest/download/install | sh\n`)
  // The formula names the address and the sum of each executable.
  const formula = readFileSync(`${one}/hookline.rb`, 'utf8')
  const published = [...formula.matchAll(/url "(.+)"\n +sha256 "(.+)"/g)].map(([, url, sum]) => {
    return `${sum}  ${url?.replace(`${RELEASES}/download/v${VERSION}/`, '')}`
  })
  expect(published.sort()).toEqual(
    sums
      .split('\n')
      .filter((line) => /hookline-(darwin|linux)-\w+$/.test(line))
      .sort(),
  )
}, 180_000)

test('each part of a release names the repository that publishes it, and a try without one names none', async () => {
  const order = { executable: Buffer.from(STAND_IN), documents: IMAGE.documents, seconds: 0 }
  const named = async (repository: string | null) => {
    const version = VERSION
    return [
      unpacked(deb({ ...order, version, repository, architecture: 'amd64' })),
      Buffer.from(imageArchive({ ...IMAGE, repository })).toString(),
      sbom({ version, repository, seconds: 0, inside: await packagesInside() }),
    ].map((text) => text.split(REPOSITORY).length - 1)
  }
  const tried = release(folder.file('tried'), '--unsigned', '--targets', 'linux-x64')

  expect(await named(REPOSITORY)).toEqual([1, 4, 1])
  expect(await named(null)).toEqual([0, 0, 0])
  expect(tried.stdout).toContain(`files of Hookline ${VERSION}`)
  expect(readdirSync(folder.file('tried'))).not.toContain('hookline.rb')
}, 180_000)

test('the guides of a release name its files, and those of a clone a place to fill in', async () => {
  const texts = async (plugins: Bun.BunPlugin[]) => {
    const entrypoints = [`${ROOT}/src/guides/guides.ts`]
    const { outputs } = await Bun.build({ entrypoints, target: 'bun', plugins })
    return (await outputs[0]?.text()) ?? ''
  }
  const install = 'curl -fsSL <releases>/install | sh'
  const source = 'hookline config set release_source <releases>'

  const [cloned, released] = [await texts([]), await texts([namedInGuides(REPOSITORY)])]

  for (const command of [install, source]) {
    expect(cloned).toContain(command)
    expect(released).toContain(command.replace('<releases>', `${RELEASES}/latest/download`))
  }
  expect(released).not.toContain('<releases>')
})

test('a target that cannot be made is named, and the release says that it is not whole', () => {
  const unknown = release(folder.file('none'), '--unsigned', '--targets', 'plan9-x64')
  const absent = release(folder.file('none'), '--unsigned', '--targets', 'darwin-arm64,darwin-x64')

  expect(unknown).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('plan9-x64 is not a target. One of: darwin-arm64'),
  })
  expect(absent.exitCode).toBe(1)
  expect(absent.stderr).toBe(`Missing: hookline-darwin-x64, which is not in ${BUILT}\n`)
  expect(readFileSync(folder.file('none/SHA256SUMS'), 'utf8')).toContain(
    '  hookline-darwin-arm64\n',
  )
}, 180_000)

test('a version of which the changelog says nothing is not released', async () => {
  const path = `${CHECKOUT}/src/guides/changelog.md`
  const text = readFileSync(path, 'utf8')
  await Bun.write(path, text.replaceAll(`## ${VERSION}\n`, '## 0.0.9\n'))

  const refused = release(folder.file('none'), '--unsigned')
  await Bun.write(path, text)

  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain(`says nothing of ${VERSION}. Add: ## ${VERSION}`)
}, 180_000)

type Component = {
  readonly 'bom-ref': string
  readonly type: string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
  readonly licenses: readonly object[]
}
type Bom = {
  readonly bomFormat: string
  readonly specVersion: string
  readonly version: number
  readonly metadata: { readonly timestamp: string; readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

test('the bill of materials keeps the rules of CycloneDX, and everything is reached from the product', async () => {
  const bom = await materials()
  const { component: product, timestamp } = bom.metadata
  const all = [product, ...bom.components]
  const refs = all.map((component) => component['bom-ref'])
  const edges = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const reached = new Set([product['bom-ref']])
  for (const ref of reached) for (const next of edges.get(ref) ?? []) reached.add(next)

  expect([bom.bomFormat, bom.specVersion, bom.version]).toEqual(['CycloneDX', '1.6', 1])
  expect(timestamp).toBe('2027-01-15T08:00:00Z')
  expect(new Set(refs).size).toBe(refs.length)
  expect([...edges.keys()].sort()).toEqual([...refs].sort())
  expect([...edges.values()].flat().filter((ref) => !refs.includes(ref))).toEqual([])
  expect(refs.filter((ref) => !reached.has(ref))).toEqual([])
  for (const { type, purl, version, hashes = [], licenses } of all) {
    expect(['application', 'library', 'platform']).toContain(type)
    expect(purl).toMatch(/^pkg:(npm|github|generic)\/[^@\s]+@[^@\s]+$/)
    expect(version).not.toBe('')
    expect(licenses.length).toBe(1)
    for (const { alg, content } of hashes) expect([alg, content.length]).toEqual(['SHA-512', 128])
  }
}, 180_000)

test('every package in the executable is in it and among the licences, and no tool of development is', async () => {
  const { components } = await materials()
  const titles = [...readLicenses().matchAll(/^-{80}\n(\S+ \S+) \(.+\)\n-{80}$/gm)].map(
    ([, it]) => it,
  )
  const packages = components.filter(({ purl }) => purl.startsWith('pkg:npm/'))
  const names = packages.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
  const map = readFileSync(`${builtExecutable()}.map`, 'utf8')
  const inMap = [...map.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\/(?!node_modules)/g)]

  expect(inMap.map(([, name]) => name).filter((name) => !names.includes(name ?? ''))).toEqual([])
  // They are embedded packed: the page, its parts, and the agents' protocol.
  for (const name of [
    'preact',
    '@preact/signals',
    'swagger-ui-dist',
    '@modelcontextprotocol/server',
  ]) {
    expect(names).toContain(name)
  }
  expect(
    packages
      .map(({ version }, at) => `${names[at]} ${version}`)
      .filter((it) => !titles.includes(it)),
  ).toEqual([])
  expect(names.filter((name) => ['typescript', 'oxlint', '@scarf/scarf'].includes(name))).toEqual(
    [],
  )
  const others = components.filter(({ purl }) => !purl.startsWith('pkg:npm/'))
  expect(others.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['bun', 'WebKit (JavaScriptCore)', 'BoringSSL', 'SQLite']),
  )
}, 180_000)

test('the image keeps the rules of its specification: types, digests, sizes and the sum of each layer', () => {
  const layout = imageLayout(IMAGE)
  const seen = new Set(['oci-layout', 'index.json'])
  const blob = ({ digest, size }: { readonly digest: string; readonly size: number }) => {
    const path = `blobs/${digest.replace(':', '/')}`
    const bytes = Buffer.from(layout.get(path) ?? '')
    seen.add(path)
    expect([`sha256:${sha256(bytes)}`, bytes.length]).toEqual([digest, size])
    return bytes
  }
  const json = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes ?? '').toString())
  const oci = (name: string) => `application/vnd.oci.image.${name}`

  expect(json(layout.get('oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' })
  const top = json(layout.get('index.json'))
  expect(top).toMatchObject({ schemaVersion: 2, mediaType: oci('index.v1+json') })
  expect(top.manifests[0].annotations).toEqual({
    'org.opencontainers.image.ref.name': VERSION,
    'io.containerd.image.name': `localhost/hookline:${VERSION}`,
  })
  const index = json(blob(top.manifests[0]))
  expect(index.manifests.map(({ platform }: { platform: unknown }) => platform)).toEqual([
    { os: 'linux', architecture: 'amd64' },
    { os: 'linux', architecture: 'arm64' },
  ])
  for (const descriptor of index.manifests) {
    const manifest = json(blob(descriptor))
    expect([manifest.schemaVersion, manifest.mediaType]).toEqual([2, descriptor.mediaType])
    expect(manifest.config.mediaType).toBe(oci('config.v1+json'))
    expect(manifest.layers[0].mediaType).toBe(oci('layer.v1.tar+gzip'))
    const config = json(blob(manifest.config))
    const layer = gunzipSync(blob(manifest.layers[0]))
    expect(config).toMatchObject({ os: 'linux', architecture: descriptor.platform.architecture })
    expect(config.config.Healthcheck.Test.slice(2)).toEqual(['status', '--or-fake', '4666'])
    expect(config.rootfs).toEqual({ type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] })
  }
  expect([...layout.keys()].sort()).toEqual([...seen].sort())
})

testNeeding('skopeo', Bun.which('skopeo') !== null)(
  'skopeo copies the image of each processor',
  async () => {
    const file = folder.file('image.tar')
    await Bun.write(file, imageArchive(IMAGE))

    for (const { architecture } of IMAGE.parts) {
      const from = ['--override-arch', architecture, 'copy', `oci-archive:${file}:${VERSION}`]
      const copy = Bun.spawnSync(['skopeo', ...from, `dir:${folder.file(architecture)}`])
      expect([copy.exitCode, copy.stderr.toString()]).toEqual([0, ''])
    }
  },
)

async function materials(): Promise<Bom> {
  const inside = await packagesInside()
  return JSON.parse(
    sbom({ version: VERSION, repository: REPOSITORY, seconds: 1_800_000_000, inside }),
  )
}

/** The texts of the archive of control files in a .deb. */
function unpacked(archive: Buffer): string {
  const start = archive.indexOf('control.tar.gz')
  const gzipped = archive.subarray(archive.indexOf(Buffer.from([0x1f, 0x8b]), start))
  return Buffer.from(
    gunzipSync(gzipped.subarray(0, Number(archive.toString('latin1', start + 48, start + 58)))),
  ).toString()
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}
