// The places to which alerts go, and those to which they never go.

import { expect, test } from 'bun:test'

import { makeKey } from '../support/limited-keys.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { MINUTE, NTFY, PHONE, startAlerts } from './alerts-stage.ts'

const HOUR = 60 * MINUTE

test('with one line and that one dead, the second channel gets it, and the phone gets the truth afterwards', async () => {
  await using at = await startAlerts({ lines: ['online'] })
  await at.phone()
  await at.ntfy()
  await at.device.goOffline()

  await at.passes(50 * MINUTE)
  const away = [at.texts().length, at.posts().length]
  const [alert] = await at.alerts()
  await at.device.goOnline()
  await at.passes(MINUTE)

  expect(away).toEqual([0, 1])
  expect(alert.notices).toMatchObject([
    { status: 'done', error: null },
    { status: 'waiting', error: 'no_line' },
  ])
  expect(await at.findings('alerts_not_delivered')).toEqual([])
  expect(at.texts().map(({ text }) => text)).toEqual([
    expect.stringContaining('Over: The line +12025550801 is offline (after 50 minutes).'),
  ])
})

test('an alert goes by no line that it is about', async () => {
  await using at = await startAlerts({ lines: ['online', 'offline'] })
  await at.phone()
  // The second line is off, so the first one texts that; then it is off itself.
  await at.passes(6 * MINUTE)
  const before = at.texts().map(({ by }) => by)
  await at.device.goOffline()
  await at.passes(10 * MINUTE)

  expect(before).toEqual(['+12025550801'])
  expect(at.texts()).toHaveLength(1)
})

test('a practice line sends no alert in the place of a real one', async () => {
  const real = new ScriptedDriver('mac')
  const practice = new ScriptedDriver('simulated')
  real.add('+12025550801', false)
  const simulated = practice.add('+12025550802')
  await using at = await startAlerts({ drivers: [real, practice] })
  await at.phone()

  await at.passes(10 * MINUTE)

  expect(simulated.given).toEqual([])
  expect((await at.alerts())[0].notices).toMatchObject([{ status: 'waiting', error: 'no_line' }])
})

const SPELLINGS = [
  '+12025550801',
  '+1 (202) 555-0801',
  '0012025550801',
  '202-555-0801',
  'tel:+1.202.555.0801',
  '+12025550802',
]

for (const to of SPELLINGS) {
  test(`${to}, the number of an own line, is refused as the owner's phone`, async () => {
    await using at = await startAlerts()

    const { error } = await at.owner('POST', '/alerts/channels', { to })

    expect(error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining("the relay's own lines"),
    })
    expect((await at.owner('GET', '/alerts/channels')).data).toEqual([])
  })
}

test('a phone that becomes a line of the relay gets no alert any more, and the finding says so', async () => {
  await using at = await startAlerts()
  await at.phone()
  at.driver.add(PHONE)
  at.lookForDevices()
  await at.passes(MINUTE)
  await at.device.goOffline()

  await at.passes(30 * MINUTE)

  expect(at.devices.flatMap(({ given }) => given)).toEqual([])
  expect(await at.findings('alerts_not_delivered')).toMatchObject([
    { why: expect.stringContaining('the text to …0147: own_number.') },
  ])
})

test('a phone that opted out gets no alert, and the list and the finding say so', async () => {
  await using at = await startAlerts()
  await at.phone({ name: 'My phone' })
  await at.put(`/api/v1/opt-outs/${PHONE}`, {})
  await at.device.goOffline()

  await at.passes(25 * MINUTE)

  expect(at.texts()).toEqual([])
  expect(await at.alerts()).toMatchObject([
    { notices: [{ status: 'failed', error: 'recipient_opted_out' }] },
  ])
  expect(await at.findings('alerts_not_delivered')).toMatchObject([
    { why: expect.stringContaining('My phone: recipient_opted_out.') },
  ])
})

test('neither the quiet hours of a line nor its limit of new contacts hold an alert', async () => {
  await using at = await startAlerts()
  await at.limit(0)
  for (const { id } of await at.lines()) {
    await at.patch(`/api/v1/phone-lines/${id}`, { quiet_hours: { from: '00:00', to: '23:59' } })
  }
  await at.phone()
  await at.device.goOffline()

  await at.passes(6 * MINUTE)

  expect(at.texts()).toHaveLength(1)
})

