// An image in OCI layout (https://github.com/opencontainers/image-spec): for each processor one layer with
// the executable, the C library that it is linked with, and an empty `/data`. It has no shell.

import { existsSync, readFileSync } from 'node:fs'

import { gzip, sha256, tar, type Entry } from './archives.ts'
import type { Documents } from './documents.ts'
import type { Packaged } from './targets.ts'

export type ImageOrder = {
  readonly version: string
  /** Address of the repository that publishes it, if one does. */
  readonly repository: string | null
  readonly documents: Documents
  /** Date of every file, in seconds since 1970. */
  readonly seconds: number
  /** Level of gzip. */
  readonly level?: number
  readonly parts: readonly ImagePart[]
}

export type ImagePart = {
  readonly architecture: Packaged
  readonly executable: Uint8Array
  readonly library: Library
}

/** Files of the C library. */
export type Library = { readonly release: string; readonly files: readonly Entry[] }

type Descriptor = {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}
/** Files of the layout by path. */
type Layout = Map<string, Uint8Array>

const OCI = 'application/vnd.oci.image'
const DATA = '/data'
const PORT = 4665
/** Of no account on a host; the user `nonroot` of distroless images. */
const USER = 65_532
const LIBRARY_FILES = ['libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2'] as const
/** Folder of libraries on Debian, and the dynamic linker as executables name it. */
const PLACES = {
  amd64: { triplet: 'x86_64-linux-gnu', linker: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', linker: 'lib/ld-linux-aarch64.so.1' },
} as const satisfies Record<Packaged, unknown>

/** Package of Debian and Ubuntu that brings the library for another processor. */
export const LIBRARY_PACKAGES = {
  amd64: 'libc6-amd64-cross',
  arm64: 'libc6-arm64-cross',
} as const satisfies Record<Packaged, string>

/** The C library of this machine, or the one for another processor; null if it is not installed. */
export function findLibrary(architecture: Packaged): Library | null {
  const { triplet, linker } = PLACES[architecture]
  const folder = [`/lib/${triplet}`, `/usr/${triplet}/lib`].find((path) =>
    existsSync(`${path}/libc.so.6`),
  )
  if (folder === undefined) return null
  const read = (name: string) => readFileSync(`${folder}/${name}`)
  const [main] = LIBRARY_FILES
  const release = /GNU C Library \((.+?)\)/.exec(read(main).toString('latin1'))?.[1] ?? 'unknown'
  const files = LIBRARY_FILES.map((name) => {
    return { path: `lib/${triplet}/${name}`, mode: 0o755, content: read(name) }
  })
  const start = { path: linker, mode: 0o755, content: read(linker.split('/').at(-1) ?? '') }
  return { release, files: [...files, start] }
}

/** The layout as a tar archive, for `skopeo`, `podman load` and `docker load`. */
export function imageArchive(order: ImageOrder): Buffer {
  const files = [...imageLayout(order)].map(([path, content]) => ({ path, mode: 0o644, content }))
  return tar(files, order)
}

export function imageLayout(order: ImageOrder): ReadonlyMap<string, Uint8Array> {
  const layout: Layout = new Map()
  const manifests = order.parts.map((part) => ({
    ...addImage(layout, order, part),
    platform: { os: 'linux', architecture: part.architecture },
  }))
  const index = { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests }
  const all = addJson(layout, index.mediaType, index)
  const annotations = {
    'org.opencontainers.image.ref.name': order.version,
    // The name in Docker and Podman after a load.
    'io.containerd.image.name': `localhost/hookline:${order.version}`,
  }
  const top = { ...index, manifests: [{ ...all, annotations }] }
  layout.set('index.json', Buffer.from(JSON.stringify(top)))
  layout.set('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' })))
  return layout
}

function addImage(layout: Layout, order: ImageOrder, part: ImagePart): Descriptor {
  const { version, repository, level, seconds } = order
  const files = tar(layerEntries(order, part), { seconds })
  const layer = addBlob(layout, `${OCI}.layer.v1.tar+gzip`, gzip(files, level))
  const created = `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`
  const labels = {
    'org.opencontainers.image.title': 'Hookline',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'MIT',
    ...(repository !== null && { 'org.opencontainers.image.source': repository }),
  }
  const config = {
    created,
    architecture: part.architecture,
    os: 'linux',
    config: { ...runConfig(), Labels: labels },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(files)}`] },
    history: [{ created, created_by: 'scripts/release.ts' }],
  }
  const mediaType = `${OCI}.manifest.v1+json`
  return addJson(layout, mediaType, {
    schemaVersion: 2,
    mediaType,
    config: addJson(layout, `${OCI}.config.v1+json`, config),
    layers: [layer],
    annotations: labels,
  })
}

function runConfig() {
  return {
    User: `${USER}:${USER}`,
    ExposedPorts: { [`${PORT}/tcp`]: {} },
    Env: [
      'PATH=/usr/bin',
      `HOME=${DATA}`,
      `HOOKLINE_DATA_DIR=${DATA}`,
      'HOOKLINE_HOST=0.0.0.0',
      'HOOKLINE_SERVICE=1',
    ],
    Entrypoint: ['/usr/bin/hookline'],
    Cmd: ['serve'],
    Volumes: { [DATA]: {} },
    WorkingDir: DATA,
    StopSignal: 'SIGTERM',
    // Docker's own field, which the specification reserves for it; times are in nanoseconds.
    // It looks each second until the container is healthy for the first time.
    Healthcheck: {
      Test: ['CMD', '/usr/bin/hookline', 'status', '--or-fake', '4666'],
      Interval: 30e9,
      Timeout: 20e9,
      StartPeriod: 60e9,
      StartInterval: 1e9,
    },
  }
}

function layerEntries({ documents }: ImageOrder, { executable, library }: ImagePart) {
  const own = `hookline:x:${USER}:`
  const licenses = `${documents.licenses}\nThis image contains the GNU C Library, ${library.release}, under the
GNU Lesser General Public License, version 2.1 (above). Its source: https://sources.debian.org/src/glibc/
`
  return [
    { path: 'usr/bin/hookline', mode: 0o755, content: executable },
    { path: 'usr/share/doc/hookline/copyright', mode: 0o644, content: licenses },
    { path: 'etc/passwd', mode: 0o644, content: `${own}${USER}:Hookline:${DATA}:/sbin/nologin\n` },
    { path: 'etc/group', mode: 0o644, content: `${own}\n` },
    { path: `${DATA.slice(1)}/`, mode: 0o700, owner: USER },
    { path: 'tmp/', mode: 0o1777 },
    ...library.files,
  ]
}

function addJson(layout: Layout, mediaType: string, value: unknown): Descriptor {
  return addBlob(layout, mediaType, Buffer.from(JSON.stringify(value)))
}

function addBlob(layout: Layout, mediaType: string, content: Uint8Array): Descriptor {
  const digest = sha256(content)
  layout.set(`blobs/sha256/${digest}`, content)
  return { mediaType, digest: `sha256:${digest}`, size: content.length }
}
