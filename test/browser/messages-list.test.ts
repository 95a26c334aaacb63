// The list of messages, read to its end by scrolling.

import { expect } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { type ApiClient } from '../support/relay-process.ts'
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

/** Numbers without iMessage. */
const NOBODY = ['+12025550192', '+13035550192'] as const
const UNCERTAIN = ['+12025550194', '+13035550194'] as const

story(
  'several messages are settled at once, and the title says which are shown',
  async ({ stage, api, lines: [line] }) => {
    for (const to of UNCERTAIN) await say(api, to, 'Your table is ready.', line)
    await eventually('both are uncertain', () => listed(api, 'uncertain', UNCERTAIN.length))
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched

    await watched.show('messages?status=uncertain')
    await page.getByRole('heading', { name: 'Messages that may not have arrived' }).waitFor()
    await page.getByRole('checkbox', { name: 'Pick all' }).check()
    await watched.button('Mark as failed…').click()
    const dialog = page.getByRole('dialog', { name: 'Mark as failed: 2 messages?' })
    await dialog.getByRole('button', { name: 'Mark as failed' }).click()
    await watched.reads('2 messages marked as failed.')
    await watched.reads('No messages match')

    expect(await listed(api, 'failed', UNCERTAIN.length)).toBe(true)
  },
)

story(
  'what the relay refuses of several acts is said, and the rest is done',
  async ({ stage, api, lines: [line] }) => {
    for (const to of UNCERTAIN) await say(api, to, 'Your table is ready.', line)
    await eventually('both are uncertain', () => listed(api, 'uncertain', UNCERTAIN.length))
    const watched = await stage.page({ viewport: COMPUTER })
    stage.excuse(/status of 500/)
    await watched.show('messages?status=uncertain')
    let refused = 0
    await watched.page.route('**/dashboard/api/messages/*/resolve', async (route) => {
      refused += 1
      if (refused > 1) return route.continue()
      return route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'No.' } } })
    })

    await watched.page.getByRole('checkbox', { name: 'Pick all' }).check()
    await watched.button('Mark as sent…').click()
    await watched.page.getByRole('dialog').getByRole('button', { name: 'Mark as sent' }).click()

    await watched.reads(/^1 message marked as sent, 1 not: /)
    expect(await listed(api, 'uncertain', 1)).toBe(true)
  },
)

story(
  'what a person decided on is not sent again with the others, and a refusal is no success',
  async ({ stage, api, lines: [line] }) => {
    const [canceled] = await Promise.all([
      api.ask<{ id: string }>('POST', '/api/v1/messages/send', {
        to: '+12025550123',
        text: 'Not this one',
        phone_line_id: line,
        send_at: new Date(Date.now() + 3_600_000).toISOString(),
      }),
      ...NOBODY.map((to) => say(api, to, 'Your table is ready.', line)),
    ])
    await api.ask('DELETE', `/api/v1/messages/${canceled.id}`)
    await eventually('all failed', () => listed(api, 'failed', 1 + NOBODY.length))
    await api.ask('PATCH', `/api/v1/phone-lines/${line}`, { is_enabled: false })
    const watched = await stage.page({ viewport: COMPUTER })
    stage.excuse(/status of 4/)

    await watched.show('messages?status=failed')
    await watched.page.getByRole('checkbox', { name: 'Pick all' }).check()
    await watched.reads('2 picked')
    const bar = watched.page.getByRole('group', { name: 'Picked messages' })
    await bar.getByRole('button', { name: 'Send again…' }).click()
    await watched.page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await watched.reads(/^0 messages sent again, 2 not: /)
    const { data } = await api.ask<{ data: { text: string }[] }>('GET', '/api/v1/messages')

    expect(data.filter(({ text }) => text === 'Not this one').length).toBe(1)
  },
)

/** Whether so many messages have the status; null if not. */
async function listed(api: ApiClient, status: string, count: number): Promise<true | null> {
  const { data } = await api.ask<{ data: unknown[] }>('GET', `/api/v1/messages?status=${status}`)
  return data.length === count ? true : null
}
