// The documentation of the API as its reader sees it.

import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'

import { story } from './browser.ts'
import { PHONE, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const SCREENSHOTS = `${import.meta.dir}/screenshots`

story(
  'the documentation is dark as the system is, or as chosen in the dashboard, and leads back',
  async () => {
    await using stage = await Stage.open()
    const watched = await stage.page({ viewport: PHONE, colorScheme: 'dark' })
    mkdirSync(SCREENSHOTS, { recursive: true })

    await open(watched)
    await watched.page.screenshot({ path: `${SCREENSHOTS}/swagger-dark-phone.png` })
    const isDarkBySystem = await isDark(watched)
    await watched.page.getByRole('link', { name: 'Back to the dashboard' }).click()
    await watched.heading('Everything works').waitFor()
    await watched.show('settings')
    await watched.page.getByText('Light', { exact: true }).click()
    await open(watched)

    expect([isDarkBySystem, await isDark(watched)]).toEqual([true, false])
    expect(watched.faults).toEqual([])
  },
)

async function open({ page }: WatchedPage): Promise<void> {
  await page.goto('/swagger')
  await page.getByText('Send a message').first().waitFor()
}

/** Whether its words are brighter than half. */
function isDark({ page }: WatchedPage): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const { color } = getComputedStyle(document.querySelector('.swagger-ui .info .title'))
    return Number(color.match(/\\d+/)[0]) > 127
  })()`)
}
