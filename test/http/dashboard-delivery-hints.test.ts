import { expect, test } from 'bun:test'

import { hintFor } from '../../src/http/dashboard-delivery-hints.ts'

const URL_FAR = 'https://shop.example.com/hook'

test('an attempt that was taken needs no hint', () => {
  const hints = [200, 204, 299].map((status_code) => hintFor({ status_code, error: null }, URL_FAR))

  expect(hints).toEqual([null, null, null])
})

const CAUSES: readonly (readonly [error: string, title: string, advice: RegExp])[] = [
  ['timeout', 'No response within 10 seconds', /respond with 200 immediately/],
  ['connection_refused', 'Connection refused', /Nothing is listening there/],
  ['connection_reset', 'Connection lost', /https port/],
  ['host_unreachable', 'Host unreachable', /Local Network/],
  ['tls_error', 'Certificate not accepted', /expired/],
  ['dns_error', 'Unknown host name', /typos/],
  ['forbidden_target', 'Address not allowed', /metadata/],
  ['invalid_url', 'Invalid URL', /settings/],
  ['network_error', 'Connection failed', /relay's log/],
]

for (const [error, title, advice] of CAUSES) {
  test(`${error} is told as its cause, and what to do`, () => {
    const hint = hintFor({ status_code: null, error }, URL_FAR)

    expect(hint?.title).toBe(title)
    expect(hint?.advice).toMatch(advice)
  })
}

const STATUSES: readonly (readonly [status: number, title: string, advice: RegExp])[] = [
  [302, 'Endpoint redirects (302)', /not followed/],
  [400, 'Endpoint rejected the event (400)', /signature/],
  [401, 'Endpoint requires sign-in (401)', /verify the signature instead/],
  [403, 'Endpoint denied access (403)', /firewall/],
  [404, 'Path not found (404)', /path in the URL/],
  [405, 'POST not accepted (405)', /POST/],
  [410, 'Endpoint returned 410 Gone', /stops delivering/],
  [418, 'Endpoint rejected the event (418)', /signature/],
  [429, 'Endpoint is limiting requests (429)', /automatically/],
  [500, 'Endpoint failed (500)', /its logs/],
  [503, 'Endpoint failed (503)', /keep retrying/],
]

for (const [status_code, title, advice] of STATUSES) {
  test(`an answer of ${status_code} is told as its cause, and what to do`, () => {
    const hint = hintFor({ status_code, error: null }, URL_FAR)

    expect(hint?.title).toBe(title)
    expect(hint?.advice).toMatch(advice)
  })
}

test('whose machine a loopback address means is told where nothing listens there', () => {
  const cause = { status_code: null, error: 'connection_refused' }
  const own = ['http://127.0.0.1:8080/', 'http://localhost/x', 'http://[::1]:9/']

  const advices = own.map((url) => hintFor(cause, url)?.advice)

  for (const advice of advices) expect(advice).toEndWith('the computer that runs the relay.')
  expect(hintFor(cause, 'http://127.example.com/')?.advice).not.toContain('relay itself')
})

test('a failure of a kind that the page does not know is a failed connection', () => {
  expect(hintFor({ status_code: null, error: 'new_kind' }, URL_FAR)?.title).toBe(
    'Connection failed',
  )
})
