import { expect, test } from 'bun:test'

import { hintFor } from '../../src/webhooks/hints.ts'

const URL_FAR = 'https://shop.example.com/hook'

test('an attempt that was taken needs no hint', () => {
  const hints = [200, 204, 299].map((status_code) => hintFor({ status_code, error: null }, URL_FAR))

  expect(hints).toEqual([null, null, null])
})

const CAUSES: readonly (readonly [cause: string | number, title: string, advice: RegExp])[] = [
  ['timeout', 'No answer within 10 seconds', /right away/],
  ['connection_refused', 'Connection refused', /Nothing is listening/],
  ['connection_reset', 'Connection closed', /speaks https/],
  ['host_unreachable', "Can't reach the host", /Local Network/],
  ['tls_error', "The certificate isn't accepted", /expired/],
  ['dns_error', 'Host name not found', /typo/],
  ['forbidden_target', 'The relay may not call this address', /metadata/],
  ['invalid_url', "The URL can't be used", /settings/],
  ['network_error', 'Connection failed', /relay's log/],
  ['new_kind', 'Connection failed', /relay's log/],
  [302, 'Your endpoint redirects (302)', /not followed/],
  [400, 'Your endpoint refuses (400)', /signature/],
  [401, 'Your endpoint asks for a login (401)', /verify the signature/],
  [403, 'Your endpoint refuses access (403)', /firewall/],
  [404, 'Nothing at this path (404)', /path of the URL/],
  [405, "The path doesn't accept POST (405)", /POST/],
  [410, 'Your endpoint says that it is gone (410)', /stops delivering/],
  [418, 'Your endpoint refuses (418)', /signature/],
  [429, 'Your endpoint asks for a pause (429)', /continues/],
  [500, 'Your endpoint failed (500)', /its log/],
  [503, 'Your endpoint failed (503)', /retrying/],
]

for (const [cause, title, advice] of CAUSES) {
  test(`a failure by ${cause} is reported as its cause, and what to do`, () => {
    const [status_code, error] = typeof cause === 'number' ? [cause, null] : [null, cause]

    const hint = hintFor({ status_code, error }, URL_FAR)

    expect(hint?.title).toBe(title)
    expect(hint?.advice).toMatch(advice)
  })
}

test('a hint says whose machine a loopback address means if nothing listens there', () => {
  const cause = { status_code: null, error: 'connection_refused' }
  const own = ['http://127.0.0.1:8080/', 'http://localhost/x', 'http://[::1]:9/']

  const advices = own.map((url) => hintFor(cause, url)?.advice)

  for (const advice of advices) expect(advice).toEndWith('the machine of the relay itself.')
  expect(hintFor(cause, 'http://127.example.com/')?.advice).not.toContain('relay itself')
})
