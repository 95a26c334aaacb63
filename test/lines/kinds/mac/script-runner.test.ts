import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import type { ScriptCall } from '../../../../src/api/owner.ts'
import {
  MessagesScript,
  type AccountAnswer,
  type ScriptAnswer,
  type Target,
  classOf,
  isNotCompiled,
  lastNumber,
} from '../../../../src/lines/kinds/mac/script-runner.ts'
import { NEVER, systemClock, type Clock } from '../../../../src/system/clock.ts'
import {
  processRunner,
  type ProcessEnd,
  type ProcessOrder,
  type RunProcess,
} from '../../../../src/system/process.ts'
import { eventually } from '../../../support/eventually.ts'
import { StandIn } from '../../../support/mac/stand-ins/stand-in.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { TestClock } from '../../../support/test-clock.ts'

const CHAT: Target = { by: 'chat', guid: 'iMessage;-;+12025550123' }
const PERSON: Target = { by: 'participant', handle: '+12025550123' }
const DONE = 'printf "done\\t0\\t\\n"'

const STATES = {
  'enabled,connected': { isEnabled: true, isConnected: true },
  'enabled,disconnected': { isEnabled: true, isConnected: false },
  'disabled,connected': { isEnabled: false, isConnected: true },
  'disabled,disconnected': { isEnabled: false, isConnected: false },
  'enabled,unknown': { isEnabled: true, isConnected: true },
  'unknown,disconnected': { isEnabled: true, isConnected: false },
  'unknown,unknown': { isEnabled: true, isConnected: true },
}

/** Every number of the table, and one that nobody knows. */
const NUMBERS = [
  -1743, -1744, -600, -609, -10810, -1712, -1728, -1719, -2753, -1700, -1708, -43, -10000, -10004,
  1002, -2740, -2741, -128, -2700, -31_337,
]

test('a stage that failed is reported with its number, whatever the number', async () => {
  for (const number of NUMBERS) {
    for (const stage of ['account', 'resolve', 'send'] as const) {
      const end = printed(`${stage}\t${number}\t\n`)
      const refused = { answer: 'refused', stage, number } as const
      const unreadable = { answer: 'silent', why: 'unreadable answer' } as const

      const answers = await inEachMode(end)

      expect(answers).toEqual({
        account: stage === 'account' ? refused : unreadable,
        check: stage === 'send' ? unreadable : refused,
        send: refused,
      })
    }
  }
})

test('all stages came through only where the script says so', async () => {
  const { check, send } = await inEachMode(printed('done\t0\t\n'))

  expect([check, send]).toEqual([{ answer: 'done' }, { answer: 'done' }])
})

test('the account that sends is reported, and what could not be read of it counts as well', async () => {
  const answers = await Promise.all(
    Object.keys(STATES).map((words) => scriptOn(printed(`account\t0\t${words}\n`)).account(NEVER)),
  )

  expect(answers).toEqual(
    Object.values(STATES).map((state) => ({ answer: 'account', state, accounts: [] })),
  )
})

const UNREADABLE = [
  '',
  '\n',
  'done',
  'done\t0',
  'done\t1\t\n',
  'send\t0\t\n',
  'resolve\t0\t\n',
  'account\t0\tconnected\n',
  'account\t0\tverbunden,aktiv\n',
  'account\t0\t\n',
  'sent\t0\t\n',
  'done\t0\t\ndone\t0\t\n',
  'warning\ndone\t0\t\n',
  'resolve\t-99999999999\t\n',
  'x'.repeat(65_536),
]

test('an answer that cannot be read may have acted', async () => {
  for (const stdout of UNREADABLE) {
    const answers = await inEachMode(printed(stdout))

    const silent = { answer: 'silent', why: 'unreadable answer' } as const
    expect([stdout.slice(0, 40), answers]).toEqual([
      stdout.slice(0, 40),
      { account: silent, check: silent, send: silent },
    ])
  }
})

test('a script that did not compile has sent nothing', async () => {
  for (const number of [-2740, -2741]) {
    const answers = await inEachMode(failed(1, `12:9: syntax error: … (${number})\n`))

    const notRun = { answer: 'not_run', number, why: `exit 1, number ${number}` } as const
    expect(answers).toEqual({ account: notRun, check: notRun, send: notRun })
  }
})

test('an error from outside the stages refuses a question, and leaves a send in doubt', async () => {
  const stderr =
    '94:99: execution error: Not authorised to send Apple events to Messages. (-1743)\n'

  const answers = await inEachMode(failed(1, stderr))

  const refused = { answer: 'refused', stage: 'account', number: -1743 } as const
  const silent = { answer: 'silent', why: 'exit 1, number -1743' } as const
  expect(answers).toEqual({ account: refused, check: refused, send: silent })
})

