// The manual in a browser: pages that need no sign-in, and load nothing.

import { expect, test } from 'bun:test'

import { GUIDES } from '../../src/guides/guides.ts'
import { startRelay } from '../support/test-relay.ts'

async function page(path: string) {
  await using relay = await startRelay()
  const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
  const answer = await relay.app.http.fetch(
    new Request(`http://localhost${path}`, { headers: { host: 'localhost' } }),
    peer,
  )
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

test('each guide is a page, whose links lead to the others', async () => {
  for (const { name, title } of GUIDES) {
    const { status, text } = await page(`/guide/${name}`)

    expect([name, status]).toEqual([name, 200])
    expect(text).toContain(`<title>${Bun.escapeHTML(title)} · Hookline</title>`)
    expect(text).not.toMatch(/href="(?!\/|#|https:)/)
  }
})

test('the manual opens at its first guide', async () => {
  const { text } = await page('/guide')

  expect(text).toContain('<a href="/guide/mac" aria-current="page">')
})

test('a guide may load nothing, and its own style only', async () => {
  const { headers, text } = await page('/guide/api')
  const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? ''
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')

  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'`,
  )
  expect(text).not.toContain('<script')
})

test('a guide that is not there is not found', async () => {
  const { status, text } = await page('/guide/nonsense')

  expect(status).toBe(404)
  expect(JSON.parse(text).error.code).toBe('not_found')
})
