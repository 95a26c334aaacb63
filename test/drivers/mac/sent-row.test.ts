// What becomes of a message whose row does, while its sender watches it, what no single behaviour of
// Messages has: errors that come and go, rows of other messages, another database.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../src/domain/driver.ts'
import { attend, carry, settledOf } from '../../contract/line-rig.ts'
import { makeMacRig } from '../../contract/mac-rig.ts'
import { writeOwn } from '../../support/mac/own-rows.ts'

function settlementsOf(events: readonly LineEvent[]) {
  return settledOf(events).map(({ messageId, outcome }) => [messageId, outcome])
}

/** Moments between two looks of the reading, and between two of a sender. */
const MOMENTS = Array.from({ length: 12 }, (_, index) => 400 + index * 10)

test('the late row of a message that nobody heard of is told, also where the next one is watched', async () => {
  for (const ms of MOMENTS) {
    const rig = makeMacRig({ model: { delays: { sentMs: 900 } } })
    const attended = await attend(rig, rig.driver)
    rig.model.nextSend('no_row', 'happy')
    const lost = await carry(rig, attended, 'lost')
    let late = ''
    rig.clock.after(ms, () => {
      late = writeOwn(rig.model.file, { to: rig.recipient, text: 'lost', at: rig.clock.now() }).guid
    })

    await carry(rig, attended, 'next')
    await rig.clock.advance(10_000)

    expect([ms, settlementsOf(attended.events)]).toEqual([
      ms,
      [[lost.message.id, { outcome: 'accepted', guid: late }]],
    ])
    await attended.end()
    rig.close()
  }
})