test("the channel's own quiet hours hold an alert, which then says what became of it", async () => {
  await using at = await startAlerts()
  await at.phone({ quiet_hours: { from: '09:00', to: '11:00' } })
  await at.ntfy()
  await at.device.goOffline()
  await at.passes(20 * MINUTE)
  await at.device.goOnline()

  await at.passes(30 * MINUTE)
  const quiet = [at.texts().length, at.posts().length]
  await at.passes(15 * MINUTE)

  expect(quiet).toEqual([0, 2])
  expect(at.texts().map(({ text }) => text)).toEqual([
    'Hookline: 1 over\nOver: The line +12025550801 is offline (after 20 minutes). As of 11:00 (UTC).',
  ])
})

test('a channel that hangs delays no other', async () => {
  await using at = await startAlerts()
  for (const topic of ['a', 'b', 'c', 'd']) {
    await at.owner('POST', '/alerts/channels', { url: `https://hangs.example.com/${topic}` })
  }
  await at.phone()
  await at.ntfy()
  at.sink.answer = ({ url }) => (url.startsWith('https://hangs') ? 'hang' : 200)
  await at.device.goOffline()

  await at.passes(5 * MINUTE + 45_000)

  expect([at.texts().length, at.posts().length]).toEqual([1, 1])
})

test('an alert that an alert reached nobody does not keep itself alive', async () => {
  await using at = await startAlerts()
  await at.ntfy()
  at.sink.answer = () => 404
  await at.device.goOffline()
  await at.passes(50 * MINUTE)
  const causes = (await at.alerts()).map(({ cause }) => cause)

  at.sink.answer = () => 200
  await at.device.goOnline()
  await at.passes(5 * MINUTE)

  expect(causes).toEqual(['alerts_not_delivered', 'line_off'])
  expect(await at.findings('alerts_not_delivered')).toEqual([])
  expect((await at.alerts()).filter(({ resolved_at: end }) => end === null)).toEqual([])
})

test('a POST that fails is repeated with the same id and text, and given up at the end', async () => {
  await using at = await startAlerts()
  await at.ntfy()
  at.sink.answer = () => 503
  await at.device.goOffline()

  await at.passes(10 * HOUR)
  const alert = (await at.alerts()).at(-1)
  const tries = at.sink.posts
    .map(({ body, headers }) => [body, headers['idempotency-key'], headers['x-sequence-id']])
    .filter(([, id]) => id === at.sink.posts[0]?.headers['idempotency-key'])

  expect(tries).toHaveLength(10)
  expect(new Set(tries.map((one) => JSON.stringify(one))).size).toBe(1)
  expect(tries[0]?.[1]).toBe(alert.notices[0].id)
  expect(alert.notices).toMatchObject([{ status: 'failed', error: 'http_503', attempts: 10 }])
}, 300_000)

test('a new alert is tried at once while an older one is repeated, and when it arrives, the older one follows', async () => {
  await using at = await startAlerts({ lines: ['online', 'online', 'online'] })
  await at.ntfy()
  at.sink.answer = () => 503
  await at.device.goOffline()
  // The next repeat is two hours after the last one.
  await at.passes(3 * HOUR)
  const before = at.posts().length

  await at.second.goOffline()
  await at.passes(5 * MINUTE + 45_000)
  const tried = at.posts().slice(before)
  at.sink.answer = () => 200
  await at.passes(HOUR)

  expect(new Set(tried.map(({ message }) => message))).toEqual(
    new Set(['The line +12025550802 is offline (for 5 minutes). As of 13:05 (UTC).']),
  )
  expect(at.posts().slice(before + tried.length)).toMatchObject([
    { message: tried[0].message },
    { message: 'The line +12025550801 is offline (for 5 minutes). As of 10:05 (UTC).' },
    { message: '1 alert reached nobody (for 15 minutes). As of 10:35 (UTC).' },
    { title: 'Hookline: 1 over' },
  ])
})

test("Apprise's API gets its own form", async () => {
  await using at = await startAlerts()
  const url = 'https://apprise.example.com/notify/my-key?secret=x'
  const made = await at.owner('POST', '/alerts/channels', { url, form: 'apprise' })

  const testing = at.owner('POST', `/alerts/channels/${made.id}/test`, {})
  await at.passes(MINUTE)

  expect(made.url).toBe('https://apprise.example.com')
  expect(await testing).toMatchObject({ kind: 'test', status: 'done' })
  expect(at.sink.to(url).map(({ body }) => JSON.parse(body))).toEqual([
    {
      title: 'Hookline: test',
      body: 'This is a test of your alerts, made at 10:00 (UTC).',
      type: 'info',
      format: 'text',
      hookline_notice_id: expect.stringMatching(/^ntc_/),
    },
  ])
})