test('a failure without a number says nothing', async () => {
  const answers = await inEachMode(failed(64, 'osascript: illegal option -- z\n'))

  const silent = { answer: 'silent', why: 'exit 64, number unknown' } as const
  expect(answers).toEqual({ account: silent, check: silent, send: silent })
})

test('what failed with a line of success on its output is no success', async () => {
  const end = { end: 'exited', exitCode: 1, stdout: 'done\t0\t\n', stderr: '' } as const

  const { send } = await inEachMode(end)

  expect(send).toEqual({ answer: 'silent', why: 'exit 1, number unknown' })
})

test('an osascript that was killed may have acted, even with its answer on the output', async () => {
  for (const why of ['timeout', 'aborted', 'signal'] as const) {
    const answers = await inEachMode({ end: 'killed', why, stdout: 'done\t0\t\n', stderr: '' })

    const silent = { answer: 'silent', why: `killed: ${why}` } as const
    expect(answers).toEqual({ account: silent, check: silent, send: silent })
  }
})

test('an osascript that is not there has sent nothing', async () => {
  const script = new MessagesScript(
    { run: processRunner(systemClock), clock: systemClock },
    '/nowhere/osascript',
    () => {},
  )

  const answers = [await script.check(CHAT, NEVER), await script.send(CHAT, 'Hello', NEVER)]

  const notRun = { answer: 'not_run', number: null, why: 'not started: ENOENT' } as const
  expect(answers).toEqual([notRun, notRun])
})

test('an order that the script could not read has sent nothing', async () => {
  const answers = await inEachMode(printed('order\t-1708\t\n'))

  const notRun = { answer: 'not_run', number: -1708, why: 'order not read, number -1708' } as const
  expect(answers).toEqual({ account: notRun, check: notRun, send: notRun })
})

test('an osascript that hangs is ended after 35 s, and killed after 38 s', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const { osascript, script } = realScript(folder, clock)
  osascript.plays(`trap '' TERM; : > ${folder.file('ready')}; exec sleep 60`)
  let answer: ScriptAnswer | null = null
  const sending = script.send(PERSON, 'Hello', NEVER).then((value) => (answer = value))
  await eventually('it hangs', () => (existsSync(folder.file('ready')) ? true : null))

  await clock.advance(37_999)
  const early = answer
  await clock.advance(1)

  expect(early).toBeNull()
  expect(await sending).toEqual({ answer: 'silent', why: 'killed: timeout' })
})

test('a check can be aborted; a send has its 35 s, even if the caller leaves', async () => {
  const orders: ProcessOrder[] = []
  const signals: AbortSignal[] = []
  const run: RunProcess = async (order, signal) => {
    orders.push(order)
    signals.push(signal)
    return { end: 'killed', why: 'aborted', stdout: '', stderr: '' }
  }
  const script = new MessagesScript({ run, clock: systemClock }, '/usr/bin/osascript', () => {})
  const leaving = new AbortController()

  await script.account(leaving.signal)
  await script.check(CHAT, leaving.signal)
  await script.send(CHAT, 'Hello', NEVER)
  leaving.abort()

  expect(signals.map((signal) => signal.aborted)).toEqual([true, true, false])
  expect(orders.map(({ timeoutMs, killAfterMs }) => [timeoutMs, killAfterMs])).toEqual([
    [35_000, 38_000],
    [35_000, 38_000],
    [35_000, 38_000],
  ])
})

test('a check that hangs comes back when it is aborted', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder, new TestClock())
  osascript.plays('exec sleep 60')
  const leaving = new AbortController()
  const checking = script.check(CHAT, leaving.signal)

  leaving.abort()

  expect(await checking).toEqual({ answer: 'silent', why: 'killed: aborted' })
})

test('an osascript that prints a megabyte is no riddle', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder)
  osascript.plays(`head -c 1000000 /dev/zero | tr "\\0" x; ${DONE}`)

  const answer = await script.send(PERSON, 'Hello', NEVER)

  expect(answer).toEqual({ answer: 'silent', why: 'unreadable answer' })
})

type Answers = {
  readonly account: AccountAnswer
  readonly check: ScriptAnswer
  readonly send: ScriptAnswer
}

async function inEachMode(end: ProcessEnd): Promise<Answers> {
  const script = scriptOn(end)
  return {
    account: await script.account(NEVER),
    check: await script.check(CHAT, NEVER),
    send: await script.send(CHAT, 'Hello', NEVER),
  }
}

function scriptOn(end: ProcessEnd): MessagesScript {
  const run = async () => end
  return new MessagesScript({ run, clock: systemClock }, '/usr/bin/osascript', () => {})
}

function realScript(folder: ScratchFolder, clock: Clock = systemClock) {
  const osascript = new StandIn(folder, 'osascript')
  const run = processRunner(clock)
  return { osascript, script: new MessagesScript({ run, clock }, osascript.path, () => {}) }
}

