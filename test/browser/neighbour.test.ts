// Another program on the same host: a browser sends it the dashboard's cookie, for cookies know no ports.
// That the cookie alone opens nothing is proven in test/http/dashboard-page-key.test.ts.

import { expect } from 'bun:test'

import { PASSWORD } from './signed-in.ts'
import { story } from './story.ts'

const COOKIE = /hookline_session=[A-Za-z0-9_-]{43}/

/** What a page of the neighbor gets by its own calls; a browser lets it read no answer of another origin. */
const ASK = `async (relay) => {
  const paths = ['/dashboard/api/keys', '/dashboard/events', '/dashboard/session']
  const answers = await Promise.all(paths.map((path) =>
    fetch(relay + path, { credentials: 'include' }).then((answer) => answer.text(), () => 'blocked')))
  return { answers, kept: localStorage.length }
}`

story('a page on another port of the host gets nothing with the cookie', async ({ stage }) => {
  const cookies: (string | null)[] = []
  await using neighbor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      cookies.push(request.headers.get('cookie'))
      return new Response('<!doctype html><title>n</title>', {
        headers: { 'content-type': 'text/html' },
      })
    },
  })
  const watched = await stage.page()
  await watched.show('home')
  const page = await watched.page.context().newPage()

  await page.goto(neighbor.url.href)
  const got = await page.evaluate<{ answers: string[]; kept: number }>(
    `(${ASK})(${JSON.stringify(stage.url)})`,
  )

  expect(cookies[0]).toMatch(COOKIE)
  expect(got).toEqual({ answers: ['blocked', 'blocked', 'blocked'], kept: 0 })
})

story('another tab is signed in too, a signed-out one is so in each tab', async ({ stage }) => {
  const first = await stage.page()
  await first.show('home')
  const second = await first.another()
  await second.show('keys')
  await second.heading('Keys').waitFor()

  stage.excuse(/status of 401/)
  await first.button('Sign out').click()
  await first.heading('Sign in').waitFor()
  await second.heading('Sign in').waitFor()

  const kept = await first.page.evaluate<string | null>("localStorage.getItem('hookline-page-key')")
  expect(kept).toBeNull()
})

story('if the browser keeps nothing, the page says so, and one tab signs in', async ({ stage }) => {
  const watched = await stage.strangersPage()
  await watched.page.addInitScript(`
    const blocked = { get: () => { throw new DOMException('blocked', 'SecurityError') } }
    Object.defineProperty(window, 'localStorage', blocked)
  `)
  stage.excuse(/status of 401/)

  await watched.page.goto('/#/keys')
  await watched.reads("Your browser isn't saving data for this page")
  await watched.field('Password').fill(PASSWORD)
  await watched.button('Sign in').click()
  await watched.heading('Keys').waitFor()
  await watched.page.reload()
  await watched.heading('Sign in').waitFor()
})
