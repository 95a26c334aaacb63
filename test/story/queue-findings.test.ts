// Queues that do not move although nothing that is known holds them up.

import { expect, test } from 'bun:test'

import { type SendScript } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { type Json, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ASYNC = { Prefer: 'respond-async' }
const HOOK = 'http://192.168.1.20/hook'

const backlogs = (relay: TestRelay) => relay.findings('queue_growing')

/** Lets a device hang in each send until `release` is called. */
function hanging(): { readonly script: SendScript; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const script: SendScript = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    await promise
    return { outcome: 'accepted', guid: null }
  }
  return { script, release: resolve }
}

test('a line that is online and takes nothing for a quarter of an hour is named, until its queue is gone', async () => {
  const { script, release } = hanging()
  await using relay = await startScripted({ script })
  for (const digit of [1, 2, 3]) {
    await relay.send({ to: `+1202555070${digit}`, text: 'hello' }, ASYNC)
  }
  await relay.clock.advance(14 * MINUTE)
  const early = await backlogs(relay)
  await relay.clock.advance(2 * MINUTE)

  const late = await backlogs(relay)
  release()
  await relay.clock.advance(2 * MINUTE)

  expect(early).toEqual([])
  expect(late).toMatchObject([{ severity: 'warning', about: { kind: 'line', id: relay.line.id } }])
  expect(late[0].title).toBe('Messages are waiting although line +12025550801 is online')
  expect(late[0].why).toBe(
    'Messages in 2 conversations are waiting for this line, the oldest since 2026-11-21T10:00:00.000Z.',
  )
  expect(await backlogs(relay)).toEqual([])
})

test('a line that is slow on purpose is named too where its messages wait for so long', async () => {
  await using relay = await startScripted({
    script: async () => ({ outcome: 'postponed', reason: 'pacing', delayMs: MINUTE }),
  })
  await relay.send({ to: '+12025550701', text: 'hello' }, ASYNC)

  await relay.clock.advance(16 * MINUTE)

  const [found] = await backlogs(relay)
  expect(found?.why).toStartWith('Messages in 1 conversation are waiting for this line')
})

test('a line that is offline, full for the day, or just back with an old queue is no backlog', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  await relay.limit(1)
  await relay.send({ to: '+12025550701', text: 'hello' }, ASYNC)
  await relay.send({ to: '+12025550702', text: 'hello' }, ASYNC)
  await relay.clock.advance(HOUR)
  const offline = await backlogs(relay)
  await relay.device.goOnline()
  await relay.clock.advance(MINUTE)
  const back = await backlogs(relay)
  await relay.clock.advance(HOUR)

  const { data } = await relay.get('/api/v1/messages?status=queued')

  expect(data.map((one: Json) => one.queued_reason)).toEqual(['daily_contact_limit'])
  expect({ offline, back, full: await backlogs(relay) }).toEqual({
    offline: [],
    back: [],
    full: [],
  })
})

/** A receiver that works for `workMs` on each event, and on one at a time. */
function oneByOne(workMs: number): WebhookSink['answer'] {
  let freeAt = 0
  return ({ at }) => {
    freeAt = Math.max(at, freeAt) + workMs
    return { afterMs: freeAt - at }
  }
}

/** A relay with a webhook whose receiver answers as it is told, and a line that receives. */
async function startHook(answer: WebhookSink['answer']) {
  const relay = await startScripted()
  relay.sink.answer = answer
  const hook = await relay.post('/api/v1/webhooks', { url: HOOK, events: ['message.received'] })
  const receive = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      const handle = `+1202556${String(1_000 + i)}` as never
      await relay.device.receive({ guid: `in-${i}`, handle })
    }
  }
  return { ...relay, id: hook.body.id, receive }
}

test('a webhook that takes its events more slowly than they come is named, and no longer when it has caught up', async () => {
  await using relay = await startHook(oneByOne(3_000))
  const { id, receive } = relay
  await receive(500)
  await relay.clock.advance(14 * MINUTE)
  const early = await backlogs(relay)
  await relay.clock.advance(2 * MINUTE)

  const late = await backlogs(relay)
  await relay.clock.advance(HOUR)

  expect(early).toEqual([])
  expect(late).toMatchObject([{ severity: 'warning', about: { kind: 'webhook', id } }])
  expect(late[0].why).toStartWith('Deliveries waiting for 192.168.1.20: ')
  expect(await backlogs(relay)).toEqual([])
})

test('a webhook that fails has a finding of its own, and no other for its queue', async () => {
  await using relay = await startHook(() => 500)
  await relay.receive(20)

  await relay.clock.advance(HOUR)

  expect((await relay.findings()).map(({ code }) => code)).toEqual(['webhook_failing'])
})
