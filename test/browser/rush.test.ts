// A page that is open while hundreds of messages are sent: it follows at its own pace, by its own clock.

import { expect } from 'bun:test'

import { say } from './furnished.ts'
import { COMPUTER } from './stage.ts'
import { story } from './story.ts'

const MESSAGES = 300
const PEOPLE = 12
/** So many are sent in each tenth of a second of the page. */
const AT_ONCE = 15
const STEP_SECONDS = 0.1
/** A handful of lists and figures, each a few times a second. */
const REQUESTS_PER_SECOND_MAX = 12
const REQUESTS_AT_FIRST_MAX = 24

story(
  'hundreds of messages are a few requests of the open page, and all are shown',
  async ({ stage, api, lines: [line] }) => {
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    const { data } = await api.ask<{ data: { created_at: string }[] }>('GET', '/api/v1/phone-lines')
    const now = Math.max(...data.map(({ created_at }) => Date.parse(created_at)))
    await page.clock.install({ time: now })
    await watched.show('conversations')
    await watched.reads('No messages yet')
    await page.clock.pauseAt(now + 600_000)
    let requests = 0
    page.on('request', (request) => {
      if (request.url().includes('/dashboard/')) requests += 1
    })
    const row = page.locator('.conversation-row').nth(PEOPLE - 1)

    let seconds = 0
    const pass = async () => {
      await page.clock.runFor(STEP_SECONDS * 1_000)
      seconds += STEP_SECONDS
    }

    for (let from = 0; from < MESSAGES; from += AT_ONCE) {
      const sends = Array.from({ length: AT_ONCE }, (_, at) =>
        say(api, `+1202558${1_000 + ((from + at) % PEOPLE)}`, 'Your table is ready.', line),
      )
      await Promise.all(sends)
      await pass()
    }
    while (!(await row.isVisible())) await pass()

    expect(requests).toBeLessThan(REQUESTS_AT_FIRST_MAX + REQUESTS_PER_SECOND_MAX * seconds)
  },
)
