// The manual as it goes out: pages that need no sign-in. What their scripts do is tested in a browser.

import { expect, test } from 'bun:test'

import type { Section } from '../../src/domain/manual-search.ts'
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

test('a guide loads only files of this relay, and its policy allows no others', async () => {
  await using rig = await startHttp()

  const response = await rig.call('GET', '/guide/api')

  const text = await response.text()
  const files = [...text.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  )
  const answers = await Promise.all(files.map((file) => rig.call('GET', file)))
  expect(response.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  expect(files).toEqual(['/icon.svg', '/swagger/manual.css', '/swagger/manual.js'])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  // Its policy would forbid a script or style of its own inside.
  expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/)
})

test('every picture of a guide is a file of this relay', async () => {
  await using rig = await startHttp()

  const places = new Set<string>()
  for (const { name } of GUIDES) {
    const text = await (await rig.call('GET', `/guide/${name}`)).text()
    for (const [, place = ''] of text.matchAll(/<img [^>]*src="([^"]*)"/g)) places.add(place)
  }
  const answers = []
  for (const place of places) {
    const { status, headers } = await rig.call('GET', place)
    answers.push([place, status, headers.get('content-type')])
  }

  expect(answers).toEqual([['/swagger/imports.svg', 200, 'image/svg+xml']])
})

test('the manual is read in order: each guide leads to the one before and the one after', async () => {
  await using rig = await startHttp()
  const neighborsOf = async (name: string) => {
    const text = await (await rig.call('GET', `/guide/${name}`)).text()
    const [, links = ''] = /<nav class="neighbors"[^>]*>(.*?)<\/nav>/.exec(text) ?? []
    return [...links.matchAll(/href="\/guide\/([^"]+)"/g)].map((match) => match[1])
  }

  const names = GUIDES.map(({ name }) => name)

  for (const [place, name] of names.entries()) {
    const around = [names[place - 1], names[place + 1]].filter((other) => other !== undefined)
    expect(await neighborsOf(name)).toEqual(around)
  }
})

test('a row of a table carries the names of its columns, for phones', async () => {
  await using rig = await startHttp()

  const text = await (await rig.call('GET', '/guide/mac')).text()

  expect(text).toContain('<tr><td>2</td><td data-title="do">Send a text from Messages')
})

test('the index of the search leads to sections that are there, and to operations', async () => {
  await using rig = await startHttp()
  const index = (await (await rig.call('GET', '/guide/search.json')).json()) as readonly Section[]
  const pages = new Map<string, string>()
  for (const { name } of GUIDES) {
    pages.set(`/guide/${name}`, await (await rig.call('GET', `/guide/${name}`)).text())
  }

  const dead = index.filter(({ href }) => {
    const [path = '', id] = href.split('#')
    if (path === '/swagger') return false
    return id !== undefined && pages.get(path)?.includes(` id="${id}"`) !== true
  })

  expect(dead).toEqual([])
  expect(index.length).toBeGreaterThan(200)
  expect(index).toContainEqual({
    href: '/swagger#/Messages/sendMessage',
    place: 'API',
    heading: 'Send a message',
    text: expect.stringContaining('POST /api/v1/messages/send Nothing is lost'),
  })
})
