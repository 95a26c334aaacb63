// More messages in one chat than its window shows, while something else than a poll comes to it first: all are
// reported, in order and once.

import { describe, expect, test } from 'bun:test'

import { linger, lookForReceipts } from '../../../../../src/lines/kinds/iphone/screens/receipts.ts'
import {
  ACCEPTED,
  FRIEND,
  makeKnownLine,
  NEVER,
  OTHER,
  run,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

const TEXTS = Array.from({ length: 30 }, (_, index) => `number ${index}`)
const TOLD = TEXTS.map((text) => `< ${text}`)

async function makeBurst(): Promise<UiRig> {
  const rig = await makeKnownLine()
  rig.phone.windowRows = 12
  await rig.send('asked')
  await rig.poll()
  await rig.clock.advance(60_000)
  for (const text of TEXTS) rig.phone.receive(FRIEND, text)
  return rig
}

describe('a burst of thirty is reported whole', () => {
  test('though a message of ours is to go out first: it waits until they are read', async () => {
    const rig = await makeBurst()

    const early = await rig.send('ours', { id: 'msg_2' })
    await rig.poll()
    const late = await rig.send('ours', { id: 'msg_2' })
    await rig.poll()

    expect([early.outcome, late.outcome]).toEqual([
      { outcome: 'postponed', reason: 'pacing', delayMs: 4_000 },
      ACCEPTED,
    ])
    expect(textsOf(rig)).toEqual(TOLD)
  })

  test('though nobody has seen the chat before, and a message of ours is to go out first', async () => {
    const rig = await makeKnownLine()
    rig.phone.windowRows = 12
    for (const text of TEXTS) rig.phone.receive(OTHER, text)

    const early = await rig.send('ours', { to: OTHER })
    await rig.poll()
    const late = await rig.send('ours', { to: OTHER })
    await rig.poll()

    expect([early.outcome.outcome, late.outcome]).toEqual(['postponed', ACCEPTED])
    expect(textsOf(rig)).toEqual(TOLD)
  })

  test.each([
    ['its receipts are looked for', lookForReceipts],
    ['it is still open after a send', linger],
  ] as const)('though its chat is seen first because %s', async (_why, look) => {
    const rig = await makeBurst()
    rig.phone.open(FRIEND)

    await run(rig.clock, look(rig.reader, FRIEND, NEVER))
    await rig.poll()
    await rig.poll()

    expect(textsOf(rig)).toEqual(TOLD)
  })

  test('though the process is killed while it reports them', async () => {
    for (let count = 0; count < 20; count += 3) {
      const rig = await makeBurst()
      rig.told.onEvent = () => {
        if (rig.told.messages.length === count) rig.kill()
      }

      void rig.poll().catch(() => {})
      await rig.clock.advance(60_000)
      const next = rig.restart()
      await next.poll()
      await next.poll()

      // The relay takes each guid once: a chat that was left in the middle may repeat some of its end.
      const texts = new Map(rig.told.messages.map(({ guid, text }) => [guid, `< ${text}`]))
      expect([...texts.values()]).toEqual(TOLD)
    }
  })
})

test('equal texts that may stand in two windows of a chat leave a gap', async () => {
  const rig = await makeKnownLine()
  rig.phone.windowRows = 3
  for (const text of ['a', 'ok', 'ok', 'ok', 'ok']) rig.phone.receive(FRIEND, text)

  const { gaps } = await rig.poll()

  expect([gaps, textsOf(rig).filter((text) => text === '< a')]).toEqual([1, ['< a']])
})
