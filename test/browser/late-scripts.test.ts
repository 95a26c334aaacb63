// The pages whose scripts are not loaded at first: they are fetched ahead, hold their place until they
// come, and what happens if a script never does.

import { expect } from 'bun:test'

import { COMPUTER, OUTAGE, PHONE } from './stage.ts'
import { story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const LATER = ['conversations', 'keys', 'lines', 'settings', 'setup']
const WEBHOOKS = '**/assets/webhooks-*.js'
const MISSING = "This page couldn't be loaded"
const SHIFT_MAX = 0.05

/** How often the page itself was loaded. */
function countLoads({ page }: WatchedPage): () => number {
  let loads = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1
  })
  return () => loads
}

story(
  'pages are fetched ahead and open without the relay, but for one not fetched',
  async ({ stage }) => {
    const watched = await stage.page({ viewport: COMPUTER })
    stage.excuse(OUTAGE)
    stage.excuse(/webhooks-\w+\.js/)
    await watched.page.route(WEBHOOKS, (route) => route.abort())
    const loads = countLoads(watched)
    const fetched = LATER.map((name) => watched.page.waitForResponse(`**/assets/${name}-*.js`))
    await watched.show('home')
    await Promise.all(fetched)

    await stage.stopRelay()
    await watched.link('Lines').click()
    await watched.heading('Lines').waitFor()
    await watched.link('Webhooks').click()
    await watched.reads(MISSING)
    for (const name of ['Conversations', 'Keys', 'Settings']) {
      await watched.link(name).click()
      await watched.heading(name).waitFor()

      expect(await watched.page.getByText(MISSING).count()).toBe(0)
    }

    expect(loads()).toBe(1)
  },
)

story(
  'a page holds its place until its script comes, on a phone and a computer',
  async ({ stage }) => {
    for (const viewport of [PHONE, COMPUTER]) {
      const watched = await stage.page({ viewport })
      const letGo = await watched.hold('**/assets/lines-*.js')

      await watched.page.goto('/#/lines')
      await watched.heading('Lines').waitFor()
      await watched.page.locator('.skeleton-card').nth(1).waitFor()
      const meanwhile = await watched.overflow()
      letGo()
      await watched.reads('The Macs and iPhones')
      await watched.settle()

      expect(meanwhile.px).toBe(0)
      expect((await watched.shifts()).sum).toBeLessThan(SHIFT_MAX)
    }
  },
)

story(
  'the focus goes to the heading of a page, also if its script comes late',
  async ({ stage }) => {
    const watched = await stage.page({ viewport: COMPUTER })
    const letGo = await watched.hold(WEBHOOKS)
    await watched.show('home')

    await watched.link('Webhooks').click()
    await watched.page.locator('h1:focus', { hasText: 'Webhooks' }).waitFor()
    letGo()
    await watched.reads('The relay sends events to these')

    await watched.page.locator('h1:focus', { hasText: 'Webhooks' }).waitFor()
  },
)

story(
  'a page whose script went with an older version is loaded afresh by itself',
  async ({ stage }) => {
    const watched = await stage.page({ viewport: COMPUTER })
    stage.excuse(/webhooks-\w+\.js/)
    const loads = countLoads(watched)
    await watched.page.route(WEBHOOKS, async (route) => {
      if (loads() > 1) await route.continue()
      else await route.fulfill({ status: 404, json: {} })
    })
    // Chromium does not ask again for a script that it did not get.
    const refused = watched.page.waitForResponse(WEBHOOKS)
    await watched.show('home')
    await refused

    await watched.link('Webhooks').click()
    await watched.reads('No webhooks yet')

    expect(loads()).toBe(2)
    expect(await watched.page.evaluate<unknown>('history.state')).toBe(null)
  },
)

story('a page whose script is gone for good says so, after one try', async ({ stage }) => {
  const watched = await stage.page({ viewport: COMPUTER })
  stage.excuse(/webhooks-\w+\.js/)
  await watched.page.route(WEBHOOKS, (route) => route.fulfill({ status: 404, json: {} }))
  const loads = countLoads(watched)

  await watched.page.goto('/#/webhooks')
  await watched.reads(MISSING)
  await watched.link('Home').click()
  await watched.page.getByRole('heading', { level: 1 }).waitFor()

  expect(loads()).toBe(2)
})
