// The cookie of a dashboard session, over HTTP and HTTPS.

import { expect, test } from 'bun:test'

import { outcome, PASSWORD, startDashboard } from './dashboard-rig.ts'

const KEYS = '/dashboard/api/keys'

const PUBLIC = { HOOKLINE_PUBLIC_URL: 'https://relay.example.com' }
const PROXY = { HOOKLINE_TRUSTED_PROXIES: '10.0.0.1' }
const FORWARDED = { 'x-forwarded-proto': 'https' }

/** For this site and no script, for seven days. */
const PLAIN = /^hookline_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/
const SECURE = new RegExp(`^__Host-${PLAIN.source.slice(1, -1)}; Secure$`)

for (const [name, environment, place, isSecure] of [
  ['nothing tells of https', {}, {}, false],
  ['the public url has https and is asked for', PUBLIC, { host: 'relay.example.com' }, true],
  ['a trusted proxy says https', PROXY, { address: '10.0.0.1', headers: FORWARDED }, true],
  ['the public url has https and another host is asked for', PUBLIC, {}, false],
  ['anyone else says https', PROXY, { address: '10.0.0.2', headers: FORWARDED }, false],
  ['a trusted proxy says nothing', PROXY, { address: '10.0.0.1' }, false],
] as const) {
  test(`the cookie is ${isSecure ? '' : 'not '}for HTTPS only where ${name}`, async () => {
    await using relay = await startDashboard({ environment })
    const browser = await relay.claim(place)

    const answer = await browser.post('/dashboard/session', { password: PASSWORD })

    expect(answer.headers.get('set-cookie')).toMatch(isSecure ? SECURE : PLAIN)
    expect(await browser.state()).toMatchObject({ state: 'signed_in' })
  })
}

test('a cookie without __Host- opens nothing over HTTPS: a sibling could have set it', async () => {
  await using relay = await startDashboard({ environment: PUBLIC })
  const { cookie } = await relay.claim()
  const secure = relay.browser({ host: 'relay.example.com' })
  secure.cookie = cookie

  expect(await secure.state()).toMatchObject({ state: 'signed_out' })
  expect(outcome(await secure.get(KEYS))).toBe('401 signed_out')
})
