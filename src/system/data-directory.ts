import { existsSync, mkdirSync, readlinkSync, statSync, statfsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { readTextOrNull } from './files.ts'

/** Paths of all files of the relay. */
export type DataDirectory = {
  readonly path: string
  readonly database: string
  readonly lock: string
  readonly simulatedDatabase: string
  readonly controlSocket: string
  readonly secretKey: string
  /** Files of go-ios: an identity of this computer, and images of Apple. */
  readonly goIos: string
  readonly backups: string
  /** Files that travel with messages. */
  readonly attachments: string
  readonly environmentFile: string
  /** Parts of a download of everything, while it runs. */
  readonly outgoing: string
  /** An uploaded backup, until it is restored. */
  readonly incoming: string
  /** The facts of a box about its head; a data directory is a relay's or a box's, never both. */
  readonly boxFile: string
  /** The journal of a box. */
  readonly boxDatabase: string
  /** What boxes know their head by: the authority of its broker, and its own key there. */
  readonly brokerAuthority: string
  readonly brokerSeed: string
  /** The broker's own files, which are made again where they are missing. */
  readonly broker: string
}

export type Mount = { readonly point: string; readonly type: string }

/** The folder cannot hold the data; the message says what to do. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
}

/** A Unix socket's path has at most 104 bytes on macOS, its end included. */
const SOCKET_PATH_BYTES_MAX = 103

/** Names of network file systems, as Linux and macOS write them. */
const NETWORK_TYPES: ReadonlySet<string> = new Set([
  'nfs',
  'nfs4',
  'cifs',
  'smb3',
  'smbfs',
  'afs',
  'afpfs',
  'webdav',
  'ceph',
  'glusterfs',
  'lustre',
  'ncpfs',
  'fuse.sshfs',
  'fuse.rclone',
  'fuse.s3fs',
  'fuse.davfs',
  'fuse.glusterfs',
  'macfuse',
])

/** The same, as statfs(2) of Linux numbers them: NFS, SMB, CIFS, SMB2, AFS, NCP, Ceph, Coda. */
const NETWORK_MAGICS: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x564c, 0x00c36400, 0x73757245,
])

/** Folders in the home directory that sync to a cloud. */
const CLOUD_FOLDERS = [
  'Dropbox',
  'OneDrive',
  'Google Drive',
  'Nextcloud',
  'ownCloud',
  'pCloudDrive',
  'Sync',
  join('Library', 'CloudStorage'),
  join('Library', 'Mobile Documents'),
]
/** Files that sync programs leave in their folders. */
const CLOUD_MARKS = ['.dropbox', '.dropbox.cache', '.stfolder', '.owncloudsync.log']
const ICLOUD_DRIVE = join('Library', 'Mobile Documents', 'com~apple~CloudDocs')

export function dataDirectoryAt(path: string): DataDirectory {
  return {
    path,
    database: join(path, 'hookline.db'),
    lock: join(path, 'hookline.lock'),
    simulatedDatabase: join(path, 'simulated.db'),
    controlSocket: join(path, 'control.sock'),
    secretKey: join(path, 'secret.key'),
    goIos: join(path, 'go-ios'),
    backups: join(path, 'backups'),
    attachments: join(path, 'attachments'),
    environmentFile: join(path, 'hookline.env'),
    outgoing: join(path, 'outgoing'),
    incoming: join(path, 'incoming'),
    boxFile: join(path, 'box.json'),
    boxDatabase: join(path, 'box.db'),
    brokerAuthority: join(path, 'broker-ca.pem'),
    brokerSeed: join(path, 'broker.seed'),
    broker: join(path, 'broker'),
  }
}

/** True for the data directory of a box. */
export function isOfBox({ boxFile }: Pick<DataDirectory, 'boxFile'>): boolean {
  return existsSync(boxFile)
}

/** Throws for the data directory of a box, in which a relay would have no place. */
export function refuseBox(directory: DataDirectory): void {
  if (!isOfBox(directory)) return
  throw new DataDirectoryError(
    `${directory.path} belongs to a box, which has no relay of its own. Run this on its head, or choose ` +
      'another folder with --data-dir.',
  )
}

/** Data directory where no option names another. */
export function defaultDataDirectory(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = environment['HOME'] ?? homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Hookline')
  const base = environment['XDG_DATA_HOME'] ?? ''
  return base.startsWith('/') ? join(base, 'hookline') : join(home, '.local', 'share', 'hookline')
}