test('a test of a text is a message in its conversation', async () => {
  await using at = await startAlerts()
  const { id } = await at.phone()

  const testing = at.owner('POST', `/alerts/channels/${id}/test`, {})
  await at.passes(MINUTE)
  const tested = await testing

  expect(tested).toMatchObject({ status: 'done', text: expect.stringContaining('This is a test') })
  expect(await at.message(tested.message_id)).toMatchObject({ status: 'sent', handle: PHONE })
})

test('keys read alerts, the owner alone changes where they go, and no key sees a number or a URL', async () => {
  await using at = await startAlerts()
  const { id } = await at.phone()
  await at.ntfy()
  const key = await makeKey(at, { name: 'all' })
  const other = await makeKey(at, { name: 'send', scopes: ['send'] })

  const read = await key.call('GET', '/alerts/channels')
  const statuses = await Promise.all(
    [
      key.call('POST', '/alerts/channels', { to: '+12025550199' }),
      key.call('PATCH', `/alerts/channels/${id}`, { name: 'x' }),
      key.call('DELETE', `/alerts/channels/${id}`),
      key.call('POST', `/alerts/channels/${id}/test`, {}),
      key.call('PUT', '/alerts/rules', { cause: 'line_off', is_enabled: false }),
      other.call('GET', '/alerts'),
      key.call('GET', '/alerts'),
      key.call('GET', '/alerts/rules'),
    ].map(async (call) => (await call).status),
  )

  expect(read.body.data).toMatchObject([{ to: '…0147' }, { url: 'https://ntfy.example.com' }])
  expect(JSON.stringify(read.body)).not.toContain('my-alerts')
  expect(statuses).toEqual([405, 404, 404, 404, 405, 403, 200, 200])
})

test('a key that is limited to a line sees nothing of another one', async () => {
  await using at = await startAlerts({ lines: ['online', 'online', 'online'] })
  const [first, second, third] = await at.lines()
  await at.phone({ phone_line_id: third.id })
  await at.rule('line_off', { phone_line_ids: [first.id, second.id] })
  await at.device.goOffline()
  await at.second.goOffline()
  await at.passes(6 * MINUTE)
  const key = await makeKey(at, { name: 'first', phone_line_ids: [first.id] })

  const seen = await Promise.all(
    ['/alerts', '/alerts/channels', '/alerts/rules'].map((path) => key.get(path)),
  )

  expect(await at.alerts()).toHaveLength(2)
  expect(seen[0].data).toMatchObject([{ phone_line_id: first.id, notices: [{ text: null }] }])
  expect(JSON.stringify(seen)).not.toMatch(
    new RegExp([second.id, third.id, '5550802', '5550803'].join('|')),
  )
})

test('the URL of a channel is not stored in the clear, nor in the audit trail', async () => {
  await using at = await startAlerts()
  await at.owner('POST', '/alerts/channels', { url: `${NTFY}?auth=s3cret` })

  const stored = at.db.sqlite.query('SELECT * FROM alert_channels').all()
  const audited = at.db.sqlite.query('SELECT * FROM audit').all()

  expect(JSON.stringify([stored, audited])).not.toMatch(/my-alerts|s3cret/)
})

const WRONG: readonly (readonly [object, string])[] = [
  [{}, 'give either to'],
  [{ to: PHONE, url: NTFY }, 'give either to'],
  [{ to: 'anna@example.com' }, 'must be a phone number'],
  [{ to: '12' }, 'is no'],
  [{ url: 'ftp://x' }, 'must be an absolute http or https URL'],
  [{ url: 'https://ntfy.sh/' }, 'must end with a topic'],
  [{ url: 'https://u:p@ntfy.sh/topic' }, 'must not carry a user or password'],
  [{ to: PHONE, quiet_hours: { from: '09:00', to: '09:00' } }, 'must end at another time'],
]

for (const [body, words] of WRONG) {
  test(`a channel ${JSON.stringify(body)} is refused: ${words}`, async () => {
    await using at = await startAlerts()

    const { error } = await at.owner('POST', '/alerts/channels', body)

    expect(error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(words),
    })
  })
}

test('without a channel nothing is raised, and what was open is closed quietly', async () => {
  await using at = await startAlerts()
  const { id } = await at.ntfy()
  await at.device.goOffline()
  await at.passes(6 * MINUTE)
  await at.owner('DELETE', `/alerts/channels/${id}`)
  await at.passes(MINUTE)

  const [closed] = await at.alerts()
  await at.device.goOnline()
  await at.passes(10 * MINUTE)

  expect(closed.resolved_at).not.toBeNull()
  expect(closed.lasted_seconds).toBeGreaterThanOrEqual(6 * 60)
  expect(at.posts()).toHaveLength(1)
})
