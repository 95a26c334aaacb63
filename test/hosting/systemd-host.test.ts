import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { readInstallation } from '../../src/hosting/installation.ts'
import type { Machine } from '../../src/hosting/machine.ts'
import { SystemdHost, systemdUnit } from '../../src/hosting/systemd.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { NEVER, RecordingTools, type Answer } from './recording-tools.ts'

const SYSTEMCTL = ['/usr/bin/env', 'XDG_RUNTIME_DIR=/run/user/1000', '/usr/bin/systemctl', '--user']
const LINGER = ['/usr/bin/loginctl', 'enable-linger', '1000']

class Box implements Disposable {
  readonly folder = new ScratchFolder()
  readonly executable = this.folder.file('hookline')
  readonly unitPath = this.folder.file('.config/systemd/user/hookline.service')
  readonly packagedUnit = this.folder.file('packaged.service')
  readonly tools: RecordingTools
  readonly host: SystemdHost

  constructor(answer?: Answer, environment: Machine['environment'] = {}) {
    writeFileSync(this.executable, 'an executable')
    this.tools = new RecordingTools(answer)
    const machine = this.tools.machine({ home: this.folder.path, environment })
    this.host = new SystemdHost(machine, this.packagedUnit)
  }

  /** Into the folder of this test, which is not the default one. */
  install() {
    const { executable, folder } = this
    const order = { executable, dataDir: folder.path, version: '1.2.3', codesignIdentity: null }
    return this.host.install(order, NEVER)
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

test('an installation writes the unit, lets the user linger, and enables it', async () => {
  using box = new Box()

  const installed = await box.install()

  expect(installed).toEqual({ isChanged: true, warnings: [] })
  expect(box.tools.calls).toEqual([
    LINGER,
    [...SYSTEMCTL, 'daemon-reload'],
    [...SYSTEMCTL, 'enable', 'hookline.service'],
  ])
  const environment = {
    HOOKLINE_SERVICE: '1',
    HOOKLINE_EXPECTS_DATABASE: '1',
    HOOKLINE_DATA_DIR: box.folder.path,
  }
  expect(readFileSync(box.unitPath, 'utf8')).toBe(
    systemdUnit({ executable: box.executable, environment }),
  )
  expect(readInstallation(box.folder.path)).toEqual({
    source: {
      path: box.executable,
      sizeBytes: 13,
      modifiedMs: statSync(box.executable).mtimeMs,
      sha256: '166e52f5c1e9c396d56e03ed5f78524b6eb5286e43a17ac9c8191de294f0b83d',
    },
    version: '1.2.3',
    codesignIdentity: null,
  })
})

test('a second installation changes nothing, unless the executable is another or the data directory the default one', async () => {
  using box = new Box()
  await box.install()

  const same = await box.install()
  writeFileSync(box.executable, 'a new version')
  const newer = await box.install()
  const dataDir = box.folder.file('.local/share/hookline')
  await Bun.write(`${dataDir}/keep`, '')
  const { executable } = box
  await box.host.install({ executable, dataDir, version: '1', codesignIdentity: null }, NEVER)

  expect([same.isChanged, newer.isChanged]).toEqual([false, true])
  expect(readFileSync(box.unitPath, 'utf8')).not.toContain('HOOKLINE_DATA_DIR')
})

test('the unit of a package that says the same is enabled, in the place of one that was written before', async () => {
  using box = new Box()
  await box.install()
  const enabled = join(box.unitPath, '../default.target.wants/hookline.service')
  box.tools.taken()
  writeFileSync(box.packagedUnit, readFileSync(box.unitPath, 'utf8'))

  const installed = await box.install()
  const verbs = box.tools.calls.map((call) => call.slice(call[0] === '/usr/bin/env' ? 4 : 0))
  const before = await box.host.state(NEVER)
  await Bun.write(enabled, '')
  const after = await box.host.state(NEVER)
  await box.host.uninstall(box.folder.path, NEVER)

  expect(installed.isChanged).toBe(true)
  expect(verbs).toEqual([
    ['disable', 'hookline.service'],
    LINGER,
    ['daemon-reload'],
    ['enable', 'hookline.service'],
  ])
  expect(existsSync(box.unitPath)).toBe(false)
  expect([before.isInstalled, after.isInstalled]).toEqual([false, true])
  expect(box.tools.calls).toContainEqual([...SYSTEMCTL, 'disable', '--now', 'hookline.service'])
  expect(existsSync(box.packagedUnit)).toBe(true)
})

test('a user who may not linger learns how to', async () => {
  using box = new Box(([path]) => (path === '/usr/bin/loginctl' ? { exitCode: 1 } : undefined))

  const { warnings } = await box.install()

  expect(warnings).toEqual([
    'The relay runs only while you are logged in. To start it with the machine, run: ' +
      'sudo loginctl enable-linger ann',
  ])
})

test.each([
  [
    127,
    'No such file or directory',
    'this machine has no systemd. Run "hookline serve" under its own service manager, with ' +
      'HOOKLINE_SERVICE=1 in the environment.',
  ],
  [
    1,
    'Failed to connect to bus: No medium found\n',
    'Failed to connect to bus: No medium found (/usr/bin/systemctl ended with 1)',
  ],
])(
  'if systemctl ends with %d, the report says why, or what else to do',
  async (exitCode, stderr, why) => {
    using box = new Box(([path]) => (path === '/usr/bin/env' ? { exitCode, stderr } : undefined))

    await expect(box.install()).rejects.toThrow(`Cannot load the unit: ${why}`)
    await expect(box.host.start(NEVER)).rejects.toThrow(`Cannot start the service: ${why}`)
  },
)

test('where the session names its runtime folder, that one is asked', async () => {
  using box = new Box(undefined, { XDG_RUNTIME_DIR: '/run/elsewhere' })

  await box.host.start(NEVER)

  expect(box.tools.calls.map((words) => words.join(' '))).toEqual([
    '/usr/bin/env XDG_RUNTIME_DIR=/run/elsewhere /usr/bin/systemctl --user start hookline.service',
  ])
})

const STATES = [
  ['MainPID=4711\nActiveState=active\n', 'running', 4711],
  ['MainPID=0\nActiveState=activating\n', 'starting', null],
  ['MainPID=0\nActiveState=failed\n', 'stopped', null],
  ['MainPID=0\nActiveState=inactive\n', 'stopped', null],
  ['', 'stopped', null],
] as const

for (const [stdout, activity, pid] of STATES) {
  test(`systemd's ${JSON.stringify(stdout)} is ${activity}`, async () => {
    using box = new Box(() => ({ stdout }))

    const state = await box.host.state(NEVER)

    expect(state).toEqual({ isInstalled: false, activity, pid })
    expect(box.tools.calls).toEqual([
      [...SYSTEMCTL, 'show', 'hookline.service', '--property=ActiveState,MainPID'],
    ])
  })
}

test('where systemctl gives no answer nothing runs, and what is not installed is neither stopped nor removed', async () => {
  using box = new Box(() => ({ end: 'not_started', why: 'ENOENT' }))

  const state = await box.host.state(NEVER)
  box.tools.taken()
  await box.host.stop(NEVER)
  await box.host.uninstall(box.folder.path, NEVER)

  expect(state).toEqual({ isInstalled: false, activity: 'stopped', pid: null })
  expect(box.tools.calls).toEqual([])
})

test('what is removed is stopped first, and the record goes too', async () => {
  using box = new Box()
  await box.install()
  await box.host.start(NEVER)
  await box.host.stop(NEVER)
  box.tools.taken()

  await box.host.uninstall(box.folder.path, NEVER)

  expect(box.tools.calls).toEqual([
    [...SYSTEMCTL, 'disable', '--now', 'hookline.service'],
    [...SYSTEMCTL, 'daemon-reload'],
  ])
  expect(existsSync(box.unitPath)).toBe(false)
  expect(readInstallation(box.folder.path)).toBeNull()
})

test('a process beside the service is a unit of its own, once', async () => {
  using box = new Box()

  const order = { path: '/bin/new', args: ['upgrade'], output: '/tmp/out' }
  await box.host.startDetached(order, NEVER)
  box.tools.answer = () => ({
    exitCode: 1,
    stderr: 'Unit hookline-upgrade.service already exists.',
  })
  const second = box.host.startDetached(order, NEVER)

  expect(box.tools.calls[0]?.join(' ')).toBe(
    '/usr/bin/env XDG_RUNTIME_DIR=/run/user/1000 /usr/bin/systemd-run --user --collect --quiet ' +
      '--unit=hookline-upgrade.service --property=StandardOutput=file:/tmp/out ' +
      '--property=StandardError=inherit -- /bin/new upgrade',
  )
  await expect(second).rejects.toThrow('Cannot start the upgrade: Unit hookline-upgrade.service')
})
