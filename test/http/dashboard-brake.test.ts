// Wrong passwords over HTTP, on the test clock: whose they are, and what they are answered.

import { expect, test } from 'bun:test'

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
  relay.clock.step(HOUR)
  await guess(browser, 5)

  const answers = [
    await browser.post('/dashboard/session/elevate', { password: PASSWORD }),
    await browser.post('/dashboard/password', { current: PASSWORD, password: 'battery staple' }),
  ]

  expect(answers.map(outcome)).toEqual([LIMITED, LIMITED])
})
