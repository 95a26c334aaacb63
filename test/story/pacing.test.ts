// A device that must not be hurried: its messages wait, uncounted, and say why.

import { expect, test } from 'bun:test'

import type { SendOutcome } from '../../src/lines/driver.ts'
import { accepts, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const TO = '+12025550700'

function later(delayMs: number): () => Promise<SendOutcome> {
  return async () => ({ outcome: 'postponed', reason: 'pacing', delayMs })
}

test('a line that must not be hurried keeps its message and says pacing at once', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = later(60_000)
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  device.script = accepts
  await relay.clock.advance(59_000)
  const before = await relay.message(answer.body.id)
  await relay.clock.advance(2_000)
  const after = await relay.message(answer.body.id)

  expect([answer.status, answer.body.queued_reason]).toEqual([202, 'pacing'])
  expect(before).toMatchObject({ status: 'queued', queued_reason: 'pacing' })
  expect(after.status).toBe('sent')
})

test('a message that is postponed again and again is never refused for it', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = later(30_000)
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(3_600_000)
  device.script = accepts
  await relay.clock.advance(30_000)

  expect((await relay.message(answer.body.id)).status).toBe('sent')
})

test('a message that named no line goes to another one where its own is patient for long', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801').script = later(3_600_000)
  driver.add('+12025550802').script = accepts
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })

  expect([answer.status, answer.body.from]).toEqual([200, '+12025550802'])
})

test('two lines that both postpone are asked once each, then the message waits', async () => {
  const driver = new ScriptedDriver()
  let asked = 0
  for (const number of ['+12025550801', '+12025550802']) {
    driver.add(number).script = async () => {
      asked += 1
      return { outcome: 'postponed', reason: 'pacing', delayMs: 60_000 }
    }
  }
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(30_000)

  expect(asked).toBe(2)
  expect(answer.body.queued_reason).toBe('pacing')
})

test('a message that is postponed for a moment stays on its line', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  driver.add('+12025550802')
  device.script = later(1_000)
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  device.script = accepts
  await relay.clock.advance(2_000)

  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'sent',
    from: '+12025550801',
  })
})
