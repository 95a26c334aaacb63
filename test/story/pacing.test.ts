// A device that must not be hurried: its messages wait, uncounted, and say why.

import { expect, test } from 'bun:test'

import type { SendOutcome } from '../../src/lines/driver.ts'
import { accepts } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'

function later(delayMs: number): () => Promise<SendOutcome> {
  return async () => ({ outcome: 'postponed', reason: 'pacing', delayMs })
}

test('a line that must not be hurried keeps its message and says pacing at once', async () => {
  await using relay = await startScripted({ script: later(60_000) })

  const answer = await relay.send({ to: TO, text: 'hello' })
  relay.device.script = accepts
  await relay.clock.advance(59_000)
  const before = await relay.message(answer.body.id)
  await relay.clock.advance(2_000)
  const after = await relay.message(answer.body.id)

  expect([answer.status, answer.body.queued_reason]).toEqual([202, 'pacing'])
  expect(before).toMatchObject({ status: 'queued', queued_reason: 'pacing' })
  expect(after.status).toBe('sent')
})

test('a message that is postponed again and again is never refused for it', async () => {
  await using relay = await startScripted({ script: later(30_000) })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(3_600_000)
  relay.device.script = accepts
  await relay.clock.advance(30_000)

  expect((await relay.message(answer.body.id)).status).toBe('sent')
})
