// The bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): the packages that are in the
// executable, from `bun.lock`, and what Bun is made of, in the versions that it reports itself.

import { Database } from 'bun:sqlite'
import { existsSync, readFileSync } from 'node:fs'

import { unusedThemes } from './unused-themes.ts'

type LockInfo = {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}
/** `name@version`, address, what it needs, and its checksum. */
type Locked = readonly [id: string, resolved: string, info: LockInfo, integrity: string]
type Lock = {
  readonly workspaces: { readonly '': Required<Pick<LockInfo, 'dependencies'>> }
  readonly packages: Readonly<Record<string, Locked>>
}
type Component = Readonly<Record<string, unknown>> & { readonly 'bom-ref': string }
type Node = { readonly component: Component; readonly dependsOn: readonly string[] }

export type SbomOrder = {
  readonly version: string
  /** Address of the repository that publishes it, if one does. */
  readonly repository: string | null
  readonly seconds: number
  /** Folders below node_modules of which a file is in the executable. */
  readonly inside: ReadonlySet<string>
}

/** Folder of a package in the path of a file, below the outermost node_modules. */
const PACKAGE_FOLDER = /\bnode_modules\/((?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+)\//
const ROOT = `${import.meta.dir}/../..`
const BUN = `pkg:github/oven-sh/bun@bun-v${Bun.version}`

/** Parts of Bun by the name in `process.versions`: title, repository, licence. */
const PARTS_OF_BUN = {
  webkit: ['WebKit (JavaScriptCore)', 'oven-sh/WebKit', 'LGPL-2.0-only'],
  boringssl: ['BoringSSL', 'oven-sh/boringssl', 'OpenSSL AND ISC'],
  mimalloc: ['mimalloc', 'oven-sh/mimalloc', 'MIT'],
  libarchive: ['libarchive', 'libarchive/libarchive', 'BSD-2-Clause'],
  picohttpparser: ['picohttpparser', 'h2o/picohttpparser', 'MIT'],
  uwebsockets: ['uWebSockets', 'uNetworking/uWebSockets', 'Apache-2.0'],
  usockets: ['uSockets', 'uNetworking/uSockets', 'Apache-2.0'],
  zlib: ['zlib-ng', 'zlib-ng/zlib-ng', 'Zlib'],
  tinycc: ['TinyCC', 'oven-sh/tinycc', 'LGPL-2.1-only'],
  lolhtml: ['lol-html', 'cloudflare/lol-html', 'BSD-3-Clause'],
  ares: ['c-ares', 'c-ares/c-ares', 'MIT'],
  libdeflate: ['libdeflate', 'ebiggers/libdeflate', 'MIT'],
  lshpack: ['ls-hpack', 'litespeedtech/ls-hpack', 'MIT'],
  zstd: ['zstd', 'facebook/zstd', 'BSD-3-Clause'],
} as const

/** Packages of which a bundle of the sources has code, and the one whose files are embedded as they are. */
export async function packagesInside(): Promise<ReadonlySet<string>> {
  const entrypoints = [`${ROOT}/src/main.ts`, `${ROOT}/src/storage/backup-worker.ts`]
  const define = { 'process.env.NODE_ENV': '"production"' }
  const plugins = [unusedThemes]
  const { metafile } = await Bun.build({
    entrypoints,
    target: 'bun',
    metafile: true,
    define,
    plugins,
  })
  const outputs = Object.values(metafile?.outputs ?? {})
  const inputs = outputs.flatMap(({ inputs }) => Object.entries(inputs))
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  const folders = used.map(([path]) => PACKAGE_FOLDER.exec(path)?.[1] ?? [])
  return new Set([...folders.flat(), 'swagger-ui-dist'])
}

export function sbom({ version, repository, seconds, inside }: SbomOrder): string {
  const own = `pkg:generic/hookline@${version}`
  const lock = readLock()
  const nodes = packagesOf(lock.packages, inside)
  const wanted = Object.keys(lock.workspaces[''].dependencies)
  const direct = nodes
    .map(refOf)
    .filter((ref) => wanted.some((name) => ref.startsWith(`${purlOf(name)}@`)))
  const parts = partsOfBun()
  const all = [...nodes, { component: bun(), dependsOn: parts.map(refOf) }, ...parts]
  const product = {
    type: 'application',
    'bom-ref': own,
    name: 'hookline',
    version,
    purl: own,
    licenses: [{ license: { id: 'MIT' } }],
    ...(repository !== null && { externalReferences: [{ type: 'vcs', url: repository }] }),
  }
  const graph = [{ component: product, dependsOn: [...direct, BUN] }, ...all]
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`,
      lifecycles: [{ phase: 'build' }],
      component: product,
    },
    components: all.map(({ component }) => component),
    dependencies: graph.map(({ component, dependsOn }) => ({
      ref: component['bom-ref'],
      dependsOn: [...new Set(dependsOn)].sort(),
    })),
  }
  return `${JSON.stringify(bom, null, 2)}\n`
}

/** JSON with a comma behind the last of a list. */
function readLock(): Lock {
  const text = readFileSync(`${ROOT}/bun.lock`, 'utf8')
  return JSON.parse(text.replace(/,(\s*[}\]])/g, '$1')) as Lock // Bun's own format.
}

/** Packages that are inside, each with those inside that it needs. */
function packagesOf(packages: Lock['packages'], inside: ReadonlySet<string>): readonly Node[] {
  const isInside = (place: string | null) => place !== null && inside.has(folderOf(place))
  return Object.entries(packages)
    .filter(([place]) => isInside(place))
    .map(([place, [id, , { dependencies, peerDependencies }, integrity]]) => {
      const names = Object.keys({ ...dependencies, ...peerDependencies })
      const places = names.map((name) => placeOf(packages, place, name)).filter(isInside)
      const dependsOn = places.map((one) => purlOf(packages[one ?? '']?.[0] ?? ''))
      return { component: componentOf(place, id, integrity), dependsOn }
    })
}

/** Place of `name` as `from` finds it: its own folder first, then those above it. */
function placeOf(packages: Lock['packages'], from: string, name: string): string | null {
  for (let folder = from; folder !== ''; folder = folder.replace(/\/?(@[^/]+\/)?[^/]+$/, '')) {
    if (packages[`${folder}/${name}`] !== undefined) return `${folder}/${name}`
  }
  return packages[name] === undefined ? null : name
}

function componentOf(place: string, id: string, integrity: string): Component {
  const at = id.lastIndexOf('@')
  const names = id.slice(0, at).split('/')
  const file = `${ROOT}/node_modules/${folderOf(place)}/package.json`
  const license = existsSync(file) ? licenseOf(readFileSync(file, 'utf8')) : null
  const sum = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
  return {
    type: 'library',
    'bom-ref': purlOf(id),
    ...(names.length > 1 ? { group: names[0] } : {}),
    name: names.at(-1),
    version: id.slice(at + 1),
    purl: purlOf(id),
    hashes: [{ alg: 'SHA-512', content: sum }],
    ...(license === null ? {} : { licenses: [licenseChoice(license)] }),
  }
}

/** Folder below node_modules of a place in the lock: `a/b` is `a/node_modules/b`. */
function folderOf(place: string): string {
  return (place.match(/(@[^/]+\/)?[^/]+/g) ?? []).join('/node_modules/')
}

function licenseOf(manifest: string): string | null {
  const { license } = JSON.parse(manifest) as { readonly license?: unknown } // npm's own format.
  return typeof license === 'string' ? license : null
}

/** An id of SPDX, or an expression of several. */
function licenseChoice(license: string) {
  return license.includes(' ') ? { expression: license } : { license: { id: license } }
}

/** https://github.com/package-url/purl-spec: the sign of a scope is encoded. */
function purlOf(id: string): string {
  return `pkg:npm/${id.replace(/^@/, '%40')}`
}

function refOf({ component }: Node): string {
  return component['bom-ref']
}

function bun(): Component {
  return {
    type: 'platform',
    'bom-ref': BUN,
    name: 'bun',
    version: Bun.version,
    purl: BUN,
    licenses: [licenseChoice('MIT')],
  }
}

function partsOfBun(): readonly Node[] {
  const versions: Readonly<Record<string, string | undefined>> = process.versions
  const parts = Object.entries(PARTS_OF_BUN).flatMap(([key, [name, repository, license]]) => {
    const version = versions[key]
    if (version === undefined) return []
    return { name, version, purl: `pkg:github/${repository.toLowerCase()}@${version}`, license }
  })
  const memory = new Database(':memory:')
  const [[sqlite]] = memory.query('SELECT sqlite_version()').values() as [[string]]
  memory.close()
  const database = { name: 'SQLite', version: sqlite, purl: `pkg:generic/sqlite@${sqlite}` }
  return [...parts, { ...database, license: 'blessing' }].map(({ license, ...part }) => ({
    component: {
      type: 'library',
      'bom-ref': part.purl,
      ...part,
      licenses: [licenseChoice(license)],
    },
    dependsOn: [],
  }))
}
