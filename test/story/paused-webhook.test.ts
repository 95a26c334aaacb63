// A webhook that its user paused: nothing is delivered meanwhile, and the answer that resumes it says how many
// events came. That number is always the one that a replay since the pause sends.

import { expect, test } from 'bun:test'

import { ScriptedDriver, accepts } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { answered } from '../support/webhook-sink.ts'

const HOOK = { url: 'https://shop.example.com/hook', events: ['message.sent'] }

async function stage(more: object = {}) {
  const driver = new ScriptedDriver('simulated')
  for (const number of ['+12025550801', '+12025550802']) driver.add(number).script = accepts
  const posts: string[] = []
  const relay = await startRelay({
    drivers: [driver],
    post: async ({ url }) => {
      posts.push(url)
      return answered(200)
    },
  })
  const { id } = (await relay.post('/api/v1/webhooks', { ...HOOK, ...more })).body
  // An event of the same millisecond counts as an earlier one.
  await relay.clock.advance(1)
  const change = async (body: object): Promise<Json> =>
    (await relay.put(`/api/v1/webhooks/${id}`, body)).body
  const read = (): Promise<Json> => relay.get(`/api/v1/webhooks/${id}`)
  const replay = async (body: object): Promise<Json> =>
    (await relay.post(`/api/v1/webhooks/${id}/replay`, body)).body
  const dispose = () => relay[Symbol.asyncDispose]()
  return { relay, id, posts, change, read, replay, [Symbol.asyncDispose]: dispose }
}

/** Each message has one event `message.sent`. */
async function send(relay: TestRelay, count: number, line = 0): Promise<void> {
  const [first, second] = await relay.lines()
  const lineId = (line === 0 ? first : second).id
  for (let n = 0; n < count; n += 1) {
    const sending = relay.send({ to: `+1202555${n}147`, text: 'hello', phone_line_id: lineId })
    await relay.clock.advance(60_000)
    await sending
  }
}

test('resuming says how many events came since the pause, and a replay sends exactly those', async () => {
  await using at = await stage()
  await send(at.relay, 1)
  const paused = await at.change({ is_active: false })
  await send(at.relay, 3)
  const whilePaused = await at.read()
  const again = await at.change({ is_active: false, description: 'ERP' })
  const listed = (await at.relay.get('/api/v1/webhooks')).data[0]
  const before = at.posts.length

  const resumed = await at.change({ is_active: true })
  const silent = at.posts.length
  const twice = await at.change({ is_active: true })
  const { replayed } = await at.replay({ since: resumed.paused_at })
  await at.relay.clock.advance(1_000)

  const since = { paused_at: paused.updated_at, events_while_paused: 3 }
  expect([whilePaused, again, resumed]).toMatchObject([since, since, since])
  expect(listed).not.toHaveProperty('events_while_paused')
  expect([twice.paused_at, twice.events_while_paused]).toEqual([undefined, undefined])
  expect([before, silent, replayed, at.posts.length]).toEqual([1, 1, 3, 4])
})

type Stage = Awaited<ReturnType<typeof stage>>

/** What happens while it is paused, with the changes that go along with resuming it. */
const CASES: readonly (readonly [string, number, (at: Stage) => Promise<object>])[] = [
  ['nothing came', 0, async () => ({})],
  [
    'events of all kinds that it wants',
    2,
    async ({ relay }) => {
      await send(relay, 2)
      return { events: ['message.sent', 'message.failed'] }
    },
  ],
  [
    'only events that it no longer wants',
    0,
    async ({ relay }) => {
      await send(relay, 2)
      return { events: ['message.failed'] }
    },
  ],
  [
    'events of its own line and of another one',
    1,
    async ({ relay, change }) => {
      const [, second] = await relay.lines()
      await change({ phone_line_ids: [second.id] })
      await send(relay, 2)
      await send(relay, 1, 1)
      return {}
    },
  ],
  [
    'it has a new address from now on',
    2,
    async ({ relay }) => {
      await send(relay, 2)
      return { url: 'https://other.example.com/hook' }
    },
  ],
  [
    'an event was deleted, and the message of another one',
    1,
    async ({ relay }) => {
      await send(relay, 3)
      const { sqlite } = relay.db
      sqlite.run('DELETE FROM events WHERE seq = (SELECT min(seq) FROM events)')
      const gone = `message_id = 'msg_gone', body = NULL`
      sqlite.run(`UPDATE events SET ${gone} WHERE seq = (SELECT max(seq) FROM events)`)
      return {}
    },
  ],
  [
    'more events than are read at once',
    4_501,
    async ({ relay }) => {
      await send(relay, 1)
      relay.db.sqlite.run(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
         INSERT INTO events (id, name, body, created_at)
         SELECT 'evt_' || i, 'message.sent', '{}', (SELECT max(created_at) FROM events) FROM n`,
      )
      return {}
    },
  ],
]

test.each(CASES)('the number is what a replay would send: %s', async (_, count, pass) => {
  await using at = await stage({ is_active: false })
  const change = await pass(at)

  const resumed = await at.change({ is_active: true, ...change })

  const { would_replay } = await at.replay({ since: resumed.paused_at, dry_run: true })
  expect([resumed.events_while_paused, would_replay]).toEqual([count, count])
})

test('a webhook that the relay stopped keeps its events, and has not been paused by anyone', async () => {
  await using at = await stage()
  const stop = `UPDATE webhooks SET is_active = 0, disabled_reason = 'gone', updated_at = updated_at + 1`
  at.relay.db.sqlite.run(stop)
  const stopped = await at.read()

  const resumed = await at.change({ is_active: true })

  expect([stopped.paused_at, resumed.paused_at]).toEqual([undefined, undefined])
  expect(resumed).not.toHaveProperty('events_while_paused')
})

test('a pause by an earlier version, which noted no time, counts from the change that it was', async () => {
  await using at = await stage()
  await at.change({ is_active: false })
  at.relay.db.sqlite.run('UPDATE webhooks SET paused_at = NULL')
  const { updated_at } = await at.read()
  await send(at.relay, 2)
  await at.relay.post(`/api/v1/webhooks/${at.id}/rotate-secret`, {})
  await at.change({ description: 'ERP' })

  const resumed = await at.change({ is_active: true })

  expect(resumed).toMatchObject({ paused_at: updated_at, events_while_paused: 2 })
})
