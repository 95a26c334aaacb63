// What a send of a Mac line does beside its outcome: what it asks Messages, what it leaves behind when
// it was taken back, and what its line hears of it.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import { WITHDRAWN, type LineEvent } from '../../../../src/lines/driver.ts'
import { carry, messagesOf, sendTo, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig } from '../../../contract/mac-rig.ts'
import { typedOnTheMac } from '../../../support/mac/messages-behaviours.ts'
import { newestRow, writeOwn } from '../../../support/mac/own-rows.ts'
import { seededRandom } from '../../../support/test-relay.ts'

function offlineCodesOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'offline' ? [event.reason.code] : []))
}

test('a refusal that does not speak of the chat is not asked for again by another way', async () => {
  using rig = makeMacRig()
  rig.model.receive(rig.recipient, 'hello')
  await using attended = await runLine(rig, rig.driver)

  rig.model.automation = 'denied'
  const before = rig.model.calls.length
  await attended.send('hello', async () => true)

  const asked = rig.model.calls.slice(before).filter(({ mode }) => mode === 'check')
  expect(asked.map(({ route }) => route)).toEqual(['chat'])
})

test('a send that is aborted while Messages is asked is withdrawn, and nothing is wrong with the line', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  const leaving = new AbortController()
  rig.clock.after(50, () => leaving.abort())
  let asked = 0

  const outcome = await attended.send(
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
  expect(offlineCodesOf(attended.events)).toEqual([])
})

test('a message that was withdrawn at the last moment keeps nothing back that somebody types', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  await attended.send('hello', async () => false)

  const letter = { from: rig.model.number, to: rig.recipient, text: 'hello' }
  const typed = rig.model.play(typedOnTheMac('happy', letter))
  await rig.clock.advance(3_000)
  await typed

  expect(messagesOf(attended.events)).toMatchObject([{ text: 'hello', isFromMe: true }])
})

test('a send that Messages did not answer says so of the line', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  rig.model.nextSend('hang')

  const outcome = await attended.send('hello', async () => true)

  expect(outcome).toEqual({ outcome: 'unknown', reason: 'no_answer' })
  expect(offlineCodesOf(attended.events)).toEqual(['messages_not_answering'])
})

test('a message that fails after its sender has answered is found again in a second row', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  rig.model.nextSend('stuck')
  const { message, outcome } = await carry(rig, attended, 'hello')

  const { file } = rig.model
  file.set(newestRow(file), { error: 6, is_finished: 1 })
  await rig.clock.advance(1_000)
  const second = writeOwn(file, { to: rig.recipient, text: 'hello', at: rig.clock.now() })
  await rig.clock.advance(60_000)

  const told = attended.events.filter(({ type }) => !['online', 'checkpoint'].includes(type))
  const accepted = { outcome: 'accepted', guid: second.guid, service: 'iMessage' } as const
  expect(outcome).toMatchObject({ outcome: 'held' })
  expect(told).toEqual([{ type: 'settled', messageId: message.id, outcome: accepted }])
})

test('a wait of more than five seconds is told, a shorter one is waited out', async () => {
  const outcomes: string[] = []
  for (const chance of [0.6, 0.99]) {
    using rig = makeMacRig({ random: { ...seededRandom(1), chance: () => chance } })
    await using attended = await runLine(rig, rig.driver)

    await sendTo(rig, attended, deviceHandle('+15550009001'))
    const { outcome } = await sendTo(rig, attended, deviceHandle('+15550009002'))

    outcomes.push(outcome)
  }

  expect(outcomes).toEqual(['accepted', 'postponed'])
})
