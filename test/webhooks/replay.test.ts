import { expect, test } from 'bun:test'

import { payloadOf } from '../../src/webhooks/payload.ts'
import { settle } from '../support/test-clock.ts'
import { OWNER, ALL, codeOf, EVERYTHING, startRig, type Rig } from '../support/webhook-rig.ts'

const URL = 'https://receiver.example/hook'

/** What a replay of everything posts to a webhook. */
async function replayed(rig: Rig, webhookId: string): Promise<readonly string[]> {
  const begun = rig.sink.posts.length
  const queued = await rig.subscriptions.replay(webhookId, EVERYTHING, OWNER)
  await settle()
  const bodies = rig.sink.posts.slice(begun).map(({ body }) => body)
  expect(bodies).toHaveLength(queued)
  return bodies
}

/** The texts that a webhook was sent since `begun` posts. */
function textsSince(rig: Rig, begun: number): ReadonlySet<string> {
  return new Set(rig.sink.posts.slice(begun).map(({ body }) => JSON.parse(body).message.text))
}

/** A webhook made after one event, and since then one delivered, one unwanted and one given up. */
async function afterAFailure() {
  const rig = await startRig({ scheduleMs: [] })
  await rig.event('before')
  const { id } = await rig.webhook(URL, ['message.received'])
  await rig.event('succeeded')
  await rig.event('unwanted', 'message.sent')
  rig.sink.answer = () => 500
  await rig.event('exhausted')
  rig.sink.answer = () => 200
  return { rig, id, begun: rig.sink.posts.length }
}

test('a replay sends what was given up, and nothing from before the webhook unless that is asked for', async () => {
  const { rig, id, begun } = await afterAFailure()
  await using _ = rig

  const first = await rig.subscriptions.replay(id, { ...EVERYTHING, includesEarlier: false }, OWNER)
  await settle()
  const firstTexts = textsSince(rig, begun)
  const again = await rig.subscriptions.replay(id, { ...EVERYTHING, includesEarlier: false }, OWNER)
  const earlier = await rig.subscriptions.replay(id, EVERYTHING, OWNER)
  await settle()

  expect([first, again, earlier]).toEqual([1, 0, 1])
  expect(firstTexts).toEqual(new Set(['Message 4']))
  expect(textsSince(rig, begun + 1)).toEqual(new Set(['Message 1']))
})

test('a replay sends what happened while its owner had the webhook paused', async () => {
  await using rig = await startRig()
  const { id } = await rig.webhook()
  await rig.clock.advance(1_000)
  await rig.event('told')
  await rig.subscriptions.update(id, { is_active: false }, OWNER)
  await rig.event('missed')
  await rig.subscriptions.update(id, { is_active: true }, OWNER)
  await settle()

  const count = await rig.subscriptions.replay(id, { ...EVERYTHING, includesEarlier: false }, OWNER)
  await settle()

  expect(count).toBe(1)
  expect([...textsSince(rig, 0)]).toEqual(['Message 1', 'Message 2'])
})

test('a retry takes what was given up, whenever that was, and nothing else', async () => {
  const { rig, id, begun } = await afterAFailure()
  await using _ = rig
  await rig.clock.advance(86_400_000)
  await rig.subscriptions.sendTest(id)
  await settle()

  const count = await rig.subscriptions.retryFailed(id, EVERYTHING, OWNER)
  await settle()

  expect(count).toBe(1)
  expect(textsSince(rig, begun + 1)).toEqual(new Set(['Message 4']))
  expect(await rig.subscriptions.retryFailed(id, EVERYTHING, OWNER)).toBe(0)
  await rig.subscriptions.update(id, { is_active: false }, OWNER)
  const ofPaused = await codeOf(() => rig.subscriptions.retryFailed(id, EVERYTHING, OWNER))
  expect(ofPaused).toBe('webhook_inactive')
})

