// A line goes away with messages in its queue: those that may leave by another line do, whatever waits before them.

import { expect, test } from 'bun:test'

import { makeKey } from '../support/limited-keys.ts'
import { ScriptedDriver, TEXTS_ONLY } from '../support/scripted-driver.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'

const SECOND = 1_000
const ASYNC = { Prefer: 'respond-async' }

/** Two lines that are both away, the first of which takes what is sent now. */
async function startAway() {
  const driver = new ScriptedDriver()
  const first = driver.add('+12025550801')
  first.capabilities = { ...TEXTS_ONLY, choose_service: true }
  const second = driver.add('+12025550802', false)
  const relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()
  await first.goOffline()
  return {
    relay,
    first,
    second,
    lineId: line.id as string,
    [Symbol.asyncDispose]: relay[Symbol.asyncDispose],
  }
}

const person = (index: number) => `+1303${String(5_550_000 + index)}`

type Before = (relay: TestRelay, lineId: string) => Promise<(index: number) => Promise<unknown>>

/** Messages that no other line may take, each to a person of its own. */
const IMMOVABLE: Readonly<Record<string, Before>> = {
  'of a key that is limited to it': async (relay, lineId) => {
    const key = await makeKey(relay, { name: 'one line', phone_line_ids: [lineId] })
    return (index) =>
      key.call('POST', '/messages/send', { to: person(index), text: 'limited' }, ASYNC)
  },
  'that named it': async (relay, lineId) => (index) =>
    relay.send({ to: person(index), text: 'pinned', phone_line_id: lineId }, ASYNC),
  'by a service that only it can choose': async (relay) => (index) =>
    relay.send({ to: person(index), text: 'by SMS', service: 'SMS' }, ASYNC),
}

for (const [what, before] of Object.entries(IMMOVABLE)) {
  for (const count of [1, 64, 65, 200]) {
    test(`behind ${count} messages ${what}, a free message goes by another line`, async () => {
      await using stage = await startAway()
      const { relay, first, second, lineId } = stage
      const send = await before(relay, lineId)
      for (let index = 0; index < count; index += 1) await send(index)
      const free = await relay.send({ to: '+12025550700', text: 'free' }, ASYNC)

      await second.goOnline()
      await relay.clock.advance(SECOND)

      expect(second.sent.map(({ text }) => text)).toEqual(['free'])
      expect(first.sent).toEqual([])
      expect(await relay.message(free.body.id)).toMatchObject({
        status: 'sent',
        phone_number: '+12025550802',
      })
    })
  }
}

test('messages that may not move are looked at again when a line comes back that may take them', async () => {
  const driver = new ScriptedDriver()
  const devices = [1, 2, 3].map((number) => driver.add(`+1202555080${number}`, false))
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1_000)
  const lines = await relay.lines()
  const phone_line_ids = [lines[0].id, lines[2].id]
  const key = await makeKey(relay, { name: 'two lines', phone_line_ids })
  for (let index = 0; index < 130; index += 1) {
    await key.call('POST', '/messages/send', { to: person(index), text: 'limited' }, ASYNC)
  }

  await devices[1]?.goOnline()
  await relay.clock.advance(SECOND)
  const early = devices.map(({ sent }) => sent.length)
  await devices[2]?.goOnline()
  await relay.clock.advance(60 * SECOND)

  expect(early).toEqual([0, 0, 0])
  expect(devices.map(({ sent }) => sent.length)).toEqual([0, 0, 130])
})
