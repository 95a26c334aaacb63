// The Messages stand-in does what it says: else the tests that lean on it prove nothing. The answers of
// its script are held by the tests of the driver that reads them.

import { expect, test } from 'bun:test'

import type { Target } from '../../../../src/lines/kinds/mac/script-runner.ts'
import { MESSAGES_SCRIPT } from '../../../../src/lines/kinds/mac/script.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import type { FakeMacOptions } from '../../../support/mac/fake-mac.ts'
import { DELAYS, OTHER_PERSON, type Fate } from '../../../support/mac/messages-behaviours.ts'
import { makeModelRig, rowsOf, chatWithFriend } from '../../../support/mac/model-rig.ts'
import type { Behaviour } from '../../../support/mac/script-behaviours.ts'
import { FRIEND, OWN_NUMBER } from '../../../support/mac/trace-steps.ts'

const TO_FRIEND: Target = { by: 'participant', handle: FRIEND }
const A_MINUTE_MS = 60_000
const TEXT = 'see https://example.com'

const HAPPY = `${TEXT} -> ${FRIEND} in ${FRIEND}, iMessage, sent delivered read`
const UNSENT = `${TEXT} -> ${FRIEND} in ${FRIEND}, iMessage,`

/** What is in the database a minute later, and how often the network has carried the text. */
const FATES: Readonly<
  Record<Fate, { readonly rows: readonly string[]; readonly carried: number }>
> = {
  happy: { rows: [HAPPY], carried: 1 },
  failed22_at_once: { rows: [`${UNSENT} error 22`], carried: 0 },
  failed22_after_2s: { rows: [`${UNSENT} error 22`], carried: 0 },
  failed_then_clean_row: { rows: [`${UNSENT} error 22`, HAPPY], carried: 1 },
  fails_then_clears: { rows: [HAPPY], carried: 1 },
  downgraded_to_sms: { rows: [`${TEXT} -> ${FRIEND} in ${FRIEND}, SMS, sent`], carried: 1 },
  sms: { rows: [`${TEXT} -> ${FRIEND} in ${FRIEND}, SMS, sent`], carried: 1 },
  rcs: { rows: [HAPPY.replace('iMessage', 'RCS')], carried: 1 },
  ghost_row: { rows: [`null -> ${FRIEND} in null, SMS, unfinished`], carried: 0 },
  misrouted: { rows: [HAPPY.replaceAll(FRIEND, OTHER_PERSON)], carried: 1 },
  url_split_in_two_rows: {
    rows: [HAPPY.replace(TEXT, 'see'), HAPPY.replace(TEXT, 'https://example.com')],
    carried: 1,
  },
  join_3s_late: { rows: [HAPPY], carried: 1 },
  join_never: { rows: [HAPPY.replace(`in ${FRIEND}`, 'in null')], carried: 1 },
  row_5min_late: { rows: [], carried: 0 },
  failed25_after_2s: { rows: [`${UNSENT} error 25`], carried: 0 },
  no_row: { rows: [], carried: 0 },
  slow_sending: { rows: [HAPPY], carried: 1 },
  account_disabled: { rows: [`${UNSENT} error 30`], carried: 0 },
  stuck: { rows: [`${UNSENT} unfinished`], carried: 0 },
}

test.each(Object.entries(FATES))(
  'a send that ends as %s leaves its rows',
  async (name, expected) => {
    using mac = makeModelRig()
    mac.model.nextSend(name as Fate) // A key of FATES.

    const answer = mac.script.send(TO_FRIEND, TEXT)
    await mac.clock.advance(DELAYS.scriptMs)
    expect(await answer).toEqual({ answer: 'done' })
    await mac.clock.advance(A_MINUTE_MS)

    expect({ rows: rowsOf(mac.model), carried: mac.model.carried(TEXT) }).toEqual(expected)
  },
)

