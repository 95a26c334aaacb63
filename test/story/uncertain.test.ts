// Messages of which nobody can say whether they left, and outcomes that cannot be written down.

import { expect, test } from 'bun:test'

import type { SendOutcome } from '../../src/lines/driver.ts'
import { accepts, ends, guidOf, type SendScript } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('a driver that answers after its session ended is not believed, and nothing is sent twice', async () => {
  await using relay = await startScripted()
  const { device } = relay
  const { promise: late, resolve: answerLate } = Promise.withResolvers<SendOutcome>()
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return late
  }

  const answer = await relay.send({ to: TO, text: 'hello' }, { Prefer: 'respond-async' })
  await relay.clock.advance(100)
  await device.goOffline()
  await relay.clock.advance(89_000)
  const before = await relay.message(answer.body.id)
  await relay.clock.advance(2_000)
  answerLate({ outcome: 'not_sent', reason: 'busy', blame: 'line' })
  await relay.clock.advance(60_000)

  expect(before.status).toBe('sending')
  expect((await relay.message(answer.body.id)).status).toBe('uncertain')
  expect(device.given).toHaveLength(1)
})

test('a line with an unwritten outcome sends nothing, whatever else of it comes to an end', async () => {
  await using relay = await startScripted({ capacity: 2 })
  const { device } = relay
  // Its event carries the text, which no page has room for then.
  const long = 'x'.repeat(15_000)
  const { promise: isFull, resolve: becomeFull } = Promise.withResolvers<void>()
  device.script = async (message, pointOfNoReturn) => {
    if (message.text === long) {
      await pointOfNoReturn('note')
      relay.fillDisk()
      becomeFull()
      return { outcome: 'accepted', guid: null }
    }
    await isFull
    await relay.clock.sleep(500, new AbortController().signal)
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  const respondAsync = { Prefer: 'respond-async' }

  await Promise.all([
    relay.send({ to: TO, text: long }, respondAsync),
    relay.send({ to: '+12025550701', text: 'short' }, respondAsync),
  ])
  await relay.clock.advance(10_000)
  const during = device.given.length
  relay.freeDisk()
  await relay.clock.advance(5_000)

  expect(during).toBe(2)
  expect(device.given.length).toBeGreaterThan(2)
})

test('only the same text to the same recipient waits for an uncertain message', async () => {
  const script = ends({ outcome: 'unknown', reason: 'timed_out' })
  await using relay = await startScripted({ script })
  const first = await relay.send({ to: TO, text: 'twin' })
  relay.device.script = accepts
  const other = await relay.send({ to: TO, text: 'another text' })

  const twin = await relay.send({ to: TO, text: 'twin' })
  await relay.post(`/api/v1/messages/${first.body.id}/resolve`, { status: 'failed' })
  await relay.clock.advance(1_000)

  expect(other.status).toBe(200)
  expect([twin.status, twin.body.queued_reason]).toEqual([202, 'same_text_uncertain'])
  expect((await relay.message(twin.body.id)).status).toBe('sent')
  expect(await relay.message(first.body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'resolved_by_hand' },
  })
})

test('a disk that fills between the send and its outcome stops the line until it is written', async () => {
  await using relay = await startScripted()
  // Its event carries the text, which no page has room for then.
  const text = 'x'.repeat(15_000)
  relay.device.script = async (_message, pointOfNoReturn) => {
    if (!(await pointOfNoReturn('note'))) {
      return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
    }
    relay.fillDisk()
    return { outcome: 'accepted', guid: null }
  }

  const first = await relay.send({ to: TO, text }, { Prefer: 'respond-async' })
  await relay.clock.advance(5_000)
  const refused = await relay.send({ to: TO, text })
  const during = await relay.message(first.body.id)
  relay.freeDisk()
  await relay.clock.advance(30_000)

  expect(during.status).toBe('sending')
  expect([refused.status, refused.body.error.code]).toEqual([503, 'storage_full'])
  expect((await relay.message(first.body.id)).status).toBe('sent')
  expect(await relay.eventNames()).toEqual(['message.sent'])
  expect(relay.device.given).toHaveLength(1)
})

test('a message that the device holds without a word for a day is uncertain, and holds up nobody', async () => {
  const held = ends({ outcome: 'held', guid: guidOf(910) })
  const script: SendScript = (...send) => (send[0].text === 'held' ? held : accepts)(...send)
  await using relay = await startScripted({ capacity: 2, script })
  const respondAsync = { Prefer: 'respond-async' }
  const first = await relay.send({ to: TO, text: 'held' }, respondAsync)
  await relay.clock.advance(MINUTE)
  relay.clock.doze(10 * HOUR)
  const behind = await relay.send({ to: TO, text: 'behind' }, respondAsync)
  relay.clock.doze(13 * HOUR)
  await relay.clock.advance(MINUTE)
  const statuses = async () => [
    (await relay.message(first.body.id)).status,
    (await relay.message(behind.body.id)).status,
  ]
  const before = await statuses()

  relay.clock.doze(HOUR)
  await relay.clock.advance(MINUTE)
  const after = await statuses()
  await relay.device.report(guidOf(910), 'delivered', relay.clock.now())

  expect([before, after]).toEqual([
    ['sending', 'queued'],
    ['uncertain', 'sent'],
  ])
  expect(await statuses()).toEqual(['delivered', 'sent'])
})

test('what was queued on a line that is deleted has failed, and says so', async () => {
  const before = await startScripted({ kind: 'simulated', lines: ['offline'] })
  const queued = await before.send({ to: TO, text: 'hello' })
  await before[Symbol.asyncDispose]()
  const { database, key, clock } = before
  await using relay = await startScripted({ kind: 'simulated', lines: [], database, clock, key })

  const deleted = await relay.request('DELETE', `/api/v1/phone-lines/${relay.line.id}`)

  expect(deleted.status).toBe(200)
  expect(await relay.message(queued.body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'line_removed' },
  })
  expect(await relay.eventNames()).toEqual(['message.failed'])
})