test('what is counted is what is sent, by the same filters, and counting changes nothing', async () => {
  await using rig = await startRig()
  for (const conversation of ['a', 'b', 'c']) {
    for (const name of ALL) await rig.event(conversation, name)
  }
  const { id } = await rig.webhook(URL, ['message.received', 'message.sent', 'message.read'])
  const filters = [
    { events: ['message.sent'], lineId: null },
    { events: ['message.failed'], lineId: null },
    { events: null, lineId: 'line_a' },
  ] as const

  const counts: (readonly [number, number, number])[] = []
  for (const filter of filters) {
    const dry = { ...EVERYTHING, ...filter, isDryRun: true }
    const counted = await rig.subscriptions.replay(id, dry, OWNER)
    const sentByCounting = rig.deliveries(id).length
    const begun = rig.sink.posts.length
    const sent = await rig.subscriptions.replay(id, { ...EVERYTHING, ...filter }, OWNER)
    await settle()
    expect(rig.sink.posts.length - begun).toBe(sent)
    counts.push([counted, sent, sentByCounting])
  }

  // Those of the first filter have a delivery when the last one comes.
  expect(counts).toEqual([
    [3, 3, 0],
    [0, 0, 3],
    [6, 6, 3],
  ])
})

test('what happened twice and was reported to nobody is counted once, as it is sent once', async () => {
  await using rig = await startRig()
  const message = await rig.event('a', 'message.sent')
  await rig.publish('message.sent', message)
  const { id } = await rig.webhook(URL)

  const counted = await rig.subscriptions.replay(id, { ...EVERYTHING, isDryRun: true }, OWNER)

  expect([counted, await rig.subscriptions.replay(id, EVERYTHING, OWNER)]).toEqual([1, 1])
})

test('a line that does not exist is refused, and not taken for one without events', async () => {
  await using rig = await startRig()
  const { id } = await rig.webhook(URL)

  const code = await codeOf(() =>
    rig.subscriptions.replay(id, { ...EVERYTHING, lineId: 'line_nobody' }, OWNER),
  )

  expect(code).toBe('phone_line_not_found')
})

test('a stopped replay leaves what is out, gives up what had failed, and forgets what was never tried', async () => {
  await using rig = await startRig({ scheduleMs: [] })
  for (let n = 0; n < 20; n += 1) await rig.event(`before ${n}`)
  const { id } = await rig.webhook(URL)
  rig.sink.answer = () => 500
  for (let n = 0; n < 4; n += 1) await rig.event('one after the other')
  const begun = rig.sink.posts.length
  rig.sink.answer = () => 'hang'
  await rig.subscriptions.replay(id, EVERYTHING, OWNER)
  await settle()
  const out = rig.sink.posts.length - begun
  const waiting = rig.subscriptions.countReplayed(id)

  const stopped = await rig.subscriptions.stopReplay(id, OWNER)
  await rig.clock.advance(60_000)

  // A receiver that never took anything gets one at a time.
  expect([out, waiting, stopped]).toEqual([1, 24, 23])
  expect(rig.sink.posts).toHaveLength(begun + out)
  expect(rig.subscriptions.countReplayed(id)).toBe(0)
  expect(rig.deliveries(id)).toHaveLength(4)
  expect(new Set(rig.deliveries(id).map(({ status }) => status))).toEqual(new Set(['exhausted']))
  rig.sink.answer = () => 200
  expect(await rig.subscriptions.replay(id, EVERYTHING, OWNER)).toBe(24)
})

test('what the loop has read ahead does not go out after a stop', async () => {
  await using rig = await startRig({ scheduleMs: [] })
  for (let n = 0; n < 20; n += 1) await rig.event(`before ${n}`)
  const { id } = await rig.webhook(URL)
  rig.sink.answer = () => 'hang'
  await rig.subscriptions.replay(id, EVERYTHING, OWNER)
  await settle()

  const stopped = await rig.subscriptions.stopReplay(id, OWNER)
  await rig.clock.advance(60_000)

  expect(stopped).toBe(19)
  expect(rig.sink.posts).toHaveLength(1)
})

