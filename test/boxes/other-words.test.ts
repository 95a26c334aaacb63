// A row of a box's journal speaks for the words that left, not for others under the same id, as a head has them whose
// disk was put back.

import { expect, test } from 'bun:test'

import { NEVER } from '../../src/system/clock.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { Stage } from './stage.ts'

const { id, to } = messageOf('hello')

const OTHERS = {
  'other words': { ...messageOf('goodbye'), id },
  'another recipient': { ...messageOf('hello'), to: messageOf('hello').to.replace('1111', '2222') },
}

test.each(Object.entries(OTHERS))(
  'a message with the id of one that left and %s is not called sent, and does not leave',
  async (_case, other) => {
    using stage = await Stage.running()
    const first = stage.line.send('hello')
    await stage.clock.advance(0)

    const outcome = stage.line
      .session()
      .send({ ...other, to: other.to as typeof to }, async () => true, NEVER) // A handle still.
    await stage.clock.advance(0)

    expect(first.outcome?.outcome).toBe('accepted')
    expect(await outcome).toEqual({ outcome: 'unknown', reason: 'outcome_unknown' })
    expect(stage.device.sent.length).toBe(1)
  },
)