function printed(stdout: string): ProcessEnd {
  return { end: 'exited', exitCode: 0, stdout, stderr: '' }
}

function failed(exitCode: number, stderr: string): ProcessEnd {
  return { end: 'exited', exitCode, stdout: '', stderr }
}

// Runs of the script as a trace may record them.

const DETAIL = 'enabled,unknown iMessage,disabled,connected «constant»,x SMS,enabled,unknown'

test('each run is reported with its stage and its time, without text and number', async () => {
  const clock = new TestClock()
  const calls: ScriptCall[] = []
  const run: RunProcess = async ({ input = '' }) => {
    await clock.sleep(120, NEVER)
    const stdout = input.includes('"account"') ? `account\t0\t${DETAIL}\n` : 'done\t0\t\n'
    return { end: 'exited', exitCode: 0, stdout, stderr: '' }
  }
  const onCall = (call: ScriptCall) => void calls.push(call)
  const script = new MessagesScript({ run, clock }, '/usr/bin/osascript', onCall)
  const at = clock.now()

  for (const ask of [
    () => script.account(NEVER),
    () => script.check({ by: 'chat', guid: 'iMessage;-;+12025550123' }, NEVER),
    () => script.send({ by: 'participant', handle: '+12025550123' }, 'private text', NEVER),
  ]) {
    const asked = ask()
    await clock.advance(120)
    await asked
  }

  const went = { stage: 'done', number: 0, ms: 120, accounts: [] }
  const found = { stage: 'account', number: 0, ms: 120 }
  const accounts = [
    { service: 'iMessage', enabled: 'disabled', connection: 'connected' },
    { service: 'SMS', enabled: 'enabled', connection: 'unknown' },
  ]
  expect(calls as unknown).toEqual([
    { at, mode: 'account', route: null, key_prefix: null, ...found, accounts },
    { at: at + 120, mode: 'check', route: 'chat', key_prefix: 'iMessage;-;', ...went },
    { at: at + 240, mode: 'send', route: 'participant', key_prefix: null, ...went },
  ])
})

test('every number that is known has its meaning, and any other is a failure', () => {
  const numbers = {
    permission: [-1743, -1744],
    not_running: [-600, -609, -10810],
    timeout: [-1712],
    not_found: [-1728],
    no_account: [-1719, -2753],
    vocabulary: [-1700, -1708, -2740, -2741],
    file: [-43],
    failed: [-128, -2700, -10000, -10004, 1002, -1, 0, 1743],
  }

  const misread = Object.entries(numbers).flatMap(([name, list]) =>
    list.filter((number) => classOf(number) !== name),
  )

  expect(misread).toEqual([])
})

test('two numbers alone say that a script did not compile', () => {
  const numbers = [-2740, -2741, -1743, -2753, -1700, 0, null]

  expect(numbers.map(isNotCompiled)).toEqual([true, true, false, false, false, false, false])
})

const LINES: readonly (readonly [language: string, stderr: string, number: number | null])[] = [
  [
    'American English',
    '11:52: execution error: Messages got an error: Can’t get chat id "iMessage;-;x". (-1728)\n',
    -1728,
  ],
  [
    'English with a straight apostrophe',
    "0:5: execution error: Messages got an error: Application isn't running. (-600)\n",
    -600,
  ],
  [
    'British English',
    '94:99: execution error: Not authorised to send Apple events to Messages. (-1743)\n',
    -1743,
  ],
  [
    'Japanese',
    '94:99: execution error: “メッセージ”でエラーが起きました: AppleEventがタイムアウトしました。 (-1712)\n',
    -1712,
  ],
  ['Japanese parentheses', '実行エラー：チャットを取り出せません。（-1728）\n', -1728],
  [
    'a minus sign',
    'Fehler bei der Ausführung: „account 1“ kann nicht gelesen werden. (−1719)\n',
    -1719,
  ],
  ['a positive number', 'execution error: Messages got an error: 1002 (1002)\n', 1002],
  ['numbers in the words', 'execution error: Can’t get chat id "(-1743) (5)". (-1728)\n', -1728],
  ['several lines', '2024 osascript[7:(9)] warning (-1)\n0:3: syntax error: … (-2741)\n', -2741],
  ['no number', 'osascript: OpenDefaultComponent() failed.\n', null],
  ['a number without parentheses', 'execution error: -1743\n', null],
  ['a number that is none', 'execution error (-) (99999999999) (1.5) (0x10)', null],
  ['nothing', '', null],
]

for (const [language, stderr, number] of LINES) {
  test(`the number is found in an error line: ${language}`, () => {
    expect(lastNumber(stderr)).toBe(number)
  })
}
