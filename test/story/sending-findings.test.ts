// What the health catalogue says of a line's messages: its contacts of the day, failures, messages of which nobody
// knows whether they left, and queues that do not move although nothing that is known holds them up.

import { expect, test } from 'bun:test'

import { type SendScript, accepts, ends } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import type { Json, TestRelay } from '../support/test-relay.ts'
import type { WebhookSink } from '../support/webhook-sink.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** 2026-11-21T23:50:00.000Z */
const BEFORE_MIDNIGHT = TEST_START + 13 * HOUR + 50 * MINUTE
const ASYNC = { Prefer: 'respond-async' }

function recipient(number: number): string {
  return `+1202555${String(1_000 + number)}`
}

async function sendTo(relay: TestRelay, first: number, count: number): Promise<void> {
  for (let i = first; i < first + count; i += 1) {
    await relay.send({ to: recipient(i), text: `hello ${i}` })
  }
}

async function codes(relay: TestRelay): Promise<readonly string[]> {
  return (await relay.findings()).map(({ code }) => code)
}

const FAILS = ends({ outcome: 'not_sent', reason: 'imessage_account_problem', blame: 'message' })
const UNKNOWN = ends({ outcome: 'unknown', reason: 'timed_out' })

test('a line that comes near its limit is named, and one that reaches it with when it ends and how to raise it', async () => {
  await using relay = await startScripted()
  const { line } = relay
  await relay.limit(10)

  await sendTo(relay, 0, 7)
  const before = await codes(relay)
  await sendTo(relay, 7, 1)
  const near = await relay.findings()
  await sendTo(relay, 8, 2)
  const reached = await relay.findings()

  expect(before).toEqual([])
  expect(near).toMatchObject([
    { code: 'limit_near', severity: 'info', about: { kind: 'line', id: line.id } },
  ])
  expect(near[0].why).toStartWith('8 of 10 new contacts used today.')
  expect(reached).toMatchObject([
    { code: 'limit_reached', severity: 'warning', about: { kind: 'line', id: line.id } },
  ])
  expect(reached[0].title).toBe('Line +12025550801 has reached its daily limit of new contacts')
  expect(reached[0].fix).toContain('Wait until midnight UTC')
  expect(reached[0].fix).toContain(`hookline lines set ${line.id} --daily-contact-limit N`)
})

test('midnight UTC, or a higher limit, takes the finding away at once', async () => {
  await using relay = await startScripted({ clock: new TestClock(BEFORE_MIDNIGHT) })
  await relay.limit(5)
  await sendTo(relay, 0, 5)
  const full = await codes(relay)

  await relay.limit(6)
  const nearly = await codes(relay)
  await relay.limit(10)
  const raised = await codes(relay)
  await relay.limit(5)
  const again = await codes(relay)
  await relay.clock.advance(10 * MINUTE)
  const tomorrow = await codes(relay)

  expect({ full, nearly, raised, again, tomorrow }).toEqual({
    full: ['limit_reached'],
    nearly: ['limit_near'],
    raised: [],
    again: ['limit_reached'],
    tomorrow: [],
  })
})

test('a place that a failed message gives back does not end the finding, two do', async () => {
  await using relay = await startScripted()
  const { device, line } = relay
  await relay.limit(5)
  await sendTo(relay, 0, 3)
  device.script = UNKNOWN
  const lost: string[] = []
  for (const number of [3, 4]) {
    lost.push((await relay.send({ to: recipient(number), text: 'hello' })).body.id)
  }
  await relay.clock.advance(MINUTE)
  const full = await relay.findings()
  const resolve = (id?: string) =>
    relay.post(`/api/v1/messages/${id}/resolve`, { status: 'failed' })

  await resolve(lost[0])
  await relay.clock.advance(MINUTE)
  const one = await relay.findings()
  await resolve(lost[1])
  const two = await codes(relay)

  expect((await relay.lines())[0].new_contacts_today).toBe(3)
  expect(one).toMatchObject([{ code: 'limit_reached', about: { id: line.id } }])
  expect(one[0].since).toBe(full[0].since)
  expect(one[0].why).toStartWith('4 of 5 new contacts used today.')
  expect(two).toEqual([])
})

