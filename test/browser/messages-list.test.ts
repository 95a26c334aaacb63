// The list of messages, read to its end by scrolling.

import { expect } from 'bun:test'

import { say } from './furnished.ts'
import { COMPUTER } from './stage.ts'
import { story } from './story.ts'

const MESSAGES = 130

story(
  'the list of messages goes on at its end until all are shown, and asks no more than it needs',
  async ({ stage, api, lines: [line] }) => {
    const texts = Array.from({ length: MESSAGES }, (_, at) => `Order ${at} is ready.`)
    for (const text of texts) await say(api, '+12025581000', text, line)
    const { page } = await stage.page({ viewport: COMPUTER })
    let requests = 0
    page.on('request', (request) => {
      if (request.url().includes('/dashboard/api/messages?')) requests += 1
    })
    const rows = page.locator('.message-list > li')

    await page.goto('/#/messages')
    await rows.first().waitFor()
    // Counted once in each round, because the list may grow at any moment.
    for (let shown = await rows.count(); shown < MESSAGES; shown = await rows.count()) {
      await rows.last().scrollIntoViewIfNeeded()
      await rows.nth(shown).waitFor()
    }

    expect(await rows.count()).toBe(MESSAGES)
    expect(requests).toBeLessThanOrEqual(10)
  },
)
