// The rules of keys for their sends, on the real relay: recipients, and how many.

import { expect, test } from 'bun:test'

import { ANNA, BOB, HOUR_MS, errorOf, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

const ALLOWED: readonly [rules: Json, allowed: readonly string[]][] = [
  [{ recipients: 'known' }, ['known', 'recent']],
  [{ recipients: 'replied_within_24h' }, ['recent']],
  [{ recipients: 'list', allow: ['+12025550703'] }, ['new']],
  [{ recipients: 'replied_within_24h', allow: ['+12025550703'] }, ['new', 'recent']],
  [{ recipients: 'anyone' }, ['new', 'known', 'recent']],
]

test('the rules of a key decide who it may write to', async () => {
  await using relay = await openShop()
  const [first] = await idsOf(relay)
  const yesterday = (TEST_START - 25 * HOUR_MS) as never
  await relay.devices[0]?.receive({ guid: 'a', handle: ANNA as never, at: yesterday })
  await relay.devices[0]?.receive({ guid: 'b', handle: BOB as never, at: TEST_START as never })
  await relay.devices[1]?.receive({ guid: 'c', handle: '+12025550703' as never })
  const people = { new: '+12025550703', known: ANNA, recent: BOB }

  for (const [rules, allowed] of ALLOWED) {
    const key = await makeKey(relay, { phone_line_ids: [first], rules })
    const answers = await Promise.all(
      Object.entries(people).map(async ([who, to]) => [who, await key.send(to)] as const),
    )
    const accepted = answers.filter(([, { status }]) => status < 300).map(([who]) => who)
    const codes = answers.filter(([, { status }]) => status >= 300).map(([, each]) => errorOf(each))
    expect([rules, accepted]).toEqual([rules, allowed])
    expect(new Set(codes.map(([status, code]) => `${status} ${code}`)).size).toBeLessThan(2)
    if (rules.recipients === 'list')
      expect(codes[0]?.slice(0, 2)).toEqual([403, 'recipient_not_allowed'])
    await relay.clock.advance(1_000)
  }
})

test('so many sends an hour, counted once for each message, and also after a restart', async () => {
  const relay = await openShop()
  const key = await makeKey(relay, { rules: { sends_per_hour: 2, sends_per_day: 3 } })
  const once = { 'Idempotency-Key': 'order-1' }
  const send = (more: object = {}) =>
    key.call('POST', '/messages/send', { to: ANNA, text: 'hi' }, more)

  const statuses = [await send(once), await send(once), await send()]
  const third = await send()
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(errorOf(third)).toEqual([429, 'rate_limit_exceeded', { limit: 'key_hour', most: 2 }])
  expect(third.headers.get('retry-after')).toBe('3600')
  // A repeat is answered, whatever the rules say by then.
  expect((await send(once)).status).toBe(200)
  await relay[Symbol.asyncDispose]()

  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  await using again = await startRelay({
    drivers: [driver],
    database: relay.database,
    clock: relay.clock,
    key: relay.key,
  })
  const later = (body: object, more: object = {}) =>
    again.request('POST', '/api/v1/messages/send', body, { ...key.headers, ...more })
  expect((await later({ to: ANNA, text: 'x' })).body.error.details.limit).toBe('key_hour')
  await again.clock.advance(HOUR_MS)
  expect((await later({ to: ANNA, text: 'y' })).status).toBe(200)
  const day = await later({ to: ANNA, text: 'z' })
  expect(day.body.error.details).toEqual({ limit: 'key_day', most: 3 })
})

test('sends of a key count for the key that made it, and one that is full stops both', async () => {
  await using relay = await openShop()
  const maker = await makeKey(relay, { rules: { sends_per_hour: 2 } })
  const child = await makeKey(relay, {}, maker)
  const sister = await makeKey(relay, {}, maker)

  const answers = [
    await child.send(ANNA),
    await sister.send(BOB),
    await maker.send(ANNA),
    await child.send(ANNA),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429])
})