test('a row comes 26 ms after the script, then its chat, then its flags', async () => {
  using mac = makeModelRig()
  const answer = mac.script.send(TO_FRIEND, 'hello')
  await mac.clock.advance(DELAYS.scriptMs)
  await answer

  const seen: (readonly [ms: number, rows: readonly string[]])[] = []
  for (const [from, to] of [
    [0, 25],
    [25, 26],
    [26, 30],
    [30, 300],
    [300, 700],
    [700, 2_000],
  ] as const) {
    await mac.clock.advance(to - from)
    seen.push([to, rowsOf(mac.model)])
  }

  const row = `hello -> ${FRIEND} in`
  expect(seen).toEqual([
    [25, []],
    [26, [`${row} null, iMessage, unfinished`]],
    [30, [`${row} ${FRIEND}, iMessage, unfinished`]],
    [300, [`${row} ${FRIEND}, iMessage, sent`]],
    [700, [`${row} ${FRIEND}, iMessage, sent delivered`]],
    [2_000, [`${row} ${FRIEND}, iMessage, sent delivered read`]],
  ])
})

test('a join that is late comes after three seconds', async () => {
  using mac = makeModelRig()
  mac.model.nextSend('join_3s_late')
  void mac.script.send(TO_FRIEND, 'hello')

  await mac.clock.advance(DELAYS.scriptMs + 2_999)
  const before = rowsOf(mac.model)
  await mac.clock.advance(1)

  const row = `hello -> ${FRIEND} in`
  expect(before).toEqual([`${row} null, iMessage, sent delivered read`])
  expect(rowsOf(mac.model)).toEqual([`${row} ${FRIEND}, iMessage, sent delivered read`])
})

const HANGS: readonly (readonly [Behaviour, FakeMacOptions, endMs: number])[] = [
  ['hang', {}, 35_000],
  ['hang', { ignoresTerm: true }, 38_000],
  ['hang_then_deliver_late', {}, 35_000],
]

test.each(HANGS)('%s %j is killed after %d ms', async (behaviour, options, endMs) => {
  using mac = makeModelRig(options)
  mac.model.nextSend(behaviour)
  let ended: unknown = null

  void mac.script.send(TO_FRIEND, 'hello').then((answer) => (ended = answer))
  await mac.clock.advance(endMs - 1)
  const before = ended
  await mac.clock.advance(1)

  expect(before).toBeNull()
  expect(ended).toEqual({ answer: 'silent', why: 'killed: timeout' })
  expect(rowsOf(mac.model)).toEqual([])
})

test('what a killed script has given to Messages leaves later, once', async () => {
  using mac = makeModelRig()
  mac.model.nextSend('hang_then_deliver_late')
  void mac.script.send(TO_FRIEND, TEXT)
  await mac.clock.advance(45_000)
  const before = mac.model.carried(TEXT)

  await mac.clock.advance(A_MINUTE_MS)

  expect(before).toBe(0)
  expect(mac.model.carried(TEXT)).toBe(1)
  expect(rowsOf(mac.model)).toEqual([HAPPY])
})

test.each([false, true])(
  'whether the end of Messages loses it is to choose: %p',
  async (isLost) => {
    using mac = makeModelRig({ isQueueLostAtQuit: isLost })
    mac.model.nextSend('hang_then_deliver_late')
    void mac.script.send(TO_FRIEND, TEXT)
    await mac.clock.advance(38_000)

    mac.model.quit()
    mac.model.launch()
    await mac.clock.advance(A_MINUTE_MS)

    expect(mac.model.carried(TEXT)).toBe(isLost ? 0 : 1)
  },
)

test('a send whose event times out has left all the same', async () => {
  using mac = makeModelRig()
  mac.model.nextSend('timeout_yet_sent')
  let answer: unknown = null

  void mac.script.send(TO_FRIEND, TEXT).then((found) => (answer = found))
  await mac.clock.advance(DELAYS.scriptMs + 24_999)
  const before = answer
  await mac.clock.advance(1)

  expect([before, answer]).toEqual([null, { answer: 'refused', stage: 'send', number: -1712 }])
  expect(rowsOf(mac.model)).toEqual([HAPPY])
})

