import { expect, test } from 'bun:test'

import type { LineEvent, Settlement } from '../../../../src/lines/driver.ts'
import {
  Pacer,
  isKnownAbsent,
  pauseMs,
  VanishingSends,
} from '../../../../src/lines/kinds/mac/pacing.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import type { runLine } from '../../../contract/line-rig.ts'
import { attendedMac, type MacRig } from '../../../contract/mac-rig.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import type { Behaviour } from '../../../support/mac/script-behaviours.ts'
import { TestClock, TEST_START } from '../../../support/test-clock.ts'
import { seededRandom } from '../../../support/test-relay.ts'

function makePacer() {
  const clock = new TestClock()
  return { clock, pacer: new Pacer(clock, seededRandom(1)) }
}

test('the first message goes at once, the next one after a second or a little more', () => {
  const { pacer } = makePacer()

  const first = pacer.delayMs(false)
  pacer.spend(false)
  const second = pacer.delayMs(false)

  expect(first).toBe(0)
  expect(second).toBeGreaterThanOrEqual(1_000)
  expect(second).toBeLessThan(1_500)
})

test('a new person is written to two to six seconds after the last one who was', () => {
  const { pacer } = makePacer()

  pacer.spend(true)

  expect(pacer.delayMs(true)).toBeGreaterThanOrEqual(2_000)
  expect(pacer.delayMs(true)).toBeLessThan(6_000)
  expect(pacer.delayMs(false)).toBeLessThan(1_500)
})

test('over an hour no more than thirty a minute go', async () => {
  const { clock, pacer } = makePacer()
  const HOUR_MS = 3_600_000
  let count = 0

  while (clock.monotonic() < HOUR_MS) {
    pacer.spend(false)
    count += 1
    await clock.advance(pacer.delayMs(false))
  }

  expect(count).toBeGreaterThan(30 * 60)
  expect(count).toBeLessThanOrEqual(30 * 60 + 31)
})

test('after a pause nothing goes until it is over, and a shorter one does not end it', async () => {
  const { clock, pacer } = makePacer()

  pacer.pause(5_000)
  pacer.pause(1_000)
  await clock.advance(2_000)
  const during = pacer.delayMs(false)
  await clock.advance(3_000)

  expect([during, pacer.delayMs(false)]).toEqual([3_000, 0])
})

test('thirty may go at once, also after hours without any, and the next one waits for two seconds', async () => {
  const { clock, pacer } = makePacer()
  await clock.advance(3_600_000)

  for (let i = 0; i < 30; i += 1) pacer.spend(false)

  expect(pacer.delayMs(false)).toBe(2_000)
})

const ANNA = '+12025550123'
const NOW = TEST_START
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const ABSENT = { error: 22, is_sent: 0, is_finished: 1 }

/** What is known of Anna after a failure `ms` ago, and what `then` wrote. */
function isAnnaAbsent(ms: number, then: (db: OpenedChatDb) => void): boolean {
  using db = new OpenedChatDb()
  writeOwn(db.file, { to: ANNA, text: 'hello', at: NOW - ms, ...ABSENT })
  then(db)
  return isKnownAbsent(db.chatDb, ANNA, NOW)
}

test('that a person is not on iMessage is known for seven days', () => {
  const known = [DAY_MS, 7 * DAY_MS, 7 * DAY_MS + 1].map((ms) => isAnnaAbsent(ms, () => {}))

  expect(known).toEqual([true, true, false])
})

test('only a message by iMessage, from them or sent to them, says that they are back', () => {
  const at = NOW - 1_000
  const text = 'hello'
  const known = {
    theirs: isAnnaAbsent(DAY_MS, ({ file }) => file.receive({ from: ANNA, text, at })),
    theirSms: isAnnaAbsent(DAY_MS, ({ file }) => {
      file.receive({ from: ANNA, text, at, values: { service: 'SMS' } })
    }),
    sent: isAnnaAbsent(DAY_MS, ({ file }) => writeOwn(file, { to: ANNA, text, at })),
    underWay: isAnnaAbsent(DAY_MS, ({ file }) =>
      writeOwn(file, { to: ANNA, text, at, is_sent: 0 }),
    ),
  }

  expect(known).toEqual({ theirs: false, theirSms: true, sent: false, underWay: true })
})

test('the pause ends an hour after the fifth of the latest failures', () => {
  using db = new OpenedChatDb()
  const pauses: number[] = []

  for (const minutes of [50, 40, 30, 20, 10, 5]) {
    writeOwn(db.file, { to: ANNA, text: 'hello', at: NOW - minutes * MINUTE_MS, ...ABSENT })
    pauses.push(pauseMs(db.chatDb, NOW) / MINUTE_MS)
  }

  expect(pauses).toEqual([0, 0, 0, 0, 10, 20])
})

