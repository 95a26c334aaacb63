// The documentation of the API as its reader sees it.

import { expect } from 'bun:test'

import { COMPUTER, PHONE, TOUCH } from './stage.ts'
import { story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

story(
  'the documentation is dark as the system or the dashboard says, and leads back',
  async ({ stage }) => {
    const watched = await stage.page({ viewport: PHONE, colorScheme: 'dark' })

    await open(watched)
    const isDarkBySystem = await isDark(watched)
    await watched.link('Dashboard').click()
    await watched.heading('Everything works').waitFor()
    await watched.show('settings')
    await watched.page.getByText('Light', { exact: true }).click()
    await open(watched)

    expect([isDarkBySystem, await isDark(watched)]).toEqual([true, false])
  },
)

story(
  'the owner who is signed in gets a key by one click, and it sends',
  async ({ stage, api }) => {
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    await open(watched, '#/Messages/sendMessage')

    await watched.button('Use a key for one hour').click()
    await watched.reads('The forms below use a key that ends in an hour.')
    await watched.button('Execute').click()
    await page.locator('.live-responses-table').getByText('"status": "sent"').waitFor()

    const { data } = await api.ask<{ data: readonly MadeKey[] }>('GET', '/api/v1/keys')
    const made = data.find(({ name }) => name === 'API page')
    expect(made?.expires_at).toBeString()
    expect(made?.scopes).toContain('messages:send')
    expect(made?.scopes).not.toContain('keys:write')
  },
)

story('a stranger is offered no key, and enters an own one', async ({ stage, api }) => {
  const watched = await stage.strangersPage({ viewport: COMPUTER })
  const key = await api.ask<{ key: string; secret: string }>('POST', '/api/v1/keys', { name: 'x' })
  await open(watched, '#/Keys/getOwnKey')

  await watched.field('X-API-Key').fill(key.key)
  await watched.field('X-API-Secret').fill(key.secret)
  await watched.button('Use this key').click()
  await watched.button('Execute').click()
  await watched.page.locator('.live-responses-table').getByText('"name": "x"').waitFor()

  expect(await watched.button('Use a key for one hour').isVisible()).toBe(false)
})

story('each operation shows its request in three languages', async ({ stage }) => {
  const watched = await stage.strangersPage({ viewport: COMPUTER })
  await open(watched, '#/Messages/sendMessage')
  const request = watched.page.getByRole('region', { name: 'Request' }).locator('code')
  const url = `${stage.url}/api/v1/messages/send`

  const curl = await request.innerText()
  await watched.button('TypeScript').click()
  const typescript = await request.innerText()
  await watched.button('Python').click()
  const python = await request.innerText()

  expect(curl).toStartWith(`curl -X POST '${url}' \\\n  -H 'X-API-Key: YOUR_KEY' \\\n`)
  expect(curl).toEndWith(`"text": "Your table is ready."\n}'`)
  expect(typescript).toStartWith(`const response = await fetch("${url}", {\n  method: "POST",\n`)
  expect(python).toContain(`requests.post(\n    "${url}",\n    headers={\n`)
})

story('the documentation fits a phone, and everybody can use it', async ({ stage }) => {
  const phone = await stage.page({ viewport: PHONE, ...TOUCH })
  const night = await stage.page({ viewport: COMPUTER, colorScheme: 'dark' })

  await open(phone, '#/Messages/sendMessage')
  await open(night, '#/Webhooks/createWebhook')

  expect((await phone.overflow()).parts).toEqual([])
  expect(await phone.accessibilityFaults('all')).toEqual([])
  expect(await night.accessibilityFaults('all')).toEqual([])
})

type MadeKey = {
  readonly name: string | null
  readonly expires_at: string | null
  readonly scopes: readonly string[]
}

async function open({ page }: WatchedPage, hash = ''): Promise<void> {
  await page.goto(`/swagger${hash}`)
  await page.locator('.opblock-tag').first().waitFor()
  if (hash !== '') await page.locator('.responses-table').first().waitFor()
}

/** Whether its words are brighter than half. */
function isDark({ page }: WatchedPage): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const { color } = getComputedStyle(document.querySelector('.swagger-ui .opblock-tag'))
    return Number(color.match(/\\d+/)[0]) > 127
  })()`)
}
