// The pages whose scripts are not loaded at first: they are fetched ahead, hold their place until they
// come, and what happens where a script never does.

import { expect } from 'bun:test'

import { story } from './browser.ts'
import { COMPUTER, PHONE, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const LATER = ['conversations', 'keys', 'lines', 'settings', 'setup', 'webhooks']
const WEBHOOKS = '**/assets/webhooks-*.js'
const MISSING = "This page couldn't be loaded"
const SHIFT_MAX = 0.05

/** Keeps a script back until it is let go. */
async function hold({ page }: WatchedPage, glob: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(glob, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** How often the page itself was loaded. */
function countLoads({ page }: WatchedPage): () => number {
  let loads = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1
  })
  return () => loads
}

story('every page is fetched ahead, and opens even where the relay is gone meanwhile', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page({ viewport: COMPUTER })
  const fetched = LATER.map((name) => watched.page.waitForResponse(`**/assets/${name}-*.js`))
  await watched.show('home')
  await Promise.all(fetched)

  await stage.stopRelay()
  for (const name of ['Lines', 'Webhooks', 'Keys', 'Settings']) {
    await watched.page.getByRole('link', { name, exact: true }).click()
    await watched.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

    expect(await watched.page.getByText(MISSING).count()).toBe(0)
  }
})

for (const viewport of [PHONE, COMPUTER]) {
  story(`a page holds its place until its script comes, ${viewport.width} px wide`, async () => {
    await using stage = await Stage.open()
    const watched = await stage.page({ viewport })
    const letGo = await hold(watched, '**/assets/lines-*.js')

    await watched.page.goto('/#/lines')
    await watched.page.getByRole('heading', { level: 1, name: 'Lines' }).waitFor()
    await watched.page.locator('.skeleton-card').nth(1).waitFor()
    const meanwhile = await watched.overflow()
    letGo()
    await watched.reads('The Macs and iPhones')
    await watched.settle()

    expect(meanwhile.px).toBe(0)
    expect((await watched.shifts()).sum).toBeLessThan(SHIFT_MAX)
    expect(watched.faults).toEqual([])
  })
}

story('the focus goes to the heading of a page, also where its script comes late', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page({ viewport: COMPUTER })
  const letGo = await hold(watched, WEBHOOKS)
  await watched.show('home')

  await watched.page.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await watched.page.locator('h1:focus', { hasText: 'Webhooks' }).waitFor()
  letGo()
  await watched.reads('The relay sends events to these')

  await watched.page.locator('h1:focus', { hasText: 'Webhooks' }).waitFor()
})

story('a page whose script went with an older version is loaded afresh by itself', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page({ viewport: COMPUTER })
  const loads = countLoads(watched)
  await watched.page.route(WEBHOOKS, async (route) => {
    if (loads() > 1) await route.continue()
    else await route.fulfill({ status: 404, json: {} })
  })
  // Chromium does not ask again for a script that it did not get.
  const refused = watched.page.waitForResponse(WEBHOOKS)
  await watched.show('home')
  await refused

  await watched.page.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await watched.reads('No webhooks yet')

  expect(loads()).toBe(2)
  expect(await watched.page.evaluate<unknown>('history.state')).toBe(null)
})

story('a page whose script is gone for good says so, after one try', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page({ viewport: COMPUTER })
  await watched.page.route(WEBHOOKS, (route) => route.fulfill({ status: 404, json: {} }))
  const loads = countLoads(watched)

  await watched.page.goto('/#/webhooks')
  await watched.reads(MISSING)
  await watched.page.getByRole('link', { name: 'Home', exact: true }).click()
  await watched.page.getByRole('heading', { level: 1 }).waitFor()

  expect(loads()).toBe(2)
})

story(
  'a page whose script is missing while the relay is away does not lose the others',
  async () => {
    await using stage = await Stage.open()
    const watched = await stage.page({ viewport: COMPUTER })
    await watched.page.route(WEBHOOKS, (route) => route.abort())
    const loads = countLoads(watched)
    const fetched = watched.page.waitForResponse('**/assets/conversations-*.js')
    await watched.show('home')
    await fetched

    await stage.stopRelay()
    await watched.page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await watched.reads(MISSING)
    await watched.page.getByRole('link', { name: 'Conversations', exact: true }).click()
    await watched.page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor()

    expect(loads()).toBe(1)
  },
)
