// The documentation of the API as its reader sees it.

import { expect } from 'bun:test'

import { PHONE } from './stage.ts'
import { story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

story(
  'the documentation is dark as the system or the dashboard says, and leads back',
  async ({ stage }) => {
    const watched = await stage.page({ viewport: PHONE, colorScheme: 'dark' })

    await open(watched)
    const isDarkBySystem = await isDark(watched)
    await watched.page.getByRole('link', { name: 'Back to the dashboard' }).click()
    await watched.heading('Everything works').waitFor()
    await watched.show('settings')
    await watched.page.getByText('Light', { exact: true }).click()
    await open(watched)

    expect([isDarkBySystem, await isDark(watched)]).toEqual([true, false])
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
