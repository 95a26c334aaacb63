// Sites: who changes them, what limits to them mean while lines move, and the days of lines in several time zones.

import { expect, test } from 'bun:test'

import { dayIn, heldAfter, startOfDay, type LineZone } from '../../src/domain/days.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'
import { makeKey, openShop, type Shop } from '../support/limited-keys.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { asOwner, makeSite, moveLine } from '../support/site-calls.ts'
import { TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const outcome = ({ status, body }: { status: number; body: Json }) =>
  body.error == null ? String(status) : `${status} ${body.error.code}`

async function twoSites(options: Parameters<typeof openShop>[0] = {}) {
  const shop = await openShop(options)
  const lines = (await shop.lines()).map(({ id }) => String(id))
  const [first = '', second = ''] = lines
  const [berlin, hamburg] = [await makeSite(shop, 'Berlin'), await makeSite(shop, 'Hamburg')]
  await moveLine(shop, first, berlin)
  await moveLine(shop, second, hamburg)
  return { ...shop, first, second, berlin, hamburg }
}

/** A person writes to the first line. */
async function receive({ devices, clock }: Shop, text: string): Promise<void> {
  void devices[0]?.receive({ guid: text, text })
  await clock.advance(100)
}

test('only the owner changes sites and moves lines, and each change is in the audit log', async () => {
  await using shop = await twoSites()
  const key = await makeKey(shop, {})
  const { first, hamburg } = shop

  const refused = [
    await key.call('POST', '/sites', { name: 'Bremen' }),
    await key.call('PATCH', `/sites/${hamburg}`, { name: 'Bremen' }),
    await key.call('DELETE', `/sites/${hamburg}`),
    await key.call('PATCH', `/phone-lines/${first}`, { site_id: hamburg }),
  ]
  const moved = await moveLine(shop, first, hamburg)
  const twice = await asOwner(shop, 'POST', '/sites', { name: ' HAMBURG ' })
  const unknown = await moveLine(shop, first, 'site_00000000000000000000000000')
  const { data } = await shop.get('/api/v1/audit?limit=1')

  expect(refused.map(({ status }) => status)).toEqual([405, 405, 405, 403])
  expect(moved.body.site_id).toBe(hamburg)
  expect([twice, unknown].map(outcome)).toEqual(['409 name_taken', '400 invalid_request'])
  expect(data[0]).toMatchObject({
    action: 'line.changed',
    before: { site_id: shop.berlin },
    after: { site_id: hamburg },
  })
})

test('a site that something is limited to is not deleted, and its lines are freed when it is', async () => {
  await using shop = await twoSites()
  const { berlin, hamburg } = shop
  const key = await makeKey(shop, { name: 'till', site_ids: [berlin] })

  const inUse = await asOwner(shop, 'DELETE', `/sites/${berlin}`)
  await shop.request('DELETE', `/api/v1/keys/${key.made.id}`)
  const done = await asOwner(shop, 'DELETE', `/sites/${berlin}`)
  const sites = await shop.get('/api/v1/sites')

  expect(outcome(inUse)).toBe('409 site_in_use')
  expect(inUse.body.error.details.used_by).toEqual([{ kind: 'key', id: key.made.id, name: 'till' }])
  expect(done.body).toEqual({ id: berlin, deleted: true })
  expect(sites.data.map(({ id, position }: Json) => [id, position])).toEqual([[hamburg, 0]])
  expect((await shop.lines())[0].site_id).toBeUndefined()
})

test('a key of a site makes keys and webhooks of its sites only, whatever they name', async () => {
  await using shop = await twoSites()
  const { first, second, berlin, hamburg } = shop
  const own = await makeKey(shop, { site_ids: [berlin] })

  const ofLine = await makeKey(shop, { phone_line_ids: [first] }, own)
  const plain = await makeKey(shop, {}, own)
  const beyond = [
    await makeKey(shop, { site_ids: [hamburg] }, own),
    await makeKey(shop, { phone_line_ids: [second] }, own),
  ]
  const hook = { url: 'https://hooks.example/a', events: ['message.received'] }
  const made = await own.call('POST', '/webhooks', { ...hook, phone_line_ids: [first] })
  const widened = await own.call('PUT', `/webhooks/${made.body.id}`, { site_ids: null })
  const lineKey = await makeKey(shop, { phone_line_ids: [first] })
  await moveLine(shop, first, hamburg)

  expect([ofLine.made.site_ids, plain.made.site_ids]).toEqual([[berlin], [berlin]])
  expect(beyond.map(({ status }) => status)).toEqual([400, 400])
  expect([made.body.site_ids, widened.body.site_ids]).toEqual([[berlin], [berlin]])
  expect((await ofLine.get('/phone-lines')).data).toEqual([])
  expect((await lineKey.get('/phone-lines')).data).toHaveLength(1)
  // What is limited to lines only may come to see more than a key of a site.
  expect((await own.get('/keys')).data.map(({ id }: Json) => id)).not.toContain(lineKey.made.id)
})

test('a delivery that waits is not made once its line has left the site of the webhook', async () => {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  sink.answer = () => 500
  await using shop = await twoSites({ clock, post: sink.post })
  const { first, berlin, hamburg, post, get } = shop
  const hook = { url: 'https://hooks.example/a', events: ['message.received'], site_ids: [berlin] }
  const { id } = (await post('/api/v1/webhooks', hook)).body
  await receive(shop, 'before')
  const tried = sink.posts.length

  await moveLine(shop, first, hamburg)
  sink.answer = () => 200
  await receive(shop, 'away')
  await clock.advance(2 * HOUR_MS)
  const { data } = await get(`/api/v1/webhooks/${id}/deliveries`)
  const again = await post(`/api/v1/webhook-deliveries/${data[0].id}/redeliver`, {})
  const retried = await post(`/api/v1/webhooks/${id}/retry-failed`, {})
  const since = { since: '2020-01-01T00:00:00.000Z', include_earlier: true }
  const replayed = await post(`/api/v1/webhooks/${id}/replay`, since)
  await clock.advance(HOUR_MS)
  const whileAway = sink.posts.length
  await moveLine(shop, first, berlin)
  await receive(shop, 'back')

  expect(tried).toBeGreaterThan(0)
  expect(whileAway).toBe(tried)
  expect(data.map(({ status }: Json) => status)).toEqual(['exhausted'])
  expect(outcome(again)).toBe('403 forbidden')
  expect([retried.body.retried, replayed.body.replayed]).toEqual([0, 0])
  expect(JSON.parse(sink.posts.at(-1)?.body ?? '').message.text).toBe('back')
})

test('a message that waits for any line of a site takes no line that has left it', async () => {
  await using shop = await twoSites()
  const { first, second, berlin, hamburg, devices, clock } = shop
  await moveLine(shop, second, berlin)
  const key = await makeKey(shop, { site_ids: [berlin] })
  void devices[0]?.goOffline()
  void devices[1]?.goOffline()
  await clock.advance(100)
  const sending = key.send('+12025550701')
  await clock.advance(60_000)
  const { body } = await sending
  const other = body.phone_line_id === first ? second : first

  await moveLine(shop, other, hamburg)
  void devices[other === first ? 0 : 1]?.goOnline()
  await clock.advance(HOUR_MS)
  const waiting = await shop.message(body.id)

  expect([waiting.status, waiting.phone_line_id]).toEqual(['queued', body.phone_line_id])
})

test('an export ends once its conversation has left the site of its reader', async () => {
  await using shop = await twoSites()
  const { first, berlin, hamburg, fetch, get } = shop
  for (let count = 0; count < 650; count += 1) {
    void shop.devices[0]?.receive({ guid: String(count), text: `text ${count}` })
  }
  await shop.clock.advance(5_000)
  const key = await makeKey(shop, { site_ids: [berlin] })
  const { data } = await get('/api/v1/conversations')
  const path = `/api/v1/conversations/${data[0].id}/export`
  const read = async (afterFirst: () => Promise<unknown>) => {
    const reader = (await fetch(path, { headers: key.headers })).body?.getReader()
    let text = ''
    for (let place = 0; ; place += 1) {
      const piece = await reader?.read().catch(() => null)
      if (piece == null || piece.done) return text
      text += String(
        piece.value instanceof Uint8Array ? new TextDecoder().decode(piece.value) : piece.value,
      )
      if (place === 1) await afterFirst()
    }
  }

  const whole = await read(async () => {})
  const cut = await read(() => moveLine(shop, first, hamburg))

  const isThere = [whole, cut].map((text) => text.includes('"text 500"'))
  expect(isThere).toEqual([true, false])
})

test('a line counts its day in the zone of its site, and a change of it brings no second budget', async () => {
  await using shop = await twoSites()
  const { first, berlin, clock } = shop
  await shop.limit(1)
  const send = (to: string) => shop.send({ to, text: 'hi', phone_line_id: first })
  const sent = async (to: string) => {
    const answer = send(to)
    await clock.advance(5_000)
    return outcome(await answer)
  }
  const usedOf = async () => (await shop.lines())[0].new_contacts_today

  const firstOne = await sent('+12025550701')
  // In Kiritimati it is tomorrow, and in Honolulu still today.
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Honolulu', 'Pacific/Kiritimati']) {
    await asOwner(shop, 'PATCH', `/sites/${berlin}`, { time_zone: zone })
    expect([zone, await usedOf(), await sent('+12025550702')]).toEqual([
      zone,
      1,
      '429 rate_limit_exceeded',
    ])
  }
  clock.doze(4 * DAY_MS)
  await clock.advance(60_000)
  const later = await sent('+12025550703')

  expect([firstOne, later]).toEqual(['200', '200'])
  expect(await usedOf()).toBe(1)
})

const ZONES = ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Honolulu', 'Asia/Kolkata']

test('however a zone changes, days never go back, and no two of them begin within 22 hours', () => {
  const random = new SeededRandom(5)
  for (let round = 0; round < 200; round += 1) {
    let now = startOfDay(20_000 + random.below(400), 'UTC')
    let at: LineZone = { zone: random.of(ZONES), held: null }
    let [day, began] = [dayIn(at, now), -Infinity]
    for (let step = 0; step < 200; step += 1) {
      now += HOUR_MS
      const next = dayIn(at, now)
      expect(next).toBeGreaterThanOrEqual(day)
      if (next > day) {
        expect(now - began).toBeGreaterThan(22 * HOUR_MS)
        ;[day, began] = [next, now]
      }
      if (random.chance() < 0.95) continue
      const zone = random.of(ZONES)
      if (zone !== at.zone) at = { zone, held: heldAfter(at, zone, now) }
      expect(dayIn(at, now)).toBe(day)
    }
  }
})
