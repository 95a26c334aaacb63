import { expect, test } from 'bun:test'

import { hintFor } from '../../src/http/dashboard-delivery-hints.ts'

const URL_FAR = 'https://shop.example.com/hook'

test('an attempt that was taken needs no hint', () => {
  const hints = [200, 204, 299].map((status_code) => hintFor({ status_code, error: null }, URL_FAR))

  expect(hints).toEqual([null, null, null])
})

const CAUSES: readonly (readonly [error: string, title: string, advice: RegExp])[] = [
  ['timeout', 'No answer within 10 seconds', /answer at once with 200/],
  ['connection_refused', 'Connection refused', /Nothing listens there/],
  ['connection_reset', 'The connection broke off', /speaks https/],
  ['host_unreachable', 'The host cannot be reached', /Local Network/],
  ['tls_error', 'The certificate is not accepted', /expired/],
  ['dns_error', 'The name is not known', /slip in the URL/],
  ['forbidden_target', 'The relay may not call this address', /metadata/],
  ['invalid_url', 'The URL cannot be used', /settings/],
  ['network_error', 'The connection failed', /log of the relay/],
]

for (const [error, title, advice] of CAUSES) {
  test(`${error} is told as its cause, and what to do`, () => {
    const hint = hintFor({ status_code: null, error }, URL_FAR)

    expect(hint?.title).toBe(title)
    expect(hint?.advice).toMatch(advice)
  })
}

const STATUSES: readonly (readonly [status: number, title: string, advice: RegExp])[] = [
  [302, 'The receiver sends elsewhere (302)', /not followed/],
  [400, 'Your endpoint refuses (400)', /signature/],
  [401, 'The receiver wants a log-in (401)', /check the signature instead/],
  [403, 'The receiver does not let the relay in (403)', /firewall/],
  [404, 'There is nothing at this path (404)', /path of the URL/],
  [405, 'The path takes no POST (405)', /POST/],
  [410, 'The receiver says that it is gone for good (410)', /stops delivering/],
  [418, 'Your endpoint refuses (418)', /signature/],
  [429, 'The receiver asks for a pause (429)', /by itself/],
  [500, 'The receiver failed (500)', /its log/],
  [503, 'The receiver failed (503)', /by itself/],
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

  for (const advice of advices) expect(advice).toEndWith('the machine of the relay itself.')
  expect(hintFor(cause, 'http://127.example.com/')?.advice).not.toContain('relay itself')
})

test('a failure of a kind that the page does not know is a failed connection', () => {
  expect(hintFor({ status_code: null, error: 'new_kind' }, URL_FAR)?.title).toBe(
    'The connection failed',
  )
})
