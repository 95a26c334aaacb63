// Messages of which nobody can say whether they left, and outcomes that cannot be written down.

import { expect, test } from 'bun:test'

import type { SendOutcome } from '../../src/lines/driver.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { accepts, guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay } from '../support/test-relay.ts'

const TO = '+12025550700'

test('a driver that answers after its session ended is not believed, and nothing is sent twice', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const { promise: late, resolve: answerLate } = Promise.withResolvers<SendOutcome>()
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return late
  }
  await using relay = await startRelay({ drivers: [driver] })

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
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.capacity = 2
  await using relay = await startRelay({ drivers: [driver] })
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

test('an uncertain message is announced after ten minutes, and yields to proof later', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = async (message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    if (message.text !== 'lost') return { outcome: 'accepted', guid: null }
    return { outcome: 'unknown', reason: 'timed_out' }
  }
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'lost' })
  await relay.clock.advance(599_000)
  const before = await relay.eventNames()
  await relay.clock.advance(2_000)
  const after = await relay.eventNames()
  await device.settle(answer.body.id, { outcome: 'accepted', guid: guidOf(901) })
  const settled = await relay.message(answer.body.id)

  expect([answer.status, answer.body.status]).toEqual([202, 'uncertain'])
  expect(before).toEqual([])
  expect(after).toEqual(['message.failed'])
  expect(settled).toMatchObject({ status: 'sent', error: null, platform_guid: guidOf(901) })
  expect(device.given).toHaveLength(1)
})

test('only the same text to the same recipient waits for an uncertain message', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  let isFirst = true
  device.script = async (...send) => {
    if (!isFirst) return accepts(...send)
    isFirst = false
    await send[1]('note')
    return { outcome: 'unknown', reason: 'timed_out' }
  }
  await using relay = await startRelay({ drivers: [driver] })
  const first = await relay.send({ to: TO, text: 'twin' })
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
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  // Its event carries the text, which no page has room for then.
  const text = 'x'.repeat(15_000)
  device.script = async (_message, pointOfNoReturn) => {
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
  expect(device.given).toHaveLength(1)
})

test('a message that the device holds without a word for a day is uncertain, and holds up nobody', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.capacity = 2
  device.script = async (message, pointOfNoReturn, signal) => {
    if (message.text !== 'held') return accepts(message, pointOfNoReturn, signal)
    await pointOfNoReturn('note')
    return { outcome: 'held', guid: guidOf(910) }
  }
  await using relay = await startRelay({ drivers: [driver] })
  const respondAsync = { Prefer: 'respond-async' }
  const held = await relay.send({ to: TO, text: 'held' }, respondAsync)
  await relay.clock.advance(10 * 3_600_000)
  const behind = await relay.send({ to: TO, text: 'behind' }, respondAsync)
  await relay.clock.advance(13 * 3_600_000)
  const before = [await relay.message(held.body.id), await relay.message(behind.body.id)]

  await relay.clock.advance(2 * 3_600_000)
  const after = [await relay.message(held.body.id), await relay.message(behind.body.id)]
  await device.report(guidOf(910), 'delivered', relay.clock.now())

  expect(before.map(({ status }) => status)).toEqual(['sending', 'queued'])
  expect(after.map(({ status }) => status)).toEqual(['uncertain', 'sent'])
  expect((await relay.message(held.body.id)).status).toBe('delivered')
})

test('what was queued on a line that is deleted has failed, and says so', async () => {
  const driver = new ScriptedDriver('simulated')
  driver.add('+12025550101', false)
  const database = openDatabase(':memory:', { version: 'test' })
  const clock = new TestClock()
  const { queued, key } = await (async () => {
    await using relay = await startRelay({ drivers: [driver], database, clock })
    return { queued: await relay.send({ to: TO, text: 'hello' }), key: relay.key }
  })()
  const nobody = new ScriptedDriver('simulated')
  await using relay = await startRelay({ drivers: [nobody], database, clock, key })
  const [line] = await relay.lines()

  const deleted = await relay.request('DELETE', `/api/v1/phone-lines/${line.id}`)

  expect(deleted.status).toBe(200)
  expect(await relay.message(queued.body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'line_removed' },
  })
  expect(await relay.eventNames()).toEqual(['message.failed'])
})
