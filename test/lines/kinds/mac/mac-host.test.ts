import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'

import { macHost } from '../../../../src/lines/kinds/mac/mac-host.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import type { ProcessEnd, RunProcess } from '../../../../src/system/process.ts'

const NOT_THERE: ProcessEnd = { end: 'not_started', why: 'ENOENT' }
const HUNG: ProcessEnd = { end: 'killed', why: 'timeout', stdout: '501\n', stderr: '' }

const IOREG = [
  '+-o J274AP  <class IOPlatformExpertDevice, id 0x100000227, registered, matched, active>',
  '    {',
  '      "manufacturer" = <"Apple Inc.">',
  '      "IOPlatformSerialNumber" = "C07XXXXXXXXX"',
  '      "IOPlatformUUID" = "8E1A4B0C-5F6D-5E7A-9B8C-0D1E2F3A4B5C"',
  '    }',
].join('\n')

test('a Mac user is known by the UUID of the machine and the user id', async () => {
  const tools = recordingRun({ '/usr/sbin/ioreg': exited(0, IOREG) })
  const host = macHost({ run: tools.run, platform: 'darwin', uid: 501 })

  const keys = [await host.deviceKey(NEVER), await host.deviceKey(NEVER)]

  const key = '8E1A4B0C-5F6D-5E7A-9B8C-0D1E2F3A4B5C:501'
  expect(keys).toEqual([key, key])
  expect(tools.calls).toEqual([['/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice']])
})

test('a machine that could not say its UUID is asked again', async () => {
  const ends = [NOT_THERE, HUNG, exited(1, IOREG), exited(0, 'nothing'), exited(0, IOREG)]
  const run: RunProcess = async () => ends.shift() ?? NOT_THERE
  const host = macHost({ run, platform: 'darwin', uid: 502 })

  const keys: (string | null)[] = []
  for (let i = 0; i < 6; i += 1) keys.push(await host.deviceKey(NEVER))

  const key = '8E1A4B0C-5F6D-5E7A-9B8C-0D1E2F3A4B5C:502'
  expect(keys).toEqual([null, null, null, null, key, key])
})

test('elsewhere the machine is known by its machine-id, and a session is there', async () => {
  const tools = recordingRun({})
  const host = macHost({ run: tools.run, platform: 'linux', uid: 1000 })

  const answers = [await host.deviceKey(NEVER), await host.hasGuiSession(NEVER)]

  expect(answers).toEqual([`${machineName()}:1000`, true])
  expect(tools.calls).toEqual([])
})

test('the user at the console has a session', async () => {
  const tools = recordingRun({ '/usr/bin/stat': exited(0, '501\n') })
  const host = macHost({ run: tools.run, platform: 'darwin', uid: 501 })

  const hasSession = await host.hasGuiSession(NEVER)

  expect(hasSession).toBe(true)
  expect(tools.calls).toEqual([['/usr/bin/stat', '-f', '%u', '/dev/console']])
})

const SESSIONS: readonly (readonly [
  what: string,
  stat: ProcessEnd,
  launchctl: ProcessEnd,
  answer: boolean | null,
])[] = [
  ['a session in the background counts', exited(0, '502\n'), exited(0, 'gui/501 = {\n'), true],
  ['a user who is logged out has none', exited(0, '0\n'), exited(113, ''), false],
  ['a user id that is longer is another', exited(0, '5011\n'), exited(113, ''), false],
  ['a console that cannot be asked leaves the session', NOT_THERE, exited(0, ''), true],
  ['a console that hung is not believed', HUNG, exited(113, ''), false],
  ['a console that failed is not believed', exited(1, '501\n'), exited(113, ''), false],
  ['nobody could be asked', NOT_THERE, NOT_THERE, null],
  ['launchctl hung', exited(0, '0\n'), HUNG, null],
]

for (const [what, stat, launchctl, answer] of SESSIONS) {
  test(`whether there is a session: ${what}`, async () => {
    const tools = recordingRun({ '/usr/bin/stat': stat, '/bin/launchctl': launchctl })
    const host = macHost({ run: tools.run, platform: 'darwin', uid: 501 })

    const hasSession = await host.hasGuiSession(NEVER)

    expect(hasSession).toBe(answer)
    expect(tools.calls.at(-1)).toEqual(['/bin/launchctl', 'print', 'gui/501'])
  })
}

function exited(exitCode: number, stdout: string): ProcessEnd {
  return { end: 'exited', exitCode, stdout, stderr: '' }
}

function recordingRun(ends: Readonly<Record<string, ProcessEnd>>) {
  const calls: (readonly string[])[] = []
  const run: RunProcess = async ({ path, args }) => {
    calls.push([path, ...args])
    return ends[path] ?? NOT_THERE
  }
  return { calls, run }
}

function machineName(): string {
  const path = '/etc/machine-id'
  const id = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  return id === '' ? hostname() : id
}
