import { expect, test } from 'bun:test'
import { utimesSync, writeFileSync } from 'node:fs'

import {
  HostChecks,
  readPower,
  powerFindings,
  type PowerFacts,
} from '../../src/hosting/host-checks.ts'
import { executableAt, writeInstallation } from '../../src/hosting/installation.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { NEVER, RecordingTools, type Answer } from './recording-tools.ts'

/** As a Mac mini and a MacBook report it. */
const MINI = `AC Power:
 Sleep On Power Button 1
 autorestart          0
 standby              0
 powernap             1
 disksleep            10
 sleep                1
 ttyskeepawake        1
 displaysleep         10
 tcpkeepalive         1
 womp                 1
`
const MACBOOK = `Battery Power:
 sleep                1
 lowpowermode         1
 displaysleep         2
AC Power:
 sleep                0
 displaysleep         10 (display sleep prevented by Safari)
 womp                 1
`
const NO_AUTO_LOGIN = {
  exitCode: 1,
  stderr: `2026-11-21 11:00:00.000 defaults[812:9021] 
The domain/default pair of (/Library/Preferences/com.apple.loginwindow, autoLoginUser) does not exist
`,
}

function mac(user: object, fileVault: object, power: object): Answer {
  return ([path]) => {
    if (path === '/usr/bin/defaults') return user
    return path === '/usr/bin/fdesetup' ? fileVault : power
  }
}

test('a Mac is asked by three tools, none of which changes anything', async () => {
  const tools = new RecordingTools()

  await readPower(tools.run, NEVER)

  expect(tools.calls).toEqual([
    ['/usr/bin/defaults', 'read', '/Library/Preferences/com.apple.loginwindow', 'autoLoginUser'],
    ['/usr/bin/fdesetup', 'status'],
    ['/usr/bin/pmset', '-g', 'custom'],
  ])
})

const OFF = { stdout: 'FileVault is Off.\n' }
const ON = { stdout: 'FileVault is On.\n' }
const BUSY = { stdout: 'FileVault is On.\nEncryption in progress: Percent completed = 8\n' }
const SILENT = { end: 'not_started', why: 'ENOENT' } as const
const FACTS: readonly (readonly [string, Answer, PowerFacts])[] = [
  [
    'a Mac mini as it comes',
    mac(NO_AUTO_LOGIN, OFF, { stdout: MINI }),
    { autoLogin: 'nobody', isFileVaultOn: false, sleepMinutes: 1, restartsItself: false },
  ],
  [
    'a MacBook on mains, set up',
    mac({ stdout: 'ann\n' }, BUSY, { stdout: MACBOOK }),
    { autoLogin: { user: 'ann' }, isFileVaultOn: true, sleepMinutes: 0, restartsItself: null },
  ],
  [
    'a Mac mini that restarts',
    mac({ stdout: 'ann\n' }, ON, { stdout: MINI.replace(/(autorestart +)0/, '$11') }),
    { autoLogin: { user: 'ann' }, isFileVaultOn: true, sleepMinutes: 1, restartsItself: true },
  ],
  [
    'a Mac that says nothing',
    mac(SILENT, SILENT, SILENT),
    { autoLogin: null, isFileVaultOn: null, sleepMinutes: null, restartsItself: null },
  ],
  [
    'a Mac that says something else',
    mac(
      { exitCode: 1, stderr: 'no access' },
      { stdout: 'Error' },
      { stdout: 'Battery Power:\n sleep 1\n' },
    ),
    { autoLogin: null, isFileVaultOn: null, sleepMinutes: null, restartsItself: null },
  ],
]

for (const [name, answer, facts] of FACTS) {
  test(`${name} is understood`, async () => {
    expect(await readPower(new RecordingTools(answer).run, NEVER)).toEqual(facts)
  })
}

const WELL: PowerFacts = {
  autoLogin: { user: 'ann' },
  isFileVaultOn: false,
  sleepMinutes: 0,
  restartsItself: true,
}
const FINDINGS: readonly (readonly [Partial<PowerFacts>, (string | null)[][]])[] = [
  [{}, []],
  [{ autoLogin: null, isFileVaultOn: null, sleepMinutes: null, restartsItself: null }, []],
  [{ isFileVaultOn: true }, [['filevault_on', 'warning', null]]],
  [{ autoLogin: 'nobody' }, [['auto_login_off', 'warning', null]]],
  [{ autoLogin: { user: 'bob' } }, [['auto_login_off', 'warning', null]]],
  [
    { isFileVaultOn: true, autoLogin: 'nobody' },
    [
      ['filevault_on', 'warning', null],
      ['auto_login_off', 'warning', 'filevault_on'],
    ],
  ],
  [{ restartsItself: false }, [['autorestart_off', 'warning', null]]],
  [{ sleepMinutes: 15 }, [['sleep_enabled', 'warning', null]]],
]

