// The password that is asked for again after an hour, and the one that is changed.

import { expect, test } from 'bun:test'

import { outcome, PASSWORD, startDashboard } from './dashboard-rig.ts'

const HOUR = 3_600_000
const KEYS = '/dashboard/api/keys'

test('the right password asked for again opens for another hour what asks for it', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const ask = async () => [
    outcome(await browser.post(KEYS, { name: 'shop' })),
    outcome(await browser.post(`${KEYS}/`, {})),
    outcome(await browser.delete(`${KEYS}/key_unknown`)),
    outcome(await browser.put('/dashboard/api/settings/open_metrics', { value: 'on' })),
  ]

  const early = await ask()
  relay.clock.doze(HOUR)
  const late = await ask()
  const wrong = await browser.post('/dashboard/session/elevate', { password: 'wrong horse' })
  const state = await browser.state()
  const still = await ask()
  const elevated = await browser.post('/dashboard/session/elevate', { password: PASSWORD })
  const again = await ask()

  expect(early).toEqual(['201', '201', '404 not_found', '200'])
  expect([late, still]).toEqual(Array(2).fill(Array(4).fill('403 password_needed')))
  expect(outcome(wrong)).toBe('401 wrong_password')
  expect(state).toMatchObject({ state: 'signed_in', elevated_until: null })
  expect(elevated.body).toMatchObject({ elevated_until: '2026-11-21T12:00:00.000Z' })
  expect(again).toEqual(early)
})

test('a password is changed by who knows it, and ends all other sessions and opens the next', async () => {
  await using relay = await startDashboard()
  const here = await relay.claim()
  const there = await relay.logIn()
  const next = relay.browser()
  const change = { current: PASSWORD, password: 'battery staple' }

  const refused = [
    await here.post('/dashboard/password', { ...change, current: 'wrong horse' }),
    await here.post('/dashboard/password', { ...change, password: 'x'.repeat(11) }),
    await here.post('/dashboard/password', { ...change, password: 'x'.repeat(201) }),
  ]
  const answer = await here.post('/dashboard/password', change)

  expect(refused.map(outcome)).toEqual([
    '401 wrong_password',
    '400 invalid_request',
    '400 invalid_request',
  ])
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
