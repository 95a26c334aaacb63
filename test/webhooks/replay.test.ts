import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { payloadOf } from '../../src/webhooks/payload.ts'
import { settle, TEST_START } from '../support/test-clock.ts'
import { ALL, startRig, type Rig } from '../support/webhook-rig.ts'

const URL = 'https://receiver.example/hook'
const EVER = timestamp(TEST_START)

/** What a replay of everything posts to a webhook. */
async function replayed(rig: Rig, webhookId: string): Promise<readonly string[]> {
  const begun = rig.sink.posts.length
  const queued = await rig.subscriptions.replay(webhookId, EVER)
  await settle()
  const bodies = rig.sink.posts.slice(begun).map(({ body }) => body)
  expect(bodies).toHaveLength(queued)
  return bodies
}

test('a replay sends what was exhausted since, and what the webhook has no delivery of', async () => {
  const rig = await startRig({ scheduleMs: [] })
  await rig.event('before')
  await rig.clock.advance(1_000)
  await rig.event('missed')
  const { id } = await rig.webhook(URL, ['message.received'])
  await rig.event('succeeded')
  await rig.event('unwanted', 'message.sent')
  rig.sink.answer = () => 500
  await rig.event('exhausted')
  rig.sink.answer = () => 200
  const begun = rig.sink.posts.length

  const replayed = await rig.subscriptions.replay(id, timestamp(TEST_START + 1_000))
  await settle()

  const texts = rig.sink.posts.slice(begun).map(({ body }) => JSON.parse(body).message.text)
  expect(replayed).toBe(2)
  expect(new Set(texts)).toEqual(new Set(['Message 2', 'Message 5']))
  expect(await rig.subscriptions.replay(id, timestamp(TEST_START + 1_000))).toBe(0)
  await rig.stop()
})

test('what no webhook wanted is told to one that comes later, as it would have been told then', async () => {
  const rig = await startRig()
  const published: string[] = []
  for (const name of ALL) published.push(payloadOf(name, await rig.event('a', name)))
  const { id } = await rig.webhook(URL)

  const told = await replayed(rig, id)

  expect(new Set(told)).toEqual(new Set(published))
  expect(await replayed(rig, id)).toEqual([])
  await rig.stop()
})

test('an event that nobody is to get keeps no copy of its message, unless it may not be true later', async () => {
  const rig = await startRig()

  for (const name of ALL) await rig.event('a', name)

  const kept = rig.db.sqlite.query<{ body: string }, []>('SELECT body FROM events').all()
  expect(kept.map(({ body }) => JSON.parse(body).event)).toEqual(['message.failed'])
  await rig.stop()
})

test('every webhook gets the bytes that the first one got, whatever became of the message', async () => {
  const rig = await startRig()
  const first = await rig.webhook('https://first.example/')
  await rig.event('a', 'message.sent')
  await rig.subscriptions.update(first.id, { isActive: false })
  await rig.event('b', 'message.sent')
  const second = await rig.webhook('https://second.example/')
  const toSecond = await replayed(rig, second.id)
  rig.db.sqlite.run("UPDATE messages SET service = 'SMS'")
  const third = await rig.webhook('https://third.example/')

  const toThird = await replayed(rig, third.id)

  expect(toSecond).toHaveLength(2)
  expect(new Set(toThird)).toEqual(new Set(toSecond))
  await rig.stop()
})

test('what nobody was told of a deleted message stays untold; what somebody was told can be told again', async () => {
  const rig = await startRig()
  await rig.event('a')
  await rig.webhook('https://first.example/')
  await rig.event('b')
  rig.db.sqlite.run('DELETE FROM messages')
  const { id } = await rig.webhook(URL)

  const told = await replayed(rig, id)

  expect(told.map((body) => JSON.parse(body).message.text)).toEqual(['Message 2'])
  await rig.stop()
})

test('what was told, and happens once more while nobody is to be told, is told once', async () => {
  const rig = await startRig()
  const first = await rig.webhook('https://first.example/')
  const message = await rig.event('a', 'message.sent')
  await rig.subscriptions.remove(first.id)
  await rig.publish('message.sent', message)
  const { id } = await rig.webhook(URL)

  const told = await replayed(rig, id)

  expect(told).toEqual([payloadOf('message.sent', message)])
  await rig.stop()
})
