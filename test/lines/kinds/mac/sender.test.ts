// What a send of a Mac line does beside its outcome: what it asks Messages, what it leaves behind when
// it was taken back, and what its line hears of it.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import { WITHDRAWN, type LineEvent } from '../../../../src/lines/driver.ts'
import {
  carry,
  messagesOf,
  sendTo,
  runLine,
  guidOf,
  receiptsOf,
  settledOf,
} from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { typedOnTheMac } from '../../../support/mac/messages-behaviours.ts'
import { newestRow, writeOwn } from '../../../support/mac/own-rows.ts'
import { seededRandom } from '../../../support/test-relay.ts'

function offlineCodesOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'offline' ? [event.reason.code] : []))
}

test('a refusal that does not speak of the chat is not asked for again by another way', async () => {
  using rig = makeMacRig()
  rig.model.receive(rig.recipient, 'hello')
  await using line = await runLine(rig, rig.driver)

  rig.model.automation = 'denied'
  const before = rig.model.calls.length
  await line.send('hello', async () => true)

  const asked = rig.model.calls.slice(before).filter(({ mode }) => mode === 'check')
  expect(asked.map(({ route }) => route)).toEqual(['chat'])
})

test('a send that is aborted while Messages is asked is withdrawn, and nothing is wrong with the line', async () => {
  await using rig = await attendedMac()
  const leaving = new AbortController()
  rig.clock.after(50, () => leaving.abort())
  let asked = 0

  const outcome = await rig.line.send(
    'hello',
    async () => {
      asked += 1
      return true
    },
    leaving.signal,
  )
  await rig.clock.advance(1_000)

  expect(outcome).toEqual(WITHDRAWN)
  expect([asked, rig.carried('hello')]).toEqual([0, 0])
  expect(offlineCodesOf(rig.line.events)).toEqual([])
})

test('a message that was withdrawn at the last moment keeps nothing back that a person types', async () => {
  await using rig = await attendedMac()
  await rig.line.send('hello', async () => false)

  const letter = { from: rig.model.number, to: rig.recipient, text: 'hello' }
  const typed = rig.model.play(typedOnTheMac('happy', letter))
  await rig.clock.advance(3_000)
  await typed

  expect(messagesOf(rig.line.events)).toMatchObject([{ text: 'hello', isFromMe: true }])
})

test('a wait of more than five seconds is reported, a shorter one is waited out', async () => {
  const outcomes: string[] = []
  for (const chance of [0.6, 0.99]) {
    await using rig = await attendedMac({
      driver: { random: { ...seededRandom(1), chance: () => chance } },
    })

    await sendTo(rig, rig.line, deviceHandle('+15550009001'))
    const { outcome } = await sendTo(rig, rig.line, deviceHandle('+15550009002'))

    outcomes.push(outcome)
  }

  expect(outcomes).toEqual(['accepted', 'postponed'])
})

// What becomes of a message whose row does, while its sender watches it, what no single behaviour of
// Messages has: errors that come and go, rows of other messages, another database.

const NO_NETWORK = { error: 6, is_finished: 1 }
const WELL = { error: 0, is_finished: 0 }
/** Moments between two looks of the reading, and between two of a sender. */
const MOMENTS = Array.from({ length: 6 }, (_, index) => 400 + index * 10)

/** Changes the newest row `ms` from now. */
function later(rig: MacRig, ms: number, values: Readonly<Record<string, number>>): void {
  const { file } = rig.model
  rig.clock.after(ms, () => file.set(newestRow(file), values))
}

function settlementsOf(events: readonly LineEvent[]) {
  return settledOf(events).map(({ messageId, outcome }) => [messageId, outcome])
}

test('an error that cleared is forgotten: the next one has its ten seconds again', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('stuck')
  later(rig, 1_000, NO_NETWORK)
  later(rig, 5_000, WELL)
  later(rig, 7_000, NO_NETWORK)
  later(rig, 14_000, { ...WELL, is_sent: 1 })

  const { outcome } = await carry(rig, rig.line, 'hello')

  expect(outcome).toMatchObject({ outcome: 'accepted' })
})

