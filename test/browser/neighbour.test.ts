// Another program on the same host: a browser sends it the dashboard's cookie, for cookies know no ports.

import { expect } from 'bun:test'

import { story } from './browser.ts'
import { PASSWORD, Stage } from './stage.ts'

const COOKIE = /hookline_session=[A-Za-z0-9_-]{43}/

/** What a page of the neighbour gets by its own calls; a browser lets it read no answer of another origin. */
const ASK = `async (relay) => {
  const paths = ['/dashboard/api/keys', '/dashboard/events', '/dashboard/session']
  const answers = await Promise.all(paths.map((path) =>
    fetch(relay + path, { credentials: 'include' }).then((answer) => answer.text(), () => 'blocked')))
  return { answers, kept: localStorage.length }
}`

/** A program on another port, which keeps the cookie that it is sent, and asks the relay with it. */
function startNeighbour(relayUrl: string) {
  const got = { cookie: '' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      got.cookie ||= request.headers.get('cookie') ?? ''
      return new Response('<!doctype html><title>n</title>', {
        headers: { 'content-type': 'text/html' },
      })
    },
  })
  const ask = async (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    (
      await fetch(relayUrl + path, {
        method,
        headers: { cookie: got.cookie, 'sec-fetch-site': 'same-origin', ...headers },
      })
    ).status
  return { url: `http://127.0.0.1:${server.port}/`, got, ask, stop: () => server.stop(true) }
}

story('a page on another port of the host gets nothing with the cookie', async () => {
  await using stage = await Stage.open()
  const watched = await stage.strangersPage()
  await watched.page.goto('/')
  await watched.page.getByLabel('Password').fill(PASSWORD)
  await watched.button('Sign in').click()
  await watched.link('Home').waitFor()
  const neighbour = startNeighbour(stage.url)
  const page = await watched.page.context().newPage()

  await page.goto(neighbour.url)
  const inside = await page.evaluate<{ answers: string[]; kept: number }>(
    `(${ASK})(${JSON.stringify(stage.url)})`,
  )
  const outside = [
    await neighbour.ask('GET', '/dashboard/api/keys'),
    await neighbour.ask('GET', '/dashboard/events'),
    await neighbour.ask('POST', '/dashboard/api/keys'),
    await neighbour.ask('GET', '/dashboard/api/keys', { 'x-hookline-page-key': 'guessed' }),
  ]
  await neighbour.stop()

  expect(neighbour.got.cookie).toMatch(COOKIE)
  expect(inside).toEqual({ answers: ['blocked', 'blocked', 'blocked'], kept: 0 })
  expect(outside).toEqual([401, 401, 401, 401])
})

story('another tab is signed in too, a signed-out one is so in each tab', async () => {
  await using stage = await Stage.open()
  const first = await stage.page()
  await first.show('home')
  const second = await first.another()
  await second.show('keys')
  await second.heading('Keys').waitFor()

  await first.show('settings')
  await first.button('Sign out').click()
  await first.heading('Sign in').waitFor()
  await second.heading('Sign in').waitFor()

  const kept = await first.page.evaluate<string | null>("localStorage.getItem('hookline-page-key')")
  expect(kept).toBeNull()
})

story(
  'where the browser keeps nothing, the page says so, and one tab can be signed in',
  async () => {
    await using stage = await Stage.open()
    const watched = await stage.strangersPage()
    await watched.page.addInitScript(`
    const blocked = { get: () => { throw new DOMException('blocked', 'SecurityError') } }
    Object.defineProperty(window, 'localStorage', blocked)
  `)

    await watched.page.goto('/#/keys')
    await watched.reads("Your browser isn't saving data for this page")
    await watched.page.getByLabel('Password').fill(PASSWORD)
    await watched.button('Sign in').click()
    await watched.heading('Keys').waitFor()
    await watched.page.reload()
    await watched.heading('Sign in').waitFor()

    expect(watched.faults.filter((fault) => fault.startsWith('thrown'))).toEqual([])
  },
)
