// Which folders are no place for a database: network file systems, and folders that a program copies
// to a cloud behind our back.

import { existsSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

export type Mount = { readonly point: string; readonly type: string }

/** Names of network file systems, as Linux and macOS write them. */
export const NETWORK_TYPES: ReadonlySet<string> = new Set([
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
export const NETWORK_MAGICS: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x564c, 0x00c36400, 0x73757245,
])

/** Folders in the home directory whose content goes to a cloud. */
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
/** Files that synchronising programs leave in the folder that they look after. */
const CLOUD_MARKS = ['.dropbox', '.dropbox.cache', '.stfolder', '.owncloudsync.log']
const ICLOUD_DRIVE = join('Library', 'Mobile Documents', 'com~apple~CloudDocs')

/** The mount that `path` lies on, by a table as /proc/mounts or macOS's `mount` tells it. */
export function mountOf(path: string, table: string): Mount | null {
  const mounts = table.split('\n').map(parseMount)
  const around = mounts.filter((mount) => mount !== null && isWithin(path, mount.point))
  return around.reduce(longer, null)
}

/** The folder around `path` that a cloud program looks after, or null. */
export function findCloudFolder(path: string, home: string): string | null {
  const known = CLOUD_FOLDERS.map((name) => join(home, name))
  // With "Desktop & Documents" in iCloud Drive, both lie there as well as in the home directory.
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
