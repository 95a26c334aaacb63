// A page that is open while hundreds of messages are sent: it follows at its own pace.

import { expect } from 'bun:test'

import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { COMPUTER, Stage } from './stage.ts'

const MESSAGES = 300
const PEOPLE = 12
/** A handful of lists and figures, each a few times a second. */
const REQUESTS_PER_SECOND_MAX = 12
const REQUESTS_AT_FIRST_MAX = 24

story('hundreds of messages are a few requests of the open page, and all are shown', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [line] = await lineIds(api)
  const watched = await stage.page({ viewport: COMPUTER })
  await watched.show('conversations')
  await watched.reads('No messages yet')
  let requests = 0
  watched.page.on('request', (request) => {
    if (request.url().includes('/dashboard/')) requests += 1
  })
  const startedAt = performance.now()

  const sends = Array.from({ length: MESSAGES }, (_, number) =>
    say(api, `+1202558${1_000 + (number % PEOPLE)}`, `Your table ${number} is ready.`, line),
  )
  await Promise.all(sends)
  await watched.page
    .locator('.conversation-row')
    .nth(PEOPLE - 1)
    .waitFor()

  const seconds = (performance.now() - startedAt) / 1_000
  expect(requests).toBeLessThan(REQUESTS_AT_FIRST_MAX + REQUESTS_PER_SECOND_MAX * seconds)
  expect(watched.faults).toEqual([])
})