for (const [facts, expected] of FINDINGS) {
  test(`of ${JSON.stringify(facts)} follows ${JSON.stringify(expected)}`, () => {
    const findings = powerFindings({ ...WELL, ...facts }, 'ann')

    expect(findings.map((one) => [one.code, one.severity, one.depends_on])).toEqual(expected)
    expect(findings.filter(({ key }) => key !== null)).toEqual([])
  })
}

class Box implements Disposable {
  readonly folder = new ScratchFolder()
  readonly clock = new TestClock()
  readonly executable = this.folder.file('hookline')
  readonly tools: RecordingTools

  /** Without answers the machine says nothing of itself. */
  constructor(answer: Answer = () => SILENT) {
    writeFileSync(this.executable, 'version one')
    this.tools = new RecordingTools(answer)
  }

  checks(platform = 'linux', executable: string | null = this.executable): HostChecks {
    const machine = this.tools.machine({ clock: this.clock, platform })
    return new HostChecks(machine, { executable, dataDir: this.folder.path })
  }

  async install(): Promise<void> {
    const source = await executableAt(this.executable)
    writeInstallation(this.folder.path, { source, version: '1', codesignIdentity: null })
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

test('the machine is asked every ten minutes at most, however many want to know', async () => {
  using box = new Box(mac(NO_AUTO_LOGIN, OFF, { stdout: MINI }))
  const checks = box.checks('darwin')

  const [first, second] = await Promise.all([checks.findings(NEVER), checks.findings(NEVER)])
  await box.clock.advance(599_999)
  await checks.findings(NEVER)
  const early = box.tools.taken().length
  await box.clock.advance(1)
  await checks.findings(NEVER)

  expect(first?.map(({ code }) => code)).toEqual([
    'auto_login_off',
    'autorestart_off',
    'sleep_enabled',
  ])
  expect(second).toEqual(first ?? [])
  expect([early, box.tools.taken().length]).toEqual([3, 3])
})

test('what was interrupted is asked again', async () => {
  using box = new Box(mac(NO_AUTO_LOGIN, OFF, { stdout: MINI }))
  const checks = box.checks('darwin')

  const interrupted = await checks.findings(AbortSignal.abort())
  const after = await checks.findings(NEVER)

  expect([interrupted.length, after.length]).toEqual([0, 3])
})

const LINGERS = [
  ['Linger=no\n', ['linger_off']],
  ['Linger=yes\n', []],
  ['', []],
] as const

for (const [stdout, codes] of LINGERS) {
  test(`on Linux ${JSON.stringify(stdout)} gives ${JSON.stringify(codes)}`, async () => {
    using box = new Box(() => ({ stdout }))

    const findings = await box.checks().findings(NEVER)

    expect(findings.map(({ code }) => code)).toEqual([...codes])
    expect(box.tools.calls).toEqual([
      ['/usr/bin/loginctl', 'show-user', '1000', '--property=Linger'],
    ])
  })
}

test.each(['linux', 'darwin'])(
  'on %s an executable that was replaced while the relay runs is reported; the same bytes with another date are the same',
  async (platform) => {
    using box = new Box()
    await box.install()
    const checks = box.checks(platform)

    const before = await checks.findings(NEVER)
    utimesSync(box.executable, 1_600_000_000, 1_600_000_000)
    const same = await checks.findings(NEVER)
    writeFileSync(box.executable, 'version 2.0')
    utimesSync(box.executable, 1_700_000_000, 1_700_000_000)
    const after = await checks.findings(NEVER)

    expect([before, same]).toEqual([[], []])
    expect(after).toEqual([
      {
        code: 'executable_changed',
        severity: 'info',
        title: 'Another version of Hookline is ready to start',
        why: `${box.executable} has changed since the relay was started from it. The previous version is still running.`,
        fix: 'Run: hookline up',
        key: null,
        depends_on: null,
      },
    ])
  },
)

test('a relay that was started after the executable was replaced is the new one, but for a Mac, where the bundle runs', async () => {
  using box = new Box()
  await box.install()
  writeFileSync(box.executable, 'version two!')
  utimesSync(box.executable, 1_700_000_000, 1_700_000_000)

  const onMac = await box.checks('darwin').findings(NEVER)

  expect(await box.checks().findings(NEVER)).toEqual([])
  expect(onMac.map(({ code }) => code)).toEqual(['executable_changed'])
})

test('nothing is said of an executable that is gone, or that was never installed', async () => {
  using box = new Box()
  const never = box.checks('darwin')
  await box.install()
  const gone = box.checks('darwin', null)
  box.folder[Symbol.dispose]()

  expect([await never.findings(NEVER), await gone.findings(NEVER)]).toEqual([[], []])
})
