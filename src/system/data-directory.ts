import { existsSync, mkdirSync, readlinkSync, statSync, statfsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { readTextOrNull } from './files.ts'

export type DataDirectory = Readonly<ReturnType<typeof dataDirectoryAt>>

export type Mount = { readonly point: string; readonly type: string }

/** The folder can't hold the data; the message says what to do. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
}

/** A Unix socket's path has at most 104 bytes on macOS, including the final NUL. */
const SOCKET_PATH_BYTES_MAX = 103

/** Network file systems, as Linux and macOS name them. */
const NETWORK_TYPES: ReadonlySet<string> = new Set([
  ...'nfs nfs4 cifs smb3 smbfs afs afpfs webdav ceph glusterfs lustre ncpfs macfuse'.split(' '),
  ...'fuse.sshfs fuse.rclone fuse.s3fs fuse.davfs fuse.glusterfs'.split(' '),
])

/** Network file systems by their numbers in Linux's statfs(2): NFS, SMB, CIFS, SMB2, AFS, NCP, Ceph, Coda. */
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
/** Paths of all files of a relay or a box. */
export function dataDirectoryAt(path: string) {
  return {
    path,
    database: join(path, 'hookline.db'),
    lock: join(path, 'hookline.lock'),
    simulatedDatabase: join(path, 'simulated.db'),
    controlSocket: join(path, 'control.sock'),
    secretKey: join(path, 'secret.key'),
    backups: join(path, 'backups'),
    attachments: join(path, 'attachments'),
    environmentFile: join(path, 'hookline.env'),
    /** Parts of a download of everything, while it runs. */
    outgoing: join(path, 'outgoing'),
    /** An uploaded backup, until it is restored. */
    incoming: join(path, 'incoming'),
    /** The facts that a box knows about its head. A data directory is a relay's or a box's, never both. */
    boxFile: join(path, 'box.json'),
    /** The journal of a box. */
    boxDatabase: join(path, 'box.db'),
    /** Boxes recognize their head by these: the authority of its broker, and its own key there. */
    brokerAuthority: join(path, 'broker-ca.pem'),
    brokerSeed: join(path, 'broker.seed'),
    /** The broker's own files, which are made again if they are missing. */
    broker: join(path, 'broker'),
  }
}

/** True if the data directory is a box's. */
export function isOfBox({ boxFile }: Pick<DataDirectory, 'boxFile'>): boolean {
  return existsSync(boxFile)
}

/** Throws if the data directory is a box's, in which no relay can run. */
export function refuseBox(directory: DataDirectory): void {
  if (!isOfBox(directory)) return
  throw new DataDirectoryError(
    `${directory.path} belongs to a box, which has no relay of its own. Run this on its head, or choose ` +
      'another folder with --data-dir.',
  )
}

/** The data directory if no option names another. */
export function defaultDataDirectory(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = environment['HOME'] ?? homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Hookline')
  const base = environment['XDG_DATA_HOME'] ?? ''
  return base.startsWith('/') ? join(base, 'hookline') : join(home, '.local', 'share', 'hookline')
}

/** Creates the folder if it is missing; refuses one that other users can read or that isn't on a local disk. */
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
    if (existsSync(path)) {
      throw new DataDirectoryError(`${path} is not a folder. Choose another with --data-dir.`)
    }
    const why = error instanceof Error ? error.message : String(error)
    throw new DataDirectoryError(`Cannot create ${path}: ${why}`)
  }
}

/** Refuses a symbolic link: if it were changed, a running relay would get other files. */
function refuseLink(path: string): void {
  let target: string
  try {
    target = readlinkSync(path)
  } catch {
    return // Not a link.
  }
  const folder = resolve(dirname(path), target)
  throw new DataDirectoryError(`${path} is a symbolic link: name its folder, --data-dir ${folder}`)
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

/** Refuses cloud folders and network disks: SQLite's locks and write order are reliable only on a local disk. */
function refuseElsewhere(path: string): void {
  const cloud = findCloudFolder(path, homedir())
  if (cloud !== null) {
    throw new DataDirectoryError(
      `${path} is inside ${cloud}, which syncs to a cloud: that damages a database. ` +
        'Choose a local folder with --data-dir.',
    )
  }
  let existing = path
  while (!existsSync(existing)) existing = dirname(existing)
  const type = mountOf(existing, mountTable())?.type ?? ''
  const isNetwork = NETWORK_TYPES.has(type) || NETWORK_MAGICS.has(statfsSync(existing).type >>> 0)
  if (!isNetwork) return
  throw new DataDirectoryError(
    `${path} is on a network file system${type === '' ? '' : ` (${type})`}: that damages a ` +
      'database. Choose a local folder with --data-dir.',
  )
}

function mountTable(): string {
  if (process.platform !== 'darwin') return readTextOrNull('/proc/self/mounts') ?? ''
  return Bun.spawnSync(['/sbin/mount'], { timeout: 2_000 }).stdout.toString()
}

/** The mount of `path` in the output of /proc/mounts, or of macOS's `mount`. */
export function mountOf(path: string, table: string): Mount | null {
  const mounts = table.split('\n').map(parseMount)
  const around = mounts.filter((mount) => mount !== null && isWithin(path, mount.point))
  return around.reduce(longer, null)
}

/** The folder around `path` that syncs to a cloud, if any. */
export function findCloudFolder(path: string, home: string): string | null {
  const known = CLOUD_FOLDERS.map((name) => join(home, name))
  // With "Desktop & Documents" in iCloud Drive, both exist there as well as in the home directory.
  for (const name of ['Desktop', 'Documents']) {
    const inCloud = join(home, 'Library', 'Mobile Documents', 'com~apple~CloudDocs', name)
    if (existsSync(inCloud)) known.push(join(home, name))
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