test('a second row of an earlier message with the same text is not taken for the one that waits', async () => {
  await using rig = await attendedMac()
  const { file } = rig.model
  rig.model.nextSend('stuck', 'stuck')
  const first = await carry(rig, rig.line, 'hello')
  file.set(newestRow(file), NO_NETWORK)
  later(rig, 2_000, NO_NETWORK)
  let second = ''
  rig.clock.after(4_010, () => {
    second = writeOwn(file, { to: rig.recipient, text: 'hello', at: rig.clock.now() }).guid
  })

  const again = await carry(rig, rig.line, 'hello', 'again')
  await rig.clock.advance(30_000)

  expect(settlementsOf(rig.line.events)).toEqual([
    [first.message.id, { outcome: 'accepted', guid: second, service: 'iMessage' }],
  ])
  expect(again.outcome).toMatchObject({ outcome: 'not_sent', reason: 'network_unavailable' })
})

test('the row of a text that is sent again, after it failed once, is that of the second message', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('stuck', 'happy')
  const first = await carry(rig, rig.line, 'hello')
  later(rig, 0, NO_NETWORK)
  await rig.clock.advance(30_000)

  const again = await carry(rig, rig.line, 'hello', 'again')
  await rig.clock.advance(30_000)

  expect([first.outcome, again.outcome]).toMatchObject([
    { outcome: 'held' },
    { outcome: 'accepted' },
  ])
  expect(settlementsOf(rig.line.events)).toEqual([])
  expect(receiptsOf(rig.line.events).map(({ guid, kind }) => [guid, kind])).toEqual([
    [guidOf(first.outcome) ?? '', 'failed'],
    [guidOf(again.outcome) ?? '', 'delivered'],
    [guidOf(again.outcome) ?? '', 'read'],
  ])
})

test('the row of a text that is sent again, after nobody heard of it, is that of the second message', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('no_row', 'happy')
  const first = await carry(rig, rig.line, 'hello')

  const again = await carry(rig, rig.line, 'hello', 'again')
  const { guid } = writeOwn(rig.model.file, {
    to: rig.recipient,
    text: 'hello',
    at: rig.clock.now(),
  })
  await rig.clock.advance(1_000)

  expect(first.outcome).toEqual({ outcome: 'unknown', reason: 'no_row' })
  expect(again.outcome).toMatchObject({ outcome: 'accepted' })
  expect(settlementsOf(rig.line.events)).toEqual([
    [first.message.id, { outcome: 'accepted', guid, service: 'iMessage' }],
  ])
})

test('a database that cannot be read for a moment does not end a send', async () => {
  for (const ms of MOMENTS) {
    await using rig = await attendedMac()
    const { db } = rig.model.file
    rig.model.nextSend('stuck')
    rig.clock.after(ms, () => db.run('ALTER TABLE message RENAME TO away'))
    rig.clock.after(ms + 200, () => db.run('ALTER TABLE away RENAME TO message'))
    later(rig, 4_000, { is_sent: 1 })

    const { outcome } = await carry(rig, rig.line, 'hello')

    expect([ms, outcome]).toMatchObject([ms, { outcome: 'accepted' }])
  }
})

test('a row that has our ROWID after a rebuild is not ours', async () => {
  using rig = makeMacRig()
  rig.model.receive('+15550003333', 'from before')
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend('stuck')
  rig.clock.after(2_000, () => {
    rig.model.replace({ keep: 10, order: 'newest_first', into: 'same_file' })
  })

  const { outcome } = await carry(rig, line, 'hello')

  expect(outcome).toEqual({ outcome: 'held', guid: guidOf(outcome) ?? '', service: 'iMessage' })
})

test('the late row of a message that nobody heard of is reported, even if the next one is watched', async () => {
  for (const ms of MOMENTS) {
    using rig = makeMacRig()
    rig.model.delays = { ...rig.model.delays, sentMs: 900 }
    await using line = await runLine(rig, rig.driver)
    rig.model.nextSend('no_row', 'happy')
    const lost = await carry(rig, line, 'lost')
    let late = ''
    rig.clock.after(ms, () => {
      late = writeOwn(rig.model.file, { to: rig.recipient, text: 'lost', at: rig.clock.now() }).guid
    })

    await carry(rig, line, 'next')
    await rig.clock.advance(10_000)

    expect([ms, settlementsOf(line.events)]).toEqual([
      ms,
      [[lost.message.id, { outcome: 'accepted', guid: late, service: 'iMessage' }]],
    ])
  }
})
