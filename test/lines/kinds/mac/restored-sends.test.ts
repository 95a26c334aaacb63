// Messages that a Mac line looks up at the start of a run: those that a crash left open, and those whose
// receipts may have come meanwhile.

import { expect, test } from 'bun:test'

import type { DriverLine, LineEvent } from '../../../../src/lines/driver.ts'
import { carry, guidOf, settledOf, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig } from '../../../contract/mac-rig.ts'
import { newestRow, writeOwn } from '../../../support/mac/own-rows.ts'
import type { Behaviour } from '../../../support/mac/script-behaviours.ts'

const FAILED = { error: 6, is_finished: 1 }

/** Sends a message, lets the first life of the line end, and begins another one with what that knew. */
async function again(
  behaviour: Behaviour,
  between: (rig: ReturnType<typeof makeMacRig>) => void,
  lineOf: (sent: Awaited<ReturnType<typeof carry>>) => Partial<DriverLine>,
) {
  const rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  rig.model.nextSend(behaviour)
  const sent = await carry(rig, first, 'hello')
  await rig.clock.advance(1_000)
  await first.end()
  between(rig)
  const checkpoint = first.checkpoint()
  const line = await runLine(rig, rig.restart(), { checkpoint, ...lineOf(sent) })
  const { model, clock } = rig
  const end = async () => {
    await line.end()
    rig.close()
  }
  const found = { sent, line, file: model.file, clock, recipient: rig.recipient }
  return { ...found, [Symbol.asyncDispose]: end }
}

function kindsOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'settled') return [event.outcome.outcome]
    return event.type === 'receipt' ? [event.receipt.kind] : []
  })
}

test('an open message that failed while nobody looked is proven unsent after ten seconds', async () => {
  await using life = await again(
    'stuck',
    ({ model }) => model.file.set(newestRow(model.file), FAILED),
    ({ message, note }) => ({ unsettled: [{ message, note }] }),
  )
  const { sent, line, clock } = life

  await clock.advance(8_000)
  const early = settledOf(line.events)
  await clock.advance(3_000)

  const outcome = { outcome: 'not_sent', reason: 'network_unavailable', blame: 'message' } as const
  expect(early).toEqual([])
  expect(settledOf(line.events)).toEqual([{ type: 'settled', messageId: sent.message.id, outcome }])
})

test('a failure that was reported is the end of a message: a later row is none of it', async () => {
  await using life = await again(
    'stuck',
    ({ model }) => model.file.set(newestRow(model.file), FAILED),
    ({ message, note }) => ({ unsettled: [{ message, note }] }),
  )
  const { line, clock, file, recipient } = life
  await clock.advance(15_000)

  writeOwn(file, { to: recipient, text: 'hello', at: clock.now() })
  await clock.advance(1_000)

  expect(settledOf(line.events).map(({ outcome }) => outcome.outcome)).toEqual(['not_sent'])
})

test('a message that Messages still had is followed from there on', async () => {
  await using life = await again(
    'stuck',
    () => {},
    ({ message, note, outcome }) => ({
      unsettled: [{ message: { ...message, platformGuid: guidOf(outcome) }, note }],
    }),
  )
  const { line, clock, file } = life

  file.set(newestRow(file), { is_sent: 1 })
  await clock.advance(1_000)

  expect(kindsOf(line.events)).toEqual(['sent'])
})

test('a message that Messages still had is found in a second row, where its own fails', async () => {
  await using life = await again(
    'stuck',
    ({ model }) => model.file.set(newestRow(model.file), FAILED),
    ({ message, note, outcome }) => ({
      unsettled: [{ message: { ...message, platformGuid: guidOf(outcome) }, note }],
    }),
  )
  const { sent, line, clock, file, recipient } = life

  const second = writeOwn(file, { to: recipient, text: 'hello', at: clock.now() })
  await clock.advance(30_000)

  const outcome = { outcome: 'accepted', guid: second.guid, service: 'iMessage' } as const
  const published = line.events.filter(({ type }) => !['online', 'checkpoint'].includes(type))
  expect(published).toEqual([{ type: 'settled', messageId: sent.message.id, outcome }])
})

test('of a message that was sent before, what came meanwhile is reported, and not that it was sent', async () => {
  await using life = await again(
    'happy',
    () => {},
    ({ outcome, note }) => ({ open: [{ guid: guidOf(outcome) ?? '', note }] }),
  )
  const { line, clock } = life

  await clock.advance(5_000)

  expect(kindsOf(line.events)).toEqual(['delivered', 'read'])
})

test('of several open messages the oldest is looked for as well', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const one = await carry(rig, first, 'one')
  await rig.clock.advance(20_000)
  const two = await carry(rig, first, 'two')
  await rig.clock.advance(1_000)
  await first.end()

  const unsettled = [one, two].map(({ message, note }) => ({ message, note }))
  const checkpoint = first.checkpoint()
  await using second = await runLine(rig, rig.restart(), { checkpoint, unsettled })
  await rig.clock.advance(1_000)

  expect(settledOf(second.events).map(({ messageId }) => messageId)).toEqual([
    one.message.id,
    two.message.id,
  ])
})