test('a disabled account fails what it is given, and one that is not connected keeps it', async () => {
  using mac = makeModelRig()

  mac.model.account = { exists: true, isEnabled: false, isConnected: true }
  await mac.ask(mac.script.send(TO_FRIEND, TEXT))
  mac.model.account = { exists: true, isEnabled: true, isConnected: false }
  await mac.ask(mac.script.send(TO_FRIEND, TEXT))
  await mac.clock.advance(A_MINUTE_MS)

  expect(rowsOf(mac.model)).toEqual([`${UNSENT} error 30`, `${UNSENT} unfinished`])
  expect(mac.model.letters).toEqual([])
})

test('a behaviour of a handle holds for every send to it', async () => {
  using mac = makeModelRig()
  mac.model.behave(FRIEND, 'failed22_at_once')

  await mac.ask(mac.script.send(TO_FRIEND, 'one'))
  await mac.ask(mac.script.send(TO_FRIEND, 'two'))
  await mac.ask(mac.script.send({ by: 'participant', handle: '+15550003333' }, 'three'))
  await mac.clock.advance(A_MINUTE_MS)

  expect(mac.model.letters.map(({ text }) => text)).toEqual(['three'])
})

test('by participant, neither its own number nor one without a plus sign is reached', async () => {
  using mac = makeModelRig()

  await mac.ask(mac.script.send({ by: 'participant', handle: OWN_NUMBER }, 'to myself'))
  await mac.ask(mac.script.send({ by: 'participant', handle: '15550001111' }, 'no plus'))
  await mac.clock.advance(A_MINUTE_MS)

  expect(rowsOf(mac.model)).toEqual([
    `to myself -> ${OWN_NUMBER} in ${OWN_NUMBER}, iMessage, error 22`,
    'no plus -> 15550001111 in 15550001111, iMessage, error 22',
  ])
})

test('any other script, or one that is called otherwise, does not compile', async () => {
  using mac = makeModelRig()
  const order = JSON.stringify({ mode: 'account', route: '', key: '', text: '' })

  const ends = [
    await mac.model.handleScript(['-l', 'AppleScript', '-e', `${MESSAGES_SCRIPT} `], order),
    await mac.model.handleScript(['-e', MESSAGES_SCRIPT], order),
    await mac.model.handleScript(['-', 'account', '', '', ''], MESSAGES_SCRIPT),
  ]

  expect(ends.map((end) => (end === 'hang' ? null : end.exitCode))).toEqual([1, 1, 1])
  expect(JSON.stringify(ends)).toContain('(-2741)')
})

test('Messages is found, ended and started as a process; just started, it finds no chat', async () => {
  using mac = makeModelRig()
  const { guid } = chatWithFriend(mac.model)
  const run = async (path: string, ...args: readonly string[]) => {
    const end = await mac.run({ path, args, timeoutMs: 1, killAfterMs: 2 }, NEVER)
    return end.end === 'exited' ? `${end.exitCode} ${end.stdout}`.trim() : end.end
  }
  const first = (await run('/usr/bin/pgrep')).split(' ')[1] ?? ''

  const ends = [
    await run('/bin/kill', '-TERM', '1'),
    await run('/bin/kill', '-TERM', first),
    await run('/usr/bin/pgrep'),
    await run('/usr/bin/open', '-gj', '-a', 'Messages'),
    await run('/usr/bin/nothing'),
  ]
  const second = await run('/usr/bin/pgrep')
  const cold = await mac.ask(mac.script.check({ by: 'chat', guid }, NEVER))
  await mac.clock.advance(5_000)
  const warm = await mac.ask(mac.script.check({ by: 'chat', guid }, NEVER))

  expect(ends).toEqual(['1', '0', '1', '0', 'not_started'])
  expect(second).toBe(`0 ${Number(first) + 1}`)
  expect(cold).toEqual({ answer: 'refused', stage: 'resolve', number: -1728 })
  expect(warm).toEqual({ answer: 'done' })
})

test('a Mac is awake as long as caffeinate runs', async () => {
  using mac = makeModelRig()

  const child = mac.start({ path: '/usr/bin/caffeinate', args: [] })
  const during = mac.isKeptAwake()
  child.kill('SIGTERM')

  expect([during, mac.isKeptAwake(), await child.ended]).toEqual([true, false, null])
})
