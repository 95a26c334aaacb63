// The password that is asked for again after an hour, and the one that is changed.

import { expect, test } from 'bun:test'

import { outcome, PASSWORD, startDashboard } from './dashboard-rig.ts'

const HOUR = 3_600_000
const KEYS = '/dashboard/api/keys'
const WEBHOOK = { url: 'https://shop.example.com/hooks', events: ['message.received'] }

/** What asks for the password again after an hour, and what it answers before that. */
const ELEVATED: readonly (readonly [string, string, unknown, string])[] = [
  ['POST', KEYS, { name: 'shop' }, '201'],
  ['POST', `${KEYS}/`, {}, '201'],
  ['DELETE', `${KEYS}/key_unknown`, undefined, '404 not_found'],
  ['POST', '/dashboard/api/bridges', { phone_number: '12' }, '400 invalid_request'],
  ['POST', '/dashboard/api/bridges/brg_unknown/token', {}, '404 not_found'],
  ['DELETE', '/dashboard/api/bridges/brg_unknown', undefined, '404 not_found'],
  ['POST', '/dashboard/api/webhooks', WEBHOOK, '201'],
  ['POST', '/dashboard/api/webhooks/wh_unknown/rotate-secret', {}, '404 not_found'],
  ['GET', '/dashboard/api/backups/unknown.db', undefined, '404 not_found'],
  ['PUT', '/dashboard/api/settings/webhook_targets', { value: 'public' }, '200'],
  ['PUT', '/dashboard/api/settings/open_metrics', { value: 'on' }, '200'],
  ['PUT', '/dashboard/api/settings/heartbeat_url', { value: 'none' }, '200'],
]

for (const [method, path, body, otherwise] of ELEVATED) {
  test(`${method} ${path} asks for the password again after an hour`, async () => {
    await using relay = await startDashboard()
    const browser = await relay.claim()
    const ask = async () => outcome(await browser.ask(method, path, { body }))

    const early = await ask()
    relay.clock.doze(HOUR)
    const late = await ask()
    const elevated = await browser.post('/dashboard/session/elevate', { password: PASSWORD })
    const again = await ask()

    expect([early, late, again]).toEqual([otherwise, '403 password_needed', otherwise])
    expect(elevated.body).toMatchObject({ elevated_until: '2026-11-21T12:00:00.000Z' })
  })
}

test('what lasts no longer than a look needs no password again', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  relay.clock.doze(HOUR)

  const answers = [
    await browser.get(KEYS),
    await browser.get('/dashboard/api/backups'),
    await browser.get('/dashboard/api/webhooks'),
    await browser.put('/dashboard/setup-step', { step: 'line' }),
  ]

  expect(answers.map(outcome)).toEqual(Array(4).fill('200'))
  expect(await browser.state()).toMatchObject({ state: 'signed_in', elevated_until: null })
})

test('a wrong password elevates nothing', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  relay.clock.doze(HOUR)

  const answer = await browser.post('/dashboard/session/elevate', { password: 'wrong horse' })

  expect(outcome(answer)).toBe('401 wrong_password')
  expect(outcome(await browser.post(KEYS, {}))).toBe('403 password_needed')
})

test('a changed password ends all other sessions and opens the next', async () => {
  await using relay = await startDashboard()
  const here = await relay.claim()
  const there = await relay.logIn()
  const next = relay.browser()
  const change = { current: PASSWORD, password: 'battery staple' }

  const answer = await here.post('/dashboard/password', change)

  expect(answer.body).toMatchObject({ state: 'signed_in' })
  expect([outcome(await here.get(KEYS)), outcome(await there.get(KEYS))]).toEqual([
    '200',
    '401 signed_out',
  ])
  expect([
    outcome(await next.post('/dashboard/session', { password: PASSWORD })),
    outcome(await next.post('/dashboard/session', { password: 'battery staple' })),
  ]).toEqual(['401 wrong_password', '200'])
})

test('a password is changed by who knows it, for one of 12 to 200 characters', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const change = (current: string, password: string) =>
    browser.post('/dashboard/password', { current, password })

  const answers = [
    await change('wrong horse', 'battery staple'),
    await change(PASSWORD, 'x'.repeat(11)),
    await change(PASSWORD, 'x'.repeat(201)),
    await change(PASSWORD, '123456789012'),
    await change('123456789012', '\u{1f40e}'.repeat(200)),
  ]

  expect(answers.map(outcome)).toEqual([
    '401 wrong_password',
    '400 invalid_request',
    '400 invalid_request',
    '200',
    '200',
  ])
})