// Sends that Messages takes and of which no row appears: the line stops before it has lost many, tries
// one message now and then, and is back as soon as a row is seen.

const REST_MS = 10 * MINUTE_MS
const VANISHED = { outcome: 'unknown', reason: 'no_row' } as const

type LineUnderTest = Awaited<ReturnType<typeof runLine>>

function statesOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'offline') return [event.reason.code]
    return event.type === 'online' ? ['online'] : []
  })
}

/** One message after the other. */
async function sendEach(rig: MacRig, line: LineUnderTest, behaviours: readonly Behaviour[]) {
  for (const [index, behaviour] of behaviours.entries()) {
    rig.model.nextSend(behaviour)
    await line.send(`message ${index}`, async () => true)
    // Longer than Messages takes to be started again.
    await rig.clock.advance(21_000)
  }
}

async function findingsOf(rig: MacRig): Promise<readonly string[]> {
  return (await rig.driver.checkup(NEVER)).map(({ code, severity }) => `${severity} ${code}`)
}

const quits = (rig: MacRig) => rig.ran.filter((name) => name === 'kill').length

test('Messages is started again after the second, and the line is offline after the third', async () => {
  await using rig = await attendedMac()

  await sendEach(rig, rig.line, ['no_row'])
  const afterOne = [quits(rig), await findingsOf(rig)]
  await sendEach(rig, rig.line, ['ghost_row'])
  const afterTwo = [quits(rig), await findingsOf(rig)]
  rig.model.nextSend('no_row')
  const third = await rig.line.send('the third', async () => true)
  const states = statesOf(rig.line.events)

  expect(afterOne).toEqual([0, []])
  expect(afterTwo).toEqual([1, ['warning sends_vanish']])
  expect(third).toEqual({ outcome: 'unknown', reason: 'no_row' })
  expect(states).toEqual(['online', 'sends_vanish'])
  expect([quits(rig), await findingsOf(rig)]).toEqual([1, ['error sends_vanish']])
})

/** What becomes of a send after two that vanished, and whether the next one that vanishes is the third. */
const OUTCOMES: readonly (readonly [outcome: Settlement, isThird: boolean])[] = [
  [{ outcome: 'accepted', guid: 'G', service: 'iMessage' }, false],
  [{ outcome: 'accepted', guid: 'G', service: 'SMS' }, false],
  [{ outcome: 'held', guid: 'G' }, false],
  [{ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' }, false],
  [{ outcome: 'unknown', reason: 'no_answer' }, true],
]

test('with a row the count begins again, and a send that Messages did not answer changes nothing', () => {
  const resting = OUTCOMES.map(([outcome]) => {
    const sends = new VanishingSends(new TestClock(), () => {})
    for (const each of [VANISHED, VANISHED, outcome, VANISHED]) sends.record(each)
    return sends.isResting
  })

  expect(resting).toEqual(OUTCOMES.map(([, isThird]) => isThird))
})

test('after ten minutes one message is tried, and if it vanishes too the line rests again', async () => {
  await using rig = await attendedMac()

  await sendEach(rig, rig.line, ['no_row', 'no_row', 'no_row'])
  await rig.clock.advance(REST_MS)
  const onTrial = await findingsOf(rig)
  await sendEach(rig, rig.line, ['no_row'])

  const states = ['online', 'sends_vanish', 'online', 'sends_vanish']
  expect(statesOf(rig.line.events)).toEqual(states)
  expect(onTrial).toEqual(['warning sends_vanish'])
})

test('each trial that vanishes doubles the rest, up to an hour, and Messages is started again once', async () => {
  const clock = new TestClock()
  let restarts = 0
  const sends = new VanishingSends(clock, () => (restarts += 1))
  for (let count = 0; count < 2; count += 1) sends.record(VANISHED)

  const rests: unknown[] = []
  for (const minutes of [10, 20, 40, 60, 60]) {
    const isRestingBefore = sends.isResting
    sends.record(VANISHED)
    await clock.advance(minutes * MINUTE_MS - 1)
    const isRestingLong = sends.isResting
    await clock.advance(1)
    rests.push([isRestingBefore, isRestingLong, sends.isResting])
  }

  expect(rests).toEqual(rests.map(() => [false, true, false]))
  expect(restarts).toBe(1)
})

test('a row that comes late brings the line back at once', async () => {
  await using rig = await attendedMac()
  await sendEach(rig, rig.line, ['no_row', 'no_row', 'no_row'])
  const before = statesOf(rig.line.events)

  writeOwn(rig.model.file, { to: rig.recipient, text: 'message 2', at: rig.clock.now() })
  await rig.clock.advance(10_000)

  expect(before.at(-1)).toBe('sends_vanish')
  expect(statesOf(rig.line.events).at(-1)).toBe('online')
  expect(await findingsOf(rig)).toEqual([])
})