/** Creates the folder where it is missing; refuses one that other users can read, or that is not local. */
export function openDataDirectory(path: string): DataDirectory {
  const directory = dataDirectoryAt(path)
  if (Buffer.byteLength(directory.controlSocket) > SOCKET_PATH_BYTES_MAX) {
    throw new DataDirectoryError(
      `${path} is too long: the limit is ${SOCKET_PATH_BYTES_MAX - 13} bytes, because the folder holds a ` +
        'socket. Choose another folder with --data-dir.',
    )
  }
  refuseLink(path)
  refuseElsewhere(path)
  makeFolder(path)
  requirePrivate(path)
  makeFolder(directory.backups)
  return directory
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (existsSync(path)) throw noFolder(path)
    const why = error instanceof Error ? error.message : String(error)
    throw new DataDirectoryError(`Cannot create ${path}: ${why}`)
  }
}

/** A link that is set to another folder would give a running relay other files. */
function refuseLink(path: string): void {
  let target: string
  try {
    target = readlinkSync(path)
  } catch {
    return // It is no link.
  }
  const folder = resolve(dirname(path), target)
  throw new DataDirectoryError(`${path} is a symbolic link: name its folder, --data-dir ${folder}`)
}

function noFolder(path: string): DataDirectoryError {
  return new DataDirectoryError(`${path} is not a folder. Choose another with --data-dir.`)
}

function requirePrivate(path: string): void {
  const stats = statSync(path)
  const user = process.getuid?.() ?? stats.uid
  if (stats.uid !== user) {
    throw new DataDirectoryError(
      `${path} belongs to another user. Run Hookline as that user, or run: sudo chown -R ${user} '${path}'`,
    )
  }
  if ((stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0')
    throw new DataDirectoryError(
      `${path} has mode ${mode}: other users could read messages and keys. Run: chmod 700 '${path}'`,
    )
  }
}

/** Locks and write order of SQLite are reliable on a local disk only. */
function refuseElsewhere(path: string): void {
  const cloud = findCloudFolder(path, homedir())
  if (cloud !== null) {
    throw new DataDirectoryError(
      `${path} is inside ${cloud}, which syncs to a cloud: that damages a database. ` +
        'Choose a local folder with --data-dir.',
    )
  }
  const existing = nearestExisting(path)
  const type = mountOf(existing, mountTable())?.type ?? ''
  const isNetwork = NETWORK_TYPES.has(type) || NETWORK_MAGICS.has(statfsSync(existing).type >>> 0)
  if (!isNetwork) return
  throw new DataDirectoryError(
    `${path} is on a network file system${type === '' ? '' : ` (${type})`}: that damages a ` +
      'database. Choose a local folder with --data-dir.',
  )
}

function nearestExisting(path: string): string {
  let folder = path
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

function mountTable(): string {
  if (process.platform !== 'darwin') return readTextOrNull('/proc/self/mounts') ?? ''
  return Bun.spawnSync(['/sbin/mount'], { timeout: 2_000 }).stdout.toString()
}

/** Mount of `path` in a table of /proc/mounts, or of macOS's `mount`. */
export function mountOf(path: string, table: string): Mount | null {
  const mounts = table.split('\n').map(parseMount)
  const around = mounts.filter((mount) => mount !== null && isWithin(path, mount.point))
  return around.reduce(longer, null)
}

/** Folder around `path` that syncs to a cloud, or null. */
export function findCloudFolder(path: string, home: string): string | null {
  const known = CLOUD_FOLDERS.map((name) => join(home, name))
  // With "Desktop & Documents" in iCloud Drive, both are there as well as in the home directory.
  for (const name of ['Desktop', 'Documents']) {
    if (existsSync(join(home, ICLOUD_DRIVE, name))) known.push(join(home, name))
  }
  const found = known.find((folder) => isWithin(path, folder))
  if (found !== undefined) return found
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if (CLOUD_MARKS.some((mark) => existsSync(join(folder, mark)) && folder !== home)) return folder
  }
  return null
}

function longer(best: Mount | null, mount: Mount | null): Mount | null {
  return (mount?.point.length ?? 0) >= (best?.point.length ?? 0) ? mount : best
}

/** `device point type options` on Linux, `device on point (type, options)` on macOS. */
function parseMount(line: string): Mount | null {
  const mac = /^.+ on (.+) \(([^,)]+)/.exec(line)
  if (mac !== null) return { point: mac[1] ?? '', type: mac[2] ?? '' }
  const [, point, type] = line.split(' ')
  if (point === undefined || type === undefined) return null
  return { point: point.replaceAll('\\040', ' '), type }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith('/'))
}
