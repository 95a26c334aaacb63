// The time zone of the shop: the days of its limits begin and end there. The clock starts at 10:00 UTC.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { startScripted } from '../support/scripted-relay.ts'

const HOUR = 3_600_000
const KOLKATA = { body: { value: 'Asia/Kolkata' } }

function recipient(number: number): string {
  return `+1202555${String(1_000 + number)}`
}

test('at midnight of the shop the limit begins anew, and its error and finding say when that is', async () => {
  await using relay = await startScripted()
  await relay.limit(1)
  await asOwner(relay, 'PUT', '/settings/time_zone', KOLKATA)
  await relay.send({ to: recipient(1), text: 'hello' })

  const refused = await relay.send({ to: recipient(2), text: 'hello' })
  const [finding] = await relay.findings('limit_reached')
  relay.clock.doze(8 * HOUR)
  await relay.clock.advance(0.5 * HOUR - 1_000)
  const before = await relay.send({ to: recipient(2), text: 'hello' })
  await relay.clock.advance(1_000)
  const after = await relay.send({ to: recipient(2), text: 'hello' })

  expect(refused.body.error.details.resets_at).toBe('2026-11-21T18:30:00.000Z')
  expect(refused.headers.get('Retry-After')).toBe(String(8.5 * 3_600))
  expect(finding.fix).toContain('Wait until midnight in Asia/Kolkata')
  expect([before.status, after.status]).toEqual([429, 200])
})

test('a message that waits for its day goes at once where the day of a new zone is another one', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  const { device } = relay
  await relay.limit(1)
  for (const n of [1, 2]) await relay.send({ to: recipient(n), text: 'hello' })
  await device.goOnline()
  relay.clock.doze(8 * HOUR)
  await relay.clock.advance(HOUR)
  const sentInUtc = device.sent.length

  await asOwner(relay, 'PUT', '/settings/time_zone', KOLKATA)
  await relay.clock.advance(1_000)

  expect([sentInUtc, device.sent.length]).toEqual([1, 2])
})

test('what is no name of a time zone is refused, and the setting stays', async () => {
  await using relay = await startScripted()

  const set = await asOwner(relay, 'PUT', '/settings/time_zone', { body: { value: '+02:00' } })
  const asked = await relay.request('GET', '/api/v1/stats?time_zone=Nowhere%2FCity')
  const { data } = await asOwner(relay, 'GET', '/settings')

  const message = 'must be the IANA name of a time zone, such as Europe/Berlin or UTC'
  expect(set.error.details.issues ?? set.error).toMatchObject([{ path: 'value', message }])
  expect(asked.body.error.details.issues ?? asked.body.error).toMatchObject([
    { path: 'time_zone', message },
  ])
  expect(data).toContainEqual({
    name: 'time_zone',
    value: 'UTC',
    from: 'default',
    is_locked: false,
  })
})
