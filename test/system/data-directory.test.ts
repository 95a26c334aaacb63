import { expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import {
  DataDirectoryError,
  defaultDataDirectory,
  openDataDirectory,
  findCloudFolder,
  mountOf,
} from '../../src/system/data-directory.ts'
import { readOrMakeSecretKey, writeFileAtomically } from '../../src/system/files.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

test('a data directory is made for its owner only', () => {
  using folder = new ScratchFolder()

  const directory = openDataDirectory(folder.file('a/b'))

  expect(statSync(directory.path).mode & 0o777).toBe(0o700)
  expect(statSync(directory.backups).mode & 0o777).toBe(0o700)
})

test('a folder that others can read, a file, a link, a long path, and what a cloud syncs are refused', () => {
  using folder = new ScratchFolder()
  const [open, file] = [folder.file('open'), folder.file('file')]
  const [link, synced] = [folder.file('link'), folder.file('synced')]
  mkdirSync(open)
  chmodSync(open, 0o755)
  writeFileSync(file, '')
  mkdirSync(folder.file('real'), { mode: 0o700 })
  symlinkSync(folder.file('real'), link)
  mkdirSync(`${synced}/data`, { recursive: true })
  writeFileSync(`${synced}/.stfolder`, '')
  const refusals = {
    [open]: `${open} has mode 0755: other users could read messages and keys. Run: chmod 700 '${open}'`,
    [file]: 'is not a folder',
    [`${file}/below`]: 'Cannot create',
    [link]: `${link} is a symbolic link: name its folder, --data-dir ${folder.file('real')}`,
    [`/tmp/${'x'.repeat(100)}`]: 'is too long',
    [`${synced}/data/hookline`]: 'which syncs to a cloud',
  }

  for (const [path, why] of Object.entries(refusals)) {
    expect(() => openDataDirectory(path)).toThrow(DataDirectoryError)
    expect(() => openDataDirectory(path)).toThrow(why)
  }
  expect(existsSync(`${synced}/data/hookline`)).toBe(false)
})

test('cloud folders are known by name, the desktop only while iCloud has it', () => {
  using home = new ScratchFolder()
  const find = (path: string) => findCloudFolder(join(home.path, path), home.path)

  const before = find('Documents/hookline')
  mkdirSync(home.file('Library/Mobile Documents/com~apple~CloudDocs/Documents'), {
    recursive: true,
  })

  expect([before, find('Documents/hookline')]).toEqual([null, home.file('Documents')])
  expect(find('Dropbox/hookline')).toBe(home.file('Dropbox'))
  expect(find('Library/CloudStorage/OneDrive-Home/x')).toBe(home.file('Library/CloudStorage'))
  expect(find('Library/Application Support/Hookline')).toBeNull()
  expect(find('Dropboxes')).toBeNull()
})

test('the mount of a path is the one with the longest point around it', () => {
  const linux = [
    '/dev/vda / ext4 rw 0 0',
    'server:/srv /srv nfs4 rw 0 0',
    '/dev/vdb /srv/me/local\\040disk ext4 rw 0 0',
    'me@host: /mnt/ssh fuse.sshfs rw 0 0',
  ].join('\n')
  const mac = [
    '/dev/disk3s1s1 on / (apfs, sealed, local, read-only)',
    '//me@nas/share on /Volumes/My Share (smbfs, nodev, nosuid)',
  ].join('\n')

  const types = [
    mountOf('/var/lib/hookline', linux),
    mountOf('/srv/me/hookline', linux),
    mountOf('/srv/me/local disk/hookline', linux),
    mountOf('/srvless', linux),
    mountOf('/mnt/ssh/a', linux),
    mountOf('/Library/me', mac),
    mountOf('/Volumes/My Share/hookline', mac),
  ].map((mount) => mount?.type)

  expect(types).toEqual(['ext4', 'nfs4', 'ext4', 'ext4', 'fuse.sshfs', 'apfs', 'smbfs'])
})

test('where the data lie by default follows from the system', () => {
  const HOME = '/srv/me'

  expect([
    defaultDataDirectory({ HOME }, 'darwin'),
    defaultDataDirectory({ HOME }, 'linux'),
    defaultDataDirectory({ HOME, XDG_DATA_HOME: '/data' }, 'linux'),
    defaultDataDirectory({ HOME, XDG_DATA_HOME: 'relative' }, 'linux'),
  ]).toEqual([
    '/srv/me/Library/Application Support/Hookline',
    '/srv/me/.local/share/hookline',
    '/data/hookline',
    '/srv/me/.local/share/hookline',
  ])
})

test('the secret key is made once, for its owner only; one that was cut short is refused, not replaced', () => {
  using folder = new ScratchFolder()
  const path = folder.file('secret.key')

  const first = readOrMakeSecretKey(path, systemRandom)
  const second = readOrMakeSecretKey(path, systemRandom)
  const mode = statSync(path).mode & 0o777
  writeFileSync(path, 'short')
  const short = readOrMakeSecretKey(path, systemRandom)

  expect([first?.length, mode]).toEqual([32, 0o600])
  expect(second).toEqual(first)
  expect(short).toBeNull()
  expect(readFileSync(path, 'utf8')).toBe('short')
})

test('a file that is written atomically replaces the old one and leaves nothing beside it', () => {
  using folder = new ScratchFolder()
  const path = folder.file('a')
  writeFileAtomically(path, 'one')

  writeFileAtomically(path, 'two')

  expect([existsSync(`${path}.new`), statSync(path).mode & 0o777, statSync(path).size]).toEqual([
    false,
    0o600,
    3,
  ])
})
