// The QR codes that the page shows: what may be drawn, and that it says what was asked for.

import { expect, test } from 'bun:test'

import { encode } from 'uqr'

import { outcome, startDashboard } from './dashboard-rig.ts'

const LINK = 'sms:+12025550101?&body=Hookline%20test%20123456'

function path(text: string): string {
  return `/dashboard/qr?${new URLSearchParams({ text }).toString()}`
}

/** The modules of a drawing: one stroke `M<x> <y + ½>h<length>` for each run of dark ones. */
function modulesIn(svg: string): readonly (readonly boolean[])[] {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1])
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)\.5h(\d+)/g)) {
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(length))
  }
  return rows
}

test('a code says just what was asked for, with the quiet zone around it that scanners want', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  // A line can have an e-mail address in the place of a number.
  const links = [LINK, 'sms:front.desk@example.com?&body=Hello']

  for (const link of links) {
    const response = await browser.fetch('GET', path(link))

    expect(response.status).toBe(200)
    expect(modulesIn(await response.text())).toEqual(encode(link, { ecc: 'M', border: 4 }).data)
    // A picture that nothing keeps, and that could not run anything.
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    )
  }
})

const REFUSED = {
  nothing: '/dashboard/qr',
  'an address elsewhere': path('https://evil.example/'),
  'a text to nobody': path('sms:?&body=Hello'),
  'a text to many': path('sms:+12025550101,+12025550102?&body=Hello'),
  'a link with more behind it': path(`${LINK}&service=x`),
  'a link of another kind inside': path(`tel:+12025550101\n${LINK}`),
  'a text that is too long': path(`sms:+12025550101?&body=${'x'.repeat(301)}`),
  'two texts': `${path(LINK)}&text=x`,
  'more than a text': `${path(LINK)}&size=9`,
}

test('a code is drawn of one text to one person, and of nothing else', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()

  for (const [what, query] of Object.entries(REFUSED)) {
    const answer = await browser.get(query)

    expect([what, outcome(answer)]).toEqual([what, '400 invalid_request'])
  }
})
