// What the page says of messages that did not go out: the counts of Home, the lists that they lead to, and
// the steps of one message.

import { expect, test } from 'bun:test'

import { startDashboard } from '../http/dashboard-rig.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScriptedDriver, accepts, type SendScript } from '../support/scripted-driver.ts'

const DAY_MS = 86_400_000

const loses: SendScript = async (_message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  return { outcome: 'unknown', reason: 'no_word' }
}
const rejects: SendScript = async () => ({
  outcome: 'not_sent',
  reason: 'recipient_rejected',
  blame: 'message',
})

async function stage() {
  const driver = new ScriptedDriver('simulated')
  const device = driver.add('+12025550801')
  const relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()
  const send = async (script: SendScript, to: string) => {
    device.script = script
    const sending = relay.send({ to, text: 'hello' })
    await relay.clock.advance(1_000)
    return (await sending).body
  }
  const list = async (query: string) =>
    (await browser.get(`/dashboard/api/messages?type=all&${query}`)).body.data
  const attention = async () => (await (await relay.logIn()).get('/dashboard/attention')).body
  const times = async (id: string) => (await browser.get(`/dashboard/messages/${id}/times`)).body
  return {
    relay,
    send,
    list,
    attention,
    times,
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  }
}

test('each count of Home is the length of the list that it leads to, and failures leave it after a week', async () => {
  await using at = await stage()
  await at.send(accepts, '+12025550701')
  await at.send(rejects, '+12025550702')
  await at.send(rejects, '+12025550703')
  await at.send(loses, '+12025550704')
  const statuses = ['failed', 'expired', 'uncertain', 'queued']

  const counts = await at.attention()
  const lists = await Promise.all(
    statuses.map((status) => at.list(`status=${status}&ended_on_purpose=false`)),
  )
  at.relay.clock.doze(8 * DAY_MS)
  const later = await at.attention()

  expect(statuses.map((status) => counts[status])).toEqual(lists.map(({ length }) => length))
  expect(counts).toEqual({ approval: 0, failed: 2, expired: 0, uncertain: 1, queued: 0 })
  expect(later).toEqual({ approval: 0, failed: 0, expired: 0, uncertain: 1, queued: 0 })
})

test('what a person canceled, denied or marked as failed is no failure on Home, in its list and in the night', async () => {
  await using at = await stage()
  const own = (path: string, body = {}) => asOwner(at.relay, 'POST', `/messages/${path}`, { body })
  await at.send(rejects, '+12025550702')
  const lost = await at.send(loses, '+12025550704')
  await own(`${lost.id}/resolve`, { status: 'failed' })
  const send_at = new Date(at.relay.clock.now() + 3_600_000).toISOString()
  const later = await own('send', { to: '+12025550705', text: 'later', send_at })
  await asOwner(at.relay, 'DELETE', `/messages/${later.id}`)
  const { body: agent } = await at.relay.post('/api/v1/keys', {
    name: 'agent',
    rules: { approval: 'always' },
  })
  const { body: held } = await at.relay.request(
    'POST',
    '/api/v1/messages/send',
    { to: '+12025550706', text: 'may I?' },
    { 'X-API-Key': agent.key, 'X-API-Secret': agent.secret },
  )
  await own(`${held.id}/deny`)

  const counts = await at.attention()
  const failed = await at.list('status=failed&ended_on_purpose=false')
  const ended = await at.list('status=failed&ended_on_purpose=true')
  const night = await at.relay.get('/api/v1/timeline')
  const charts = (await (await at.relay.logIn()).get('/dashboard/pictures/home')).body

  expect(counts).toMatchObject({ failed: 1, uncertain: 0 })
  expect(failed).toHaveLength(1)
  expect(ended.map(({ error }: { error: { code: string } }) => error.code)).toEqual([
    'denied',
    'canceled',
    'resolved_by_hand',
  ])
  expect(night.summary).toMatchObject({ failed: 1, uncertain: 1 })
  expect(night.data).toContainEqual(
    expect.objectContaining({ action: 'message.denied', message_id: held.id }),
  )
  // A message that a person found unsent did fail; one that was called off was never to be sent.
  expect(charts.days.at(-1)).toMatchObject({ failed: 2, uncertain: 0 })
})

test('the counts, the state and the charts of Home follow a site', async () => {
  await using at = await stage()
  await at.send(rejects, '+12025550702')
  const owner = (method: string, path: string, body: object) =>
    asOwner(at.relay, method, path, { body })
  const empty = await owner('POST', '/sites', { name: 'Hamburg' })
  const berlin = await owner('POST', '/sites', { name: 'Berlin' })
  const line = (await at.relay.get('/api/v1/phone-lines')).data[0].id
  await owner('PATCH', `/phone-lines/${line}`, { site_id: berlin.id })
  const browser = await at.relay.logIn()

  const views = await Promise.all(
    [berlin, empty].map(async ({ id }) => {
      const [attention, state, charts] = await Promise.all(
        ['attention', 'state', 'pictures/home'].map(
          async (path) => (await browser.get(`/dashboard/${path}?site_id=${id}`)).body,
        ),
      )
      return [attention.failed, state.lines, charts.uptime.length, charts.days.at(-1).failed]
    }),
  )

  expect(views).toEqual([
    [1, 'The line is ready', 1, 1],
    [0, 'No lines', 0, 0],
  ])
})

test('the counts of a site have its oldest and its newest message among those of other lines, up to 1,000', async () => {
  await using at = await stage()
  await at.send(rejects, '+12025550702')
  const { id: site } = await asOwner(at.relay, 'POST', '/sites', { body: { name: 'Berlin' } })
  const line = (await at.relay.get('/api/v1/phone-lines')).data[0].id
  await asOwner(at.relay, 'PATCH', `/phone-lines/${line}`, { body: { site_id: site } })
  const browser = await at.relay.logIn()
  const failed = async () => (await browser.get(`/dashboard/attention?site_id=${site}`)).body.failed
  const { sqlite } = at.relay.db
  sqlite.run('PRAGMA foreign_keys = OFF')
  const columns = sqlite
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('messages')")
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== 'seq')
  const other = columns.map((name) => ({ id: 'id || n', line_seq: 'line_seq + 1' })[name] ?? name)
  sqlite.run(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1500)
    INSERT INTO messages (${columns.join()}) SELECT ${other.join()} FROM messages, n`)

  const oldest = await failed()
  sqlite.run('UPDATE messages SET line_seq = 3 - line_seq WHERE seq IN (1, 1501)')
  const newest = await failed()
  sqlite.run('UPDATE messages SET line_seq = 1')
  const all = await failed()

  expect([oldest, newest, all]).toEqual([1, 1, 1_000])
})

test('a message that was never handed over has no time of that, and an unknown one is no message', async () => {
  await using at = await stage()
  const sent = await at.send(accepts, '+12025550701')
  await at.send(rejects, '+12025550702')
  const [rejected] = await at.list('status=failed')

  const [of, never, unknown] = await Promise.all(
    [sent.id, rejected.id, 'msg_unknown'].map((id) => at.times(id)),
  )

  expect(of.handed_over_at >= sent.created_at).toBe(true)
  expect(never).toEqual({ handed_over_at: null })
  expect(unknown.error.code).toBe('not_found')
})

test('a list is narrowed to one service', async () => {
  await using at = await stage()
  await at.send(accepts, '+12025550701')

  const [imessage, sms] = await Promise.all(
    ['iMessage', 'SMS'].map((one) => at.list(`service=${one}`)),
  )

  expect([imessage.length, sms.length]).toEqual([1, 0])
})