test('a stopped replay puts nothing more on its way, and one of another webhook goes on', async () => {
  const rig = await startRig({ isRunning: false })
  for (let n = 0; n < 1_200; n += 1) await rig.event(`c${n % 50}`)
  const { id } = await rig.webhook(URL)
  const other = await rig.webhook('https://other.example/hook')

  const running = [id, other.id].map((one) => rig.subscriptions.replay(one, EVERYTHING, OWNER))
  const stopped = await rig.subscriptions.stopReplay(id, OWNER)
  const [queued = 0, queuedOther = 0] = await Promise.all(running)

  expect(queued).toBeLessThan(1_200)
  expect(stopped).toBe(queued)
  expect([id, other.id].map((one) => rig.subscriptions.countReplayed(one))).toEqual([0, 1_200])
  expect(queuedOther).toBe(1_200)
})

test('a replay that died half-way is gone on with by the same call', async () => {
  const rig = await startRig({ isRunning: false })
  for (let n = 0; n < 600; n += 1) await rig.event(`c${n % 50}`)
  const { id } = await rig.webhook(URL)
  const running = rig.subscriptions.replay(id, EVERYTHING, OWNER)
  await settle(4)
  rig.writer.close()
  await running.catch(() => {})
  const done = rig.deliveries(id).length

  const after = await startRig({ db: rig.db, isRunning: false })
  const waiting = after.subscriptions.countReplayed(id)
  const rest = await after.subscriptions.replay(id, EVERYTHING, OWNER)

  expect([done > 0, waiting + rest]).toEqual([true, 600])
})

test('what no webhook wanted is sent to one that comes later, as it would have been sent then', async () => {
  await using rig = await startRig()
  const published: string[] = []
  for (const name of ALL) published.push(payloadOf(name, await rig.event('a', name)))
  const { id } = await rig.webhook(URL)

  const told = await replayed(rig, id)

  expect(new Set(told)).toEqual(new Set(published))
  expect(await replayed(rig, id)).toEqual([])
})

test('an event that nobody is to get keeps no copy of its message, unless it may not be true later', async () => {
  await using rig = await startRig()

  for (const name of ALL) await rig.event('a', name)

  const kept = rig.db.sqlite
    .query<{ name: string }, []>('SELECT name FROM events WHERE body IS NOT NULL')
    .all()
  expect(kept).toEqual([{ name: 'message.failed' }])
})

test('every webhook gets the bytes that the first one got, whatever became of the message', async () => {
  await using rig = await startRig()
  const first = await rig.webhook('https://first.example/')
  await rig.event('a', 'message.sent')
  await rig.subscriptions.update(first.id, { is_active: false }, OWNER)
  await rig.event('b', 'message.sent')
  const second = await rig.webhook('https://second.example/')
  const toSecond = await replayed(rig, second.id)
  rig.db.sqlite.run("UPDATE messages SET service = 'SMS'")
  const third = await rig.webhook('https://third.example/')

  const toThird = await replayed(rig, third.id)

  expect(toSecond).toHaveLength(2)
  expect(new Set(toThird)).toEqual(new Set(toSecond))
})

test('an unsent event of a deleted message stays unsent; a sent one can be sent again', async () => {
  await using rig = await startRig()
  await rig.event('a')
  await rig.webhook('https://first.example/')
  await rig.event('b')
  rig.db.sqlite.run('DELETE FROM messages')
  const { id } = await rig.webhook(URL)

  const told = await replayed(rig, id)

  expect(told.map((body) => JSON.parse(body).message.text)).toEqual(['Message 2'])
})

test('an event that was sent, and happens once more while no webhook wants it, is sent once', async () => {
  await using rig = await startRig()
  const first = await rig.webhook('https://first.example/')
  const message = await rig.event('a', 'message.sent')
  await rig.subscriptions.remove(first.id, OWNER)
  await rig.publish('message.sent', message)
  const { id } = await rig.webhook(URL)

  const told = await replayed(rig, id)

  expect(told).toEqual([payloadOf('message.sent', message)])
})
