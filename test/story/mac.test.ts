// The whole relay with Messages behind it: one text out and in, crashes at any moment, and days on which
// something was down.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import type { Behaviour } from '../support/mac/script-behaviours.ts'
import type { Posted } from '../support/webhook-sink.ts'
import { FRIEND, MacBox } from './mac-relay.ts'

const HOUR_MS = 3_600_000
const ASYNC = { Prefer: 'respond-async' }
const LIFE = ['message.sent', 'message.delivered', 'message.read']

function eventsOf(posts: readonly Posted[]): readonly string[] {
  return posts.map(({ body }) => JSON.parse(body).event as string)
}

function textsOf(posts: readonly Posted[]): readonly string[] {
  return posts.map(({ body }) => JSON.parse(body).message.text as string)
}

test('whom Messages knows is no new contact, also where the relay never wrote to them', async () => {
  using box = new MacBox()
  box.model.receive(FRIEND, 'long before the relay')
  const { relay } = await box.start()
  await using _ = relay
  await relay.clock.advance(1_000)
  await relay.limit(0)

  const known = relay.send({ to: FRIEND, text: 'hello' })
  await relay.clock.advance(1_000)
  const stranger = await relay.send({ to: '+15550002222', text: 'hello' })

  expect((await known).status).toBe(200)
  expect(stranger.status).toBe(429)
})

/**
 * Moments of one message: accepted, while Messages is asked, while the script sends it, without a row, without a
 * chat, with both, sent, delivered, read.
 */
const CRASHES_MS = [0, 50, 105, 150, 200, 227, 242, 338, 512, 968, 1_458, 2_312]

test('a crash at any moment neither loses nor repeats a message, and reports each step once', async () => {
  for (const ms of CRASHES_MS) {
    using box = new MacBox()
    const before = await box.start()
    await before.relay.clock.advance(1_000)
    const sent = await before.relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
    box.clock.after(ms / 2, () => void box.model.receive(FRIEND, 'hello yourself'))
    await box.clock.advance(ms)
    const told = [...before.sink.posts]

    box.crash()
    const { relay, sink } = await box.start()
    await box.clock.advance(60_000)

    const message = await asOwner(relay, 'GET', `/messages/${sent.body.id}`)
    const posts = [...told, ...sink.posts]
    const ids = new Set(posts.map(({ id }) => id))
    const first = posts.filter(({ id }, index) => posts.findIndex((p) => p.id === id) === index)
    const isLost = box.model.carried('hello') === 0
    const moment = `crashed after ${ms} ms`
    expect({ moment, carried: box.model.carried('hello') <= 1 }).toEqual({ moment, carried: true })
    expect({ moment, status: message.status }).toEqual({
      moment,
      status: isLost ? 'uncertain' : 'read',
    })
    const life = isLost ? [] : LIFE
    expect({ moment, ids: ids.size }).toEqual({ moment, ids: life.length + 1 })
    expect(eventsOf(first).filter((event) => event !== 'message.received')).toEqual([...life])
  }
})

test('what came while the relay was down for two days is announced, however old it is by then', async () => {
  using box = new MacBox()
  await box.start()
  await box.clock.advance(1_000)
  box.crash()
  box.model.receive(FRIEND, 'first')
  box.clock.step(48 * HOUR_MS)
  box.model.receive(FRIEND, 'second')

  const { sink } = await box.start()
  await box.clock.advance(5_000)

  expect(textsOf(sink.posts)).toEqual(['first', 'second'])
})

test('what came while Messages was signed out for two days is announced when it comes in', async () => {
  using box = new MacBox()
  const { relay, sink } = await box.start()
  await using _ = relay
  await box.clock.advance(1_000)
  box.model.account.exists = false
  await box.clock.advance(301_000)

  const at = box.clock.now() + HOUR_MS
  box.clock.step(48 * HOUR_MS)
  box.model.account.exists = true
  await box.clock.advance(40_000)
  box.model.file.receive({ from: FRIEND, text: 'kept back by Apple', at })
  await box.clock.advance(5_000)

  expect(textsOf(sink.posts)).toEqual(['kept back by Apple'])
})

test('old messages that iCloud fills in are listed and never announced', async () => {
  using box = new MacBox()
  const { relay, sink } = await box.start()
  await using _ = relay
  await box.clock.advance(1_000)

  for (let i = 0; i < 60; i += 1) {
    const at = box.clock.now() - 40 * HOUR_MS + i
    box.model.file.receive({ from: FRIEND, text: `long ago ${i}`, at })
  }
  await box.clock.advance(5_000)

  const { data } = await relay.get('/api/v1/messages?limit=200')
  expect(data.length).toBe(60)
  expect(sink.posts).toEqual([])
})

test('a message that Messages never answered for is uncertain, and settled when its row appears', async () => {
  using box = new MacBox()
  const { relay, sink } = await box.start()
  await using _ = relay
  await box.clock.advance(1_000)
  box.model.nextSend('hang_then_deliver_late')

  const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await box.clock.advance(44_000)
  const during = await relay.message(body.id)
  await box.clock.advance(30_000)
  const after = await relay.message(body.id)

  expect(during.status).toBe('uncertain')
  expect(after).toMatchObject({ status: 'read', error: null })
  expect(eventsOf(sink.posts)).toEqual(LIFE)
  expect(box.model.carried('hello')).toBe(1)
})

// What Messages writes for one send in more than one row, with a crash of the relay between them.

type Listed = { readonly id: string; readonly status: string; readonly text: string }

/** Crashes `ms` after the send, and lists half a minute later what the relay has. */
async function crashed(behaviour: Behaviour, text: string, ms: number) {
  using box = new MacBox()
  const before = await box.start()
  await before.relay.clock.advance(1_000)
  box.model.behave(FRIEND, behaviour)
  await before.relay.send({ to: FRIEND, text }, ASYNC)
  await box.clock.advance(ms)
  box.crash()
  const { relay } = await box.start()
  await box.clock.advance(30_000)
  const { data } = await asOwner(relay, 'GET', '/messages?limit=200')
  const messages = (data as readonly Listed[]).map(({ status, text: told }) => `${status}: ${told}`)
  return { messages, carried: box.model.carried(text) }
}

for (const ms of [200, 1_000, 2_000]) {
  test(`a crash ${ms} ms after a send whose first row failed does not hide that the second went`, async () => {
    const { messages, carried } = await crashed('failed_then_clean_row', 'hello', ms)

    expect({ messages, carried }).toEqual({ messages: ['read: hello'], carried: 1 })
  })
}

test('the preview of a link of ours is no message that a person typed, also after a crash', async () => {
  const text = 'look at https://example.com/x'

  const { messages } = await crashed('url_split_in_two_rows', text, 600)

  expect(messages).toEqual([`read: ${text}`])
})

test('a message of ours that went to another person is not reported as typed, also after a crash', async () => {
  const { messages } = await crashed('misrouted', 'hello', 500)

  expect(messages).toHaveLength(1)
})
