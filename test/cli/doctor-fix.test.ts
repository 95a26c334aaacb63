// `hookline doctor --fix`: what it repairs by itself, what it asks before, and what it leaves alone.

import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { takeInstanceLock } from '../../src/system/instance-lock.ts'
import { on } from '../support/command-line.ts'
import { hookline } from '../support/executable.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'
import { HostingRig } from './hosting-rig.ts'

const NO_RELAY = 3
const FIX = 'doctor --fix --yes'

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

/** A data directory as a careless `chmod -R` leaves it. */
function openFolder(): ScratchFolder {
  const folder = new ScratchFolder()
  mkdirSync(folder.file('backups'))
  for (const name of ['hookline.db', 'secret.key', 'backups/a.db']) {
    writeFileSync(folder.file(name), '', { mode: 0o644 })
    chmodSync(folder.file(name), 0o644)
  }
  chmodSync(folder.file('backups'), 0o755)
  chmodSync(folder.path, 0o755)
  return folder
}

test('a data directory that others can read is closed to them, with its files and backups', async () => {
  using folder = openFolder()

  const { exitCode, stdout } = await on(folder, FIX)

  expect(exitCode).toBe(NO_RELAY)
  expect(stdout).toBe(`fixed  Other users can read ${folder.path}.\n\n`)
  expect([folder.path, folder.file('backups')].map(modeOf)).toEqual([0o700, 0o700])
  const files = ['hookline.db', 'secret.key', 'backups/a.db'].map((name) => folder.file(name))
  expect(files.map(modeOf)).toEqual([0o600, 0o600, 0o600])
})

test('without a terminal it repairs nothing unless --yes is given, and says what it would do', async () => {
  using folder = openFolder()

  const { exitCode, stderr } = await hookline(['doctor', '--fix'], {
    HOOKLINE_DATA_DIR: folder.path,
  })

  expect(exitCode).toBe(2)
  expect(stderr).toContain(`Other users can read ${folder.path}. Repair: close it to them.`)
  expect(stderr).toContain('--fix asks before it repairs. Without a terminal, add --yes.')
  expect(modeOf(folder.path)).toBe(0o755)
})

test('a socket and a lock that a crash left are deleted, and what a process holds is not', async () => {
  using folder = new ScratchFolder()
  const [lock, socket] = [folder.file('hookline.lock'), folder.file('control.sock')]
  const fix = async () => JSON.parse((await on(folder, `${FIX} --json`)).stdout)
  writeFileSync(lock, 'garbage '.repeat(1_000), { mode: 0o600 })

  const garbage = await fix()
  // A socket without a listener, as a killed relay leaves it.
  const left = Bun.spawnSync([process.execPath, '-e', leaveSocketAt(socket)])
  const held = takeInstanceLock(lock, { since: 0, task: 'relay', address: null })
  const whileHeld = await fix()
  held.release()
  const stale = await fix()
  const clean = await fix()

  expect(garbage.repairs).toEqual([
    { problem: `${lock} is no lock file.`, act: 'delete it', error: null },
  ])
  expect(left.exitCode).not.toBe(0)
  expect(whileHeld.repairs).toEqual([])
  expect(stale.repairs).toEqual([
    {
      problem: `${socket} was left by a relay that no longer runs.`,
      act: 'delete it',
      error: null,
    },
  ])
  expect([clean.repairs, existsSync(socket)]).toEqual([[], false])
})

/** A program that listens on `socket` and kills itself. */
function leaveSocketAt(socket: string): string {
  return `Bun.serve({ unix: ${JSON.stringify(socket)}, fetch: () => new Response() }); process.kill(process.pid, 9)`
}

test('beside a relay the report follows, and only it decides the exit code', async () => {
  using folder = new ScratchFolder()
  chmodSync(folder.path, 0o750)
  using relay = new FakeRelay(folder.path, () => Response.json({ data: [] }))

  const { exitCode, stdout } = await on(folder, FIX)

  expect([exitCode, modeOf(folder.path)]).toEqual([0, 0o700])
  expect(stdout).toContain(`fixed  Other users can read ${folder.path}.\n`)
  expect(stdout).toEndWith('No issues. 0 lines online.\n')
  expect(existsSync(join(folder.path, 'control.sock'))).toBe(true)
  expect(relay.asked.length).toBeGreaterThan(0)
})

const INSTALLING = ['enable-linger', 'daemon-reload', 'enable']

test('a service that is stopped is started, one that is outdated is installed again', async () => {
  using rig = await HostingRig.withService()

  const well = await rig.run('doctor --fix --yes')
  const idle = rig.verbs()
  rig.endRelay()
  const stopped = await rig.run('doctor --fix --yes')
  const starting = rig.verbs()
  writeFileSync(join(rig.folder.path, '.config/systemd/user/hookline.service'), 'of long ago')
  const outdated = await rig.run('doctor --fix --yes')

  expect([well.lines[0], idle]).toEqual(['Nothing was repaired.', []])
  expect(stopped.lines[0]).toBe('fixed  The systemd user service is installed, and does not run.')
  expect(starting).toEqual([...INSTALLING, 'start'])
  expect(outdated.lines[0]).toBe(
    'fixed  The systemd user service is not as this version installs it.',
  )
  expect(rig.verbs()).toEqual([...INSTALLING, 'stop', 'start'])
})

test('a service of another executable, or one that was never installed, is left alone', async () => {
  using rig = new HostingRig()
  rig.startRelay()

  const never = await rig.run('doctor --fix --yes')

  expect(never.lines[0]).toBe('Nothing was repaired.')
  expect(rig.verbs()).toEqual([])
})

test('a repair that fails leaves the others done', async () => {
  using rig = await HostingRig.withService()
  rig.endRelay()
  rig.onStart = () => {
    throw new Error('No room for it.')
  }
  chmodSync(rig.dataDir, 0o755)

  const ended = rig.run('doctor --fix --yes').catch((error: unknown) => String(error))

  expect(await ended).toContain('NoRelayError')
  expect(modeOf(rig.dataDir)).toBe(0o700)
})
