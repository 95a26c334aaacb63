// The main jobs by keyboard alone. The focus is somewhere at every step.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'

import { eventually } from '../support/eventually.ts'
import { showBusyWeeks } from './busy-weeks.ts'
import { furnish, say } from './furnished.ts'
import { PERSON, type Stage } from './stage.ts'
import { story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

async function press(watched: WatchedPage, name: string): Promise<void> {
  await watched.tabTo(name)
  await watched.page.keyboard.press('Enter')
}

story(
  'a person is found, answered and named by keyboard alone',
  async ({ stage, api, lines: [first] }) => {
    for (let n = 0; n < 30; n += 1) await say(api, `+120255502${10 + n}`, 'Good morning.', first)
    await say(api, PERSON, 'Your table is ready.', first)
    const watched = await stage.page()
    const { keyboard } = watched.page
    stage.excuse(/status of 400/)

    await watched.show('home')
    await keyboard.press('/')
    await watched.focusOn('Search people, conversations and messages')
    await keyboard.type('555-0147')
    await watched.page.locator('.search-result').first().waitFor()
    await keyboard.press('Enter')
    await watched.focusOn('Message to +1 202 555 0147')
    await keyboard.type('It is by the door.')
    await keyboard.press('Enter')
    await watched.bubble('It is by the door.').waitFor()
    await press(watched, 'More')
    await keyboard.press('Tab')
    await keyboard.press('Escape')
    await watched.focusOn('More')
    await keyboard.press('Enter')
    await press(watched, 'Add contact')
    await watched.focusOn('Name')
    await keyboard.type('Anna')
    await keyboard.press('Enter')
    await watched.page.getByRole('heading', { name: 'Anna' }).waitFor()
    await watched.focusOn('More')
    await watched.page.locator('.conversation-row').filter({ hasText: 'Anna' }).waitFor()
    // One stop of the list, however many people it has; the arrow keys go on from there.
    await watched.tabTo('Line')
    await watched.tabTo('Unanswered')
    await keyboard.press('Tab')
    expect(await watched.focused()).toContain('Anna')
    await keyboard.press('ArrowDown')
    expect(await watched.focused()).toContain('+1 202 555 0239')
    await keyboard.press('Tab')
    expect(await watched.focused()).toBe('Human takeover')
    await press(watched, 'Home')
    await watched.page
      .getByRole('link', { name: /Anna.*It is by the door/ })
      .first()
      .waitFor()
    await press(watched, 'New message')
    await watched.focusOn('To')
    await keyboard.type('Nobody')
    await watched.tabTo('Text')
    await keyboard.type('See you at eight.')
    await press(watched, 'Send')
    await watched.reads(/^Enter a number with its country code/)
    await watched.focusOn('Send')
    await watched.tabTo('To')
    await keyboard.type('anna')
    await watched.reads('→ +1 202 555 0147')
    await press(watched, 'Send')
    await watched.bubble('See you at eight.').waitFor()
    await watched.focusOn('Message to Anna')
  },
)

story('the first message to a contact is written by keyboard alone', async ({ stage, api }) => {
  await api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(PERSON)}`, { name: 'Anna' })
  const watched = await stage.page()
  // The list knows the new conversation before its page is there.
  const letGo = await watched.hold('**/assets/thread*')

  await watched.show('people')
  await press(watched, 'Conversations with Anna')
  await watched.focusOn('Conversations')
  await watched.button('Write to +1 202 555 0147').waitFor()
  await press(watched, 'Write to +1 202 555 0147')
  await watched.focusOn('Text')
  await watched.page.keyboard.type('Your table is ready.')
  await press(watched, 'Send')
  await watched.page.locator('.conversation-row').filter({ hasText: 'Anna' }).waitFor()
  letGo()
  await watched.focusOn('Message to Anna')
})

story(
  'what failed is looked into, sent again, put off and retried by keyboard alone',
  async ({ stage, ...relay }) => {
    using furniture = await furnish(relay)
    const failedDeliveries = await giveUp(stage, furniture.failingWebhookId)
    const watched = await stage.page()
    const { page } = watched
    const { keyboard } = page
    const count = async (status: string) => {
      const path = `/api/v1/messages?status=${status}`
      return (await relay.api.ask<{ data: unknown[] }>('GET', path)).data.length
    }
    const failed = (wanted: number) =>
      eventually(`${wanted} failed`, async () => ((await count('failed')) === wanted ? true : null))

    await failed(1)
    await watched.show('home')
    await page.getByRole('link', { name: 'Look 1 message failed' }).focus()
    await keyboard.press('Enter')
    await watched.focusOn('Failed messages')
    await press(watched, 'Send as SMS…')
    await page.getByRole('dialog').waitFor()
    await keyboard.press('Escape')
    await watched.focusOn('Send as SMS…')
    const afterEscape = await count('failed')
    await page.getByRole('link', { name: /192/ }).focus()
    await keyboard.press('Enter')
    await page.getByRole('dialog').getByText('message.failed').first().waitFor()
    const detail = await page.getByRole('dialog').innerText()
    await press(watched, 'Done')
    await press(watched, 'Send as SMS…')
    await press(watched, 'Send as SMS')
    await watched.reads(/as a new message/)
    await page.getByRole('link', { name: /^Sent again as SMS · / }).waitFor()
    await watched.tabTo('Status')
    await keyboard.type('Un')
    await page.waitForURL(/#\/messages\?status=uncertain&days=7$/)
    await press(watched, 'Mark as sent')
    await watched.reads('No messages match')
    expect(await watched.focused()).not.toBe('nothing')
    expect(await count('uncertain')).toBe(0)

    await press(watched, 'Home')
    await press(watched, 'Snooze…')
    await press(watched, 'Snooze')
    await watched.reads('1 snoozed issue')
    expect(await watched.focused()).not.toBe('nothing')
    await press(watched, '1 snoozed issue')
    await watched.reads(/^Snoozed until /)
    await press(watched, 'Show now')
    await page.getByText('1 snoozed issue').waitFor({ state: 'detached' })

    await press(watched, 'Webhooks')
    await watched.focusOn('Webhooks')
    await press(watched, furniture.failingName)
    await press(watched, 'Retry failed deliveries…')
    await watched.focusOn('Event')
    await press(watched, 'Continue')
    await press(watched, `Send ${failedDeliveries} failed deliveries`)
    await watched.reads(`Sending ${failedDeliveries} failed deliveries.`)
    await watched.focusOn('Retry failed deliveries…')

    // A list that was asked for just before is refused.
    stage.excuse(/status of 401/)
    await press(watched, 'Sign out')
    await watched.focusOn('Password')

    expect(afterEscape).toBe(1)
    expect(detail).toMatch(/Accepted[^]+Failed[^]+after /)
  },
)

story(
  'the charts of Home are read by arrow keys, and a day leads to its messages',
  async ({ stage, lines }) => {
    const watched = await stage.page()
    const { page } = watched
    await showBusyWeeks(watched, lines)

    await watched.show('home')
    const chart = page.getByRole('group', { name: 'Messages, last 14 days' })
    await chart.locator('[tabindex="0"]').focus()
    await page.keyboard.press('ArrowLeft')
    const value = await page.evaluate<string>('document.activeElement.getAttribute("aria-label")')
    await watched.reads('Nov 20: 56 sent, 16 received, 3 failed')
    await page.keyboard.press('Enter')
    await watched.heading('Messages').waitFor()

    expect(value).toBe('Nov 20: 56 sent, 16 received, 3 failed')
    expect(new URL(page.url()).hash).toBe('#/messages?day=2026-11-20')
  },
)

/** Gives up what a webhook did not take, as the end of its schedule would; returns the number. */
async function giveUp(stage: Stage, webhookId: string): Promise<number> {
  await stage.stopRelay()
  using database = new Database(join(stage.dataDir, 'hookline.db'))
  const { changes } = database
    .query(
      `UPDATE deliveries SET status = 'exhausted', next_attempt_at = NULL, completed_at = created_at
       WHERE webhook_seq = (SELECT seq FROM webhooks WHERE id = ?) AND status = 'pending'`,
    )
    .run(webhookId)
  await stage.startRelay()
  return changes
}
