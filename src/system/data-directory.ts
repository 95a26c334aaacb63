import { lstatSync, mkdirSync, statfsSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

import { readTextOrNull } from './files.ts'
import { findCloudFolder, mountOf, NETWORK_MAGICS, NETWORK_TYPES } from './mounts.ts'

/** The paths of everything that the relay keeps. */
export type DataDirectory = {
  readonly path: string
  readonly database: string
  readonly lock: string
  readonly simulatedDatabase: string
  readonly controlSocket: string
  readonly secretKey: string
  /** What go-ios keeps: an identity of this computer, and images of Apple. */
  readonly goIos: string
  readonly backups: string
  readonly environmentFile: string
}

/** The folder cannot hold the data: a person must mend it; the message says how. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
}

/** A Unix socket's path has at most 104 bytes on macOS, its end included. */
const SOCKET_PATH_BYTES_MAX = 103

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
    environmentFile: join(path, 'hookline.env'),
  }
}

/** Where the data lie when nobody says so. */
export function defaultDataDirectory(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = environment['HOME'] ?? homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Hookline')
  const base = environment['XDG_DATA_HOME'] ?? ''
  return base.startsWith('/') ? join(base, 'hookline') : join(home, '.local', 'share', 'hookline')
}

/** Makes the folder where it is missing, and refuses one that others can read or that is not local. */
export function openDataDirectory(path: string): DataDirectory {
  const directory = dataDirectoryAt(path)
  if (Buffer.byteLength(directory.controlSocket) > SOCKET_PATH_BYTES_MAX) {
    throw new DataDirectoryError(
      `${path} is too long: a path of at most ${SOCKET_PATH_BYTES_MAX - 13} bytes is needed, ` +
        'because a socket lies in it. Choose another by --data-dir.',
    )
  }
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
    throw new DataDirectoryError(`${path} cannot be made: ${String(error)}`, { cause: error })
  }
}

function requirePrivate(path: string): void {
  const stats = lstatSync(path)
  const user = process.getuid?.() ?? stats.uid
  if (stats.isSymbolicLink() || !stats.isDirectory()) {
    throw new DataDirectoryError(`${path} is not a folder. Choose another by --data-dir.`)
  }
  if (stats.uid !== user) {
    throw new DataDirectoryError(
      `${path} belongs to another user. Run Hookline as that user, or: sudo chown -R ${user} '${path}'`,
    )
  }
  if (isOpenToOthers(stats)) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0')
    throw new DataDirectoryError(
      `${path} has mode ${mode}: others could read messages and keys. Run: chmod 700 '${path}'`,
    )
  }
}

function isOpenToOthers(stats: Stats): boolean {
  return (stats.mode & 0o077) !== 0
}

/** SQLite's locks and the order of its writes hold on a local disk only. */
function refuseElsewhere(path: string): void {
  const cloud = findCloudFolder(path, homedir())
  if (cloud !== null) {
    throw new DataDirectoryError(
      `${path} lies in ${cloud}, which is synchronised to a cloud: that damages a database. ` +
        'Choose a local folder by --data-dir.',
    )
  }
  const existing = nearestExisting(path)
  const type = mountOf(existing, mountTable())?.type ?? ''
  const isNetwork = NETWORK_TYPES.has(type) || NETWORK_MAGICS.has(statfsSync(existing).type >>> 0)
  if (!isNetwork) return
  throw new DataDirectoryError(
    `${path} lies on a network file system${type === '' ? '' : ` (${type})`}: that damages a ` +
      'database. Choose a local folder by --data-dir.',
  )
}

function nearestExisting(path: string): string {
  let folder = path
  while (lstatSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder)
  return folder
}

function mountTable(): string {
  if (process.platform !== 'darwin') return readTextOrNull('/proc/self/mounts') ?? ''
  return Bun.spawnSync(['/sbin/mount'], { timeout: 2_000 }).stdout.toString()
}