test('a limit of 0 and a line that is switched off are decisions, and no findings', async () => {
  await using relay = await startScripted()
  const { line } = relay
  await relay.limit(2)
  await sendTo(relay, 0, 2)
  const full = await codes(relay)

  await relay.patch(`/api/v1/phone-lines/${line.id}`, { is_enabled: false })
  const off = await codes(relay)
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { is_enabled: true })
  await relay.limit(0)

  expect(full).toEqual(['limit_reached'])
  expect(off).toEqual([])
  expect(await codes(relay)).toEqual([])
})

test('a practice line reports its limit, but not the failures that its numbers make on purpose', async () => {
  await using relay = await startScripted({ kind: 'simulated' })
  const { device } = relay
  device.script = FAILS
  await sendTo(relay, 0, 4)
  device.script = UNKNOWN
  await sendTo(relay, 4, 1)
  await relay.clock.advance(20 * MINUTE)
  const before = await codes(relay)

  await relay.limit(1)

  expect(before).toEqual([])
  expect(await codes(relay)).toEqual(['limit_reached'])
})

test('three failures among the sends of an hour are a finding with the latest reason, and two are not', async () => {
  await using relay = await startScripted()
  const { device, line } = relay
  await sendTo(relay, 0, 4)
  device.script = FAILS
  await sendTo(relay, 4, 2)
  const two = await codes(relay)
  await sendTo(relay, 6, 1)

  const [found, ...others] = await relay.findings()

  expect(two).toEqual([])
  expect(others).toEqual([])
  expect(found).toMatchObject({
    code: 'messages_failing',
    severity: 'warning',
    about: { kind: 'line', id: line.id },
  })
  expect(found.why).toBe(
    '3 of its last 7 messages in the past hour failed. Latest reason: The iMessage account of the line has a problem.',
  )
  await relay.clock.advance(HOUR)
  expect(await codes(relay)).toEqual([])
})

test('a line that sends again stays named until one failure is left among its last ten', async () => {
  await using relay = await startScripted()
  const { device } = relay
  device.script = FAILS
  await sendTo(relay, 0, 3)
  const failing = await codes(relay)
  device.script = accepts
  await relay.clock.advance(MINUTE)

  await sendTo(relay, 3, 8)
  const still = await codes(relay)
  await sendTo(relay, 11, 1)

  expect(failing).toEqual(['messages_failing'])
  expect(still).toEqual(['messages_failing'])
  expect(await codes(relay)).toEqual([])
})

test('recipients who are not on iMessage say nothing of the line', async () => {
  await using relay = await startScripted()
  const { device } = relay
  device.script = ends({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })

  await sendTo(relay, 0, 10)

  expect(await codes(relay)).toEqual([])
})

test('messages that are uncertain for ten minutes are counted, with the command that settles the oldest, until none is left', async () => {
  await using relay = await startScripted()
  const { device, line } = relay
  device.script = UNKNOWN
  const sent = [
    await relay.send({ to: recipient(1), text: 'one' }, ASYNC),
    await relay.send({ to: recipient(2), text: 'two' }, ASYNC),
  ]
  await relay.clock.advance(9 * MINUTE)
  const early = await codes(relay)
  await relay.clock.advance(2 * MINUTE)

  const [found] = await relay.findings('messages_uncertain')
  const whys: unknown[] = []
  for (const { body } of sent) {
    await relay.post(`/api/v1/messages/${body.id}/resolve`, { status: 'sent' })
    const left = await relay.findings('messages_uncertain')
    whys.push(left.map(({ why }) => why.match(/[0-9]+\./)?.[0]))
  }

  expect(early).toEqual([])
  expect(found).toMatchObject({ severity: 'warning', about: { kind: 'line', id: line.id } })
  expect(found.why).toContain('could not be confirmed as sent: 2.')
  expect(found.fix).toContain(`hookline messages resolve ${sent[0]?.body.id} sent|failed`)
  expect(whys).toEqual([['1.'], []])
})

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

/** A relay with a webhook whose receiver answers as the test asks, and a line that receives. */
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
