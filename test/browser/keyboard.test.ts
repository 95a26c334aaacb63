// The main jobs by keyboard alone. The focus is somewhere at every step.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'

import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { furnish, lineIds, say } from './furnished.ts'
import { PERSON, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

async function press(watched: WatchedPage, name: string): Promise<void> {
  await watched.tabTo(name)
  await watched.page.keyboard.press('Enter')
}

/** Waits until the focus is there. */
function focusOn(watched: WatchedPage, name: string): Promise<string> {
  return eventually(`the focus is on ${name}`, async () => {
    const now = await watched.focused()
    return now === name ? now : null
  })
}

story('a person is found, answered and named by keyboard alone', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [first] = await lineIds(api)
  for (let n = 0; n < 30; n += 1) await say(api, `+120255502${10 + n}`, 'Good morning.', first)
  await say(api, PERSON, 'Your table is ready.', first)
  const watched = await stage.page()
  const { keyboard } = watched.page

  await watched.show('home')
  await keyboard.press('/')
  await focusOn(watched, 'Search people, conversations and messages')
  await keyboard.type('555-0147')
  await watched.page.locator('.search-result').first().waitFor()
  await keyboard.press('Enter')
  await focusOn(watched, 'Message to +1 202 555 0147')
  await keyboard.type('It is by the door.')
  await keyboard.press('Enter')
  await watched.page.getByRole('article').filter({ hasText: 'It is by the door.' }).waitFor()
  await press(watched, 'More')
  await keyboard.press('Tab')
  await keyboard.press('Escape')
  await focusOn(watched, 'More')
  await keyboard.press('Enter')
  await press(watched, 'Add contact')
  await focusOn(watched, 'Name')
  await keyboard.type('Anna')
  await keyboard.press('Enter')
  await watched.page.getByRole('heading', { name: 'Anna' }).waitFor()
  await focusOn(watched, 'More')
  await watched.page.locator('.conversation-row').filter({ hasText: 'Anna' }).waitFor()
  // One stop of the list, however many people it has; the arrow keys go on from there.
  await watched.tabTo('Show')
  await watched.tabTo('Line')
  await keyboard.press('Tab')
  expect(await watched.focused()).toContain('Anna')
  await keyboard.press('ArrowDown')
  expect(await watched.focused()).toContain('+1 202 555 0239')
  await keyboard.press('Tab')
  expect(await watched.focused()).toBe('Human takeover')
  await press(watched, 'Home')
  await watched.page
    .getByRole('link', { name: /Sent to\s*Anna/ })
    .first()
    .waitFor()
  await watched.tabTo('To')
  await keyboard.type('Nobody')
  await watched.tabTo('Text')
  await keyboard.type('See you at eight.')
  await press(watched, 'Send')
  await watched.reads(/^Enter a number with its country code/)
  await focusOn(watched, 'Send')
  await watched.tabTo('To')
  await keyboard.type('anna')
  await watched.reads('→ +1 202 555 0147')
  await press(watched, 'Send')
  await watched.page.locator('.outcome').getByText('Anna').waitFor()

  expect(watched.faults.filter((fault) => !fault.includes('status of 400'))).toEqual([])
})

story('the first message to a contact is written by keyboard alone', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  await lineIds(api)
  await api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(PERSON)}`, { name: 'Anna' })
  const watched = await stage.page()
  // The list knows the new conversation before its page is there.
  await watched.page.route('**/assets/thread*', async (route) => {
    await Bun.sleep(1000)
    await route.continue()
  })

  await watched.show('people')
  await press(watched, 'Conversations with Anna')
  await focusOn(watched, 'Conversations')
  await watched.button('Write to +1 202 555 0147').waitFor()
  await press(watched, 'Write to +1 202 555 0147')
  await focusOn(watched, 'To')
  await watched.tabTo('Text')
  await watched.page.keyboard.type('Your table is ready.')
  await press(watched, 'Send')
  await focusOn(watched, 'Message to Anna')

  expect(watched.faults).toEqual([])
})

story('what failed is sent again, put off and retried by keyboard alone', async () => {
  await using stage = await Stage.open()
  using furniture = await furnish(stage)
  const failed = await giveUp(stage, furniture.failingWebhookId)
  const watched = await stage.page()
  const { page } = watched
  const { keyboard } = page

  await watched.show('home')
  await press(watched, 'View all messages')
  await focusOn(watched, 'Messages')
  await watched.tabTo('Status')
  await keyboard.type('Fa')
  await page.waitForURL(/status=failed/)
  await press(watched, 'Send again…')
  await page.getByRole('dialog').waitFor()
  await keyboard.press('Escape')
  await focusOn(watched, 'Send again…')
  await keyboard.press('Enter')
  await press(watched, 'Send again')
  await watched.reads('Sent again as a new message.')
  await focusOn(watched, 'Send again…')
  await watched.tabTo('Status')
  await keyboard.type('Un')
  await page.waitForURL(/status=uncertain/)
  await press(watched, 'Mark as sent')
  await watched.reads('No messages match')
  expect(await watched.focused()).not.toBe('nothing')

  await press(watched, 'Home')
  await press(watched, 'Snooze…')
  await press(watched, 'Snooze')
  await watched.reads('1 snoozed issue')
  expect(await watched.focused()).not.toBe('nothing')

  await press(watched, 'Webhooks')
  await focusOn(watched, 'Webhooks')
  await press(watched, furniture.failingName)
  await press(watched, 'Retry failed deliveries…')
  await focusOn(watched, 'Event')
  await press(watched, 'Continue')
  await press(watched, `Send ${failed} failed deliveries`)
  await watched.reads(`Sending ${failed} failed deliveries.`)
  await focusOn(watched, 'Retry failed deliveries…')

  await press(watched, 'Sign out')
  await focusOn(watched, 'Password')

  // A list that was asked for just before is refused.
  expect(watched.faults.filter((fault) => !fault.includes('status of 401'))).toEqual([])
})

/** Gives up what a webhook did not take, as the end of its schedule would; returns the number. */
async function giveUp(stage: Stage, webhookId: string): Promise<number> {
  await stage.stopRelay()
  using database = new Database(join(stage.dataDir, 'hookline.db'))
  const { changes } = database
    .query(
      `UPDATE deliveries SET status = 'exhausted', next_attempt_at = NULL, completed_at = created_at
       WHERE webhook_id = ? AND status = 'pending'`,
    )
    .run(webhookId)
  await stage.startRelay()
  return changes
}
