import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import { ImessageEvidence } from '../../../../src/lines/kinds/iphone/phone-line.ts'
import { TestClock } from '../../../support/test-clock.ts'

const ANN = deviceHandle('+12025550123')
const BEN = deviceHandle('+12025550177')
const MINUTE_MS = 60_000

function made() {
  const clock = new TestClock()
  return { clock, evidence: new ImessageEvidence(clock) }
}

/** Two people who are not reached, one minute apart. */
async function off() {
  const { clock, evidence } = made()
  evidence.noteFailed(ANN)
  await clock.advance(MINUTE_MS)
  evidence.noteFailed(BEN)
  return { clock, evidence }
}

describe('iMessage seems to be off', () => {
  test('after two people who were not reached, and not after one, however often', async () => {
    const { clock, evidence } = made()
    evidence.noteFailed(ANN)
    await clock.advance(MINUTE_MS)
    evidence.noteFailed(ANN)
    const afterOne = evidence.isOff

    evidence.noteFailed(BEN)

    expect([afterOne, evidence.isOff]).toEqual([false, true])
  })

  test.each([
    [9, true],
    [11, false],
  ])('where %d minutes lie between them: %p', async (minutes, isOff) => {
    const { clock, evidence } = made()
    evidence.noteFailed(ANN)
    await clock.advance(minutes * MINUTE_MS)

    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(isOff)
  })

  test('not where somebody was reached in between', () => {
    const { evidence } = made()
    evidence.noteFailed(ANN)

    evidence.noteReached()
    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(false)
  })

  test('also where a bubble came in between, of which nobody knows yet whether it arrives', () => {
    const { evidence } = made()
    evidence.noteFailed(ANN)

    evidence.noteBubble(BEN)
    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(true)
  })
})

describe('a quarter of an hour later', () => {
  test('it is tried again', async () => {
    const { clock, evidence } = await off()

    await clock.advance(15 * MINUTE_MS - 1)
    const before = evidence.isOff
    await clock.advance(1)

    expect([before, evidence.isOff]).toEqual([true, false])
  })

  test('one trial that fails is enough for the next rest', async () => {
    const { clock, evidence } = await off()
    await clock.advance(20 * MINUTE_MS)

    evidence.noteFailed(ANN)
    const atOnce = evidence.isOff
    await clock.advance(15 * MINUTE_MS)

    expect([atOnce, evidence.isOff]).toEqual([true, false])
  })

  test('one trial that succeeds clears all: the next two count again', async () => {
    const { clock, evidence } = await off()
    await clock.advance(20 * MINUTE_MS)

    evidence.noteReached()
    evidence.noteFailed(ANN)
    const afterOne = evidence.isOff
    evidence.noteFailed(BEN)

    expect([afterOne, evidence.isOff]).toEqual([false, true])
  })
})

describe('somebody whom the composer calls a text message', () => {
  test('does not count where he never was on iMessage', () => {
    const { evidence } = made()

    evidence.noteRefused(ANN)
    evidence.noteRefused(BEN)

    expect(evidence.isOff).toBe(false)
  })

  test('counts where he was', () => {
    const { evidence } = made()
    evidence.noteBubble(ANN)
    evidence.noteBubble(BEN)

    evidence.noteRefused(ANN)
    evidence.noteRefused(BEN)

    expect(evidence.isOff).toBe(true)
  })

  test('is remembered as one of the last 500', () => {
    const { evidence } = made()
    evidence.noteBubble(ANN)
    for (let i = 0; i < 500; i += 1) evidence.noteBubble(deviceHandle(`+1202555${1_000 + i}`))

    evidence.noteRefused(ANN)
    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(false)
  })
})
