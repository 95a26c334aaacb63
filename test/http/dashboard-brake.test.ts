// Wrong passwords over HTTP, on the test clock: whose they are, and what they are answered.

import { expect, test } from 'bun:test'

import { openDatabase } from '../../src/storage/database.ts'
import { TestClock } from '../support/test-clock.ts'
import { outcome, PASSWORD, startDashboard, type Browser } from './dashboard-rig.ts'

const HOUR = 3_600_000
const LIMITED = '429 rate_limit_exceeded'

async function guess(browser: Browser, times: number): Promise<readonly string[]> {
  const outcomes: string[] = []
  while (outcomes.length < times) {
    outcomes.push(outcome(await browser.post('/dashboard/session', { password: 'wrong horse' })))
  }
  return outcomes
}

test('the sixth wrong password in a row is not looked at, nor the right one then', async () => {
  await using relay = await startDashboard()
  await relay.claim()
  const browser = relay.browser()

  const guesses = await guess(browser, 6)
  const right = await browser.post('/dashboard/session', { password: PASSWORD })
  await relay.clock.advance(1_000)
  const later = await browser.post('/dashboard/session', { password: PASSWORD })

  expect(guesses).toEqual([...Array<string>(5).fill('401 wrong_password'), LIMITED])
  expect(outcome(right)).toBe(LIMITED)
  expect(right.headers.get('retry-after')).toBe('1')
  expect(right.body.error.details).toEqual({ limit: 'wrong_passwords', retry_after_seconds: 1 })
  expect(outcome(later)).toBe('200')
})

test('many guesses at the same time get five answers', async () => {
  await using relay = await startDashboard()
  await relay.claim()

  const answers = await Promise.all(Array.from({ length: 20 }, () => guess(relay.browser(), 1)))

  expect(answers.flat().filter((one) => one !== LIMITED)).toHaveLength(5)
})

test('one address slows no other, and X-Forwarded-For is believed of trusted proxies only', async () => {
  const environment = { HOOKLINE_TRUSTED_PROXIES: '10.0.0.1' }
  await using relay = await startDashboard({ environment })
  await relay.claim()
  const behind = (address: string, client: string) =>
    relay.browser({ address, headers: { 'x-forwarded-for': client } })
  await guess(behind('10.0.0.1', '192.168.1.7'), 5)
  await guess(behind('10.0.0.2', '192.168.1.8'), 5)

  const outcomes = [
    ...(await guess(behind('10.0.0.1', '192.168.1.7'), 1)),
    ...(await guess(relay.browser({ address: '192.168.1.7' }), 1)),
    ...(await guess(behind('10.0.0.1', '192.168.1.9'), 1)),
    ...(await guess(behind('10.0.0.2', '192.168.1.9'), 1)),
    ...(await guess(relay.browser({ address: '192.168.1.8' }), 1)),
  ]

  expect(outcomes).toEqual([LIMITED, LIMITED, '401 wrong_password', LIMITED, '401 wrong_password'])
})

test('the password asked for again is slowed alike, and so is the one that is changed', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  relay.clock.doze(HOUR)
  for (let wrong = 0; wrong < 5; wrong += 1) {
    await browser.post('/dashboard/session/elevate', { password: 'wrong horse' })
  }

  const answers = [
    await browser.post('/dashboard/session/elevate', { password: PASSWORD }),
    await browser.post('/dashboard/password', { current: PASSWORD, password: 'battery staple' }),
  ]

  expect(answers.map(outcome)).toEqual([LIMITED, LIMITED])
})

/** Wrong passwords from so many networks that strangers get no more this minute. */
async function exhaust(
  relay: Awaited<ReturnType<typeof startDashboard>>,
  block = '198.51.100',
): Promise<void> {
  for (let host = 1; host <= 7; host += 1) {
    await guess(relay.browser({ address: `${block}.${host}` }), 5)
  }
  const [last] = await guess(relay.browser({ address: `${block}.99` }), 1)
  expect(last).toBe(LIMITED)
}

const logIn = (browser: Browser, password = PASSWORD) =>
  browser.post('/dashboard/session', { password })

test('strangers keep nobody out who signed in from there lately, nor this machine', async () => {
  await using relay = await startDashboard()
  const home = await relay.claim({ address: '203.0.113.7' })
  await logIn(relay.browser({ address: '2001:db8:1:2::3' }))
  await exhaust(relay)

  const outcomes = [
    outcome(await logIn(relay.browser({ address: '203.0.113.7' }))),
    outcome(await logIn(relay.browser({ address: '2001:db8:1:2:ffff::1' }))),
    outcome(await logIn(relay.browser())),
    outcome(await home.post('/dashboard/session/elevate', { password: PASSWORD })),
    outcome(await logIn(relay.browser({ address: '203.0.113.8' }))),
    outcome(await logIn(relay.browser({ address: '2001:db8:1:3::3' }))),
  ]
  const { body } = await logIn(relay.browser({ address: '203.0.113.8' }))

  expect(outcomes).toEqual(['200', '200', '200', '200', LIMITED, LIMITED])
  // The way in on the machine itself.
  expect(body.error.message).toContain('hookline setup-link')
})

test('IPv6 addresses of one network of 64 bits count as one, and a proxied stranger is not this machine', async () => {
  await using relay = await startDashboard()
  await relay.claim()
  const proxied = { headers: { 'x-forwarded-proto': 'https' } }
  const outcomes: string[] = []

  for (let host = 1; host <= 6; host += 1) {
    outcomes.push(...(await guess(relay.browser({ address: `2001:db8:0:7::${host}` }), 1)))
  }
  const stranger = await guess(relay.browser(proxied), 6)
  const here = outcome(await logIn(relay.browser()))

  expect(outcomes).toEqual([...Array<string>(5).fill('401 wrong_password'), LIMITED])
  expect(stranger).toEqual(outcomes)
  expect(here).toBe('200')
})

test('who signed in is known over a restart, for 30 days, and 100 networks at most', async () => {
  const database = openDatabase(':memory:', { version: 'test' })
  const clock = new TestClock()
  const first = await startDashboard({ database, clock })
  await first.claim({ address: '203.0.113.1' })
  // Networks of as many sign-ins, one a second.
  const later = 'INSERT INTO dashboard_networks (network, signed_in_at) VALUES (?, ?)'
  for (let host = 2; host <= 100; host += 1) {
    clock.doze(1_000)
    database.db.sqlite.run(later, [`203.0.113.${host}`, clock.now()])
  }
  clock.doze(1_000)
  await logIn(first.browser({ address: '203.0.113.101' }))
  await first[Symbol.asyncDispose]()
  await using relay = await startDashboard({ database, clock, key: first.key, seed: 2 })

  await exhaust(relay)
  const soon = [1, 2, 101].map((host) => relay.browser({ address: `203.0.113.${host}` }))
  const outcomes = []
  for (const browser of soon) outcomes.push(outcome(await logIn(browser)))
  clock.doze(30 * 24 * HOUR)
  await clock.advance(60_000)
  await exhaust(relay, '192.0.2')
  const late = outcome(await logIn(relay.browser({ address: '203.0.113.50' })))

  expect(outcomes).toEqual([LIMITED, '200', '200'])
  expect(late).toBe(LIMITED)
})
