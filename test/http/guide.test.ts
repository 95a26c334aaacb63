// The manual in a browser: pages that need no sign-in, and load nothing.

import { expect, test } from 'bun:test'

import { GUIDES } from '../../src/guides/guides.ts'
import { startHttp } from './http-relay.ts'

test('each guide is a page, whose links lead to the others, and the manual opens at the first', async () => {
  await using rig = await startHttp()
  const read = async (path: string) => {
    const response = await rig.call('GET', path)
    return { status: response.status, text: await response.text() }
  }

  for (const { name, title } of GUIDES) {
    const { status, text } = await read(`/guide/${name}`)

    expect([name, status]).toEqual([name, 200])
    expect(text).toContain(`<title>${Bun.escapeHTML(title)} · Hookline</title>`)
    expect(text).not.toMatch(/href="(?!\/|#|https:)/)
  }
  expect((await read('/guide')).text).toContain('<a href="/guide/mac" aria-current="page">')
  expect((await read('/guide/nonsense')).status).toBe(404)
})

test('a guide may load nothing, and its own style only', async () => {
  await using rig = await startHttp()

  const response = await rig.call('GET', '/guide/api')

  const text = await response.text()
  const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? ''
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
  expect(response.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'`,
  )
  expect(text).not.toContain('<script')
})
