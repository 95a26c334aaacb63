import { expect, test } from 'bun:test'

import { deviceHandle, type Handle } from '../../../../src/domain/handle.ts'
import { ImessageEvidence } from '../../../../src/lines/kinds/iphone/phone-line.ts'
import { FRIEND as ANN, OTHER as BEN } from '../../../support/iphone/ui-rig.ts'
import { TestClock } from '../../../support/test-clock.ts'

type Step = (evidence: ImessageEvidence, clock: TestClock) => unknown

const failed = (handle: Handle): Step => {
  return (evidence) => evidence.noteFailed(handle)
}
const bubble = (handle: Handle): Step => {
  return (evidence) => evidence.noteBubble(handle)
}
const refused = (handle: Handle): Step => {
  return (evidence) => evidence.noteRefused(handle)
}
const reached: Step = (evidence) => evidence.noteReached()
const minutes = (count: number): Step => {
  return (_, clock) => clock.advance(count * 60_000)
}
const manyOthers: Step = (evidence) => {
  for (let i = 0; i < 500; i += 1) evidence.noteBubble(deviceHandle(`+1202555${1_000 + i}`))
}

/** Two people who are not reached. */
const OFF = [failed(ANN), minutes(1), failed(BEN)]

test.each<readonly [what: string, isOff: boolean, steps: readonly Step[]]>([
  ['two people were not reached', true, OFF],
  ['one was not, however often', false, [failed(ANN), minutes(1), failed(ANN)]],
  ['nine minutes lie between two', true, [failed(ANN), minutes(9), failed(BEN)]],
  ['eleven minutes lie between two', false, [failed(ANN), minutes(11), failed(BEN)]],
  ['somebody was reached in between', false, [failed(ANN), reached, failed(BEN)]],
  // Of a bubble nobody knows yet whether it arrives.
  ['a bubble came in between', true, [failed(ANN), bubble(BEN), failed(BEN)]],
  ['a quarter of an hour has not passed', true, [...OFF, minutes(14.99)]],
  ['a quarter of an hour has passed', false, [...OFF, minutes(15)]],
  ['the one trial after it failed', true, [...OFF, minutes(20), failed(ANN)]],
  ['that trial had its rest', false, [...OFF, minutes(20), failed(ANN), minutes(15)]],
  ['the trial succeeded, then one failed', false, [...OFF, minutes(20), reached, failed(ANN)]],
  ['then another one', true, [...OFF, minutes(20), reached, failed(ANN), failed(BEN)]],
  ['people are refused who never were on it', false, [refused(ANN), refused(BEN)]],
  ['people who were', true, [bubble(ANN), bubble(BEN), refused(ANN), refused(BEN)]],
  // Five hundred are remembered.
  ['one who was long ago', false, [bubble(ANN), manyOthers, refused(ANN), failed(BEN)]],
])('where %s iMessage seems to be off: %p', async (_what, isOff, steps) => {
  const clock = new TestClock()
  const evidence = new ImessageEvidence(clock)

  for (const step of steps) await step(evidence, clock)

  expect(evidence.isOff).toBe(isOff)
})
