// People: found by keyboard alone, named, imported; and answers that nobody overlooks.

import { expect } from 'bun:test'

import type { ApiClient } from '../support/relay-process.ts'
import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { COMPUTER, FIRST_LINE, PERSON, SECOND_LINE, SHOWN_PERSON, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const name = (api: ApiClient, handle: string, fields: object) =>
  api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(handle)}`, fields)

/** A message from the person at the second line to the first, who reads in the dashboard. */
async function receive(api: ApiClient, text: string): Promise<void> {
  const [, second] = await lineIds(api)
  await say(api, FIRST_LINE, text, second)
}

story(
  'somebody is found by keyboard alone, and a message far back is opened at its place',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    await name(api, PERSON, { name: 'Anna Müller' })
    await say(api, PERSON, 'The red bicycle is ready.', first)
    for (let n = 0; n < 70; n += 1) await say(api, PERSON, `Filler ${n}`, first)
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    await watched.show('home')

    await page.keyboard.press('/')
    const box = page.getByRole('combobox', { name: 'Search people, conversations and messages' })
    await box.waitFor()
    await page.keyboard.type('bicycle')
    await page.locator('.search-result').first().waitFor()
    const marked = await page.locator('mark').allInnerTexts()
    await page.keyboard.press('Enter')
    const bubble = page.getByRole('article').filter({ hasText: 'The red bicycle is ready.' })
    await bubble.waitFor()
    await eventually('it has the focus', async () =>
      (await page.evaluate('document.activeElement.innerText')) === (await bubble.innerText())
        ? true
        : null,
    )
    const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>(
      'document.activeElement.getBoundingClientRect()',
    )
    await page.getByRole('button', { name: 'Jump to latest' }).click()
    await page.getByRole('article').filter({ hasText: 'Filler 69' }).waitFor()

    await page.keyboard.press('Control+k')
    await page.keyboard.type('anna')
    await page.getByRole('group', { name: 'People' }).waitFor()
    await page.keyboard.press('ArrowDown')
    const chosen = await page.locator('.search-result[aria-selected=true]').innerText()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Edit contact' }).waitFor()

    expect(marked).toEqual(['bicycle'])
    expect([top > 0, bottom < COMPUTER.height]).toEqual([true, true])
    expect(chosen).toContain('Anna Müller')
    expect(watched.faults).toEqual([])
  },
)

story('an answer is counted in every browser until somebody reads it in one', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const reader = await stage.page({ viewport: COMPUTER })
  const other = await stage.page({ viewport: COMPUTER })
  await reader.show('home')
  await other.show('lines')

  await receive(api, 'Is the table free?')
  await receive(api, 'At eight?')
  for (const { page } of [reader, other]) {
    await page.getByRole('link', { name: /Conversations.*1 unread conversation/ }).waitFor()
  }
  const title = await other.page.title()
  await reader.show('conversations?state=unread')
  await reader.page.getByRole('link', { name: /At eight.*2 unread messages/ }).waitFor()
  await reader.page.bringToFront()
  await reader.page.getByRole('link', { name: /At eight/ }).click()
  for (const { page } of [reader, other]) {
    await eventually('nothing is unread', async () =>
      (await page.title()).startsWith('(') ? null : true,
    )
  }
  const { data } = await api.ask<{ data: { unread_count: number }[] }>(
    'GET',
    '/api/v1/conversations?unread=true',
  )

  expect(title).toBe('(1) Lines · Hookline')
  expect(data).toEqual([])
  expect([...reader.faults, ...other.faults]).toEqual([])
})

/** The notifications that the page shows, and a page that counts as hidden while `isHidden`. */
const WATCH_NOTIFICATIONS = `
  window.notices = []
  window.isHidden = false
  Object.defineProperty(document, 'hidden', { get: () => window.isHidden })
  window.Notification = class extends Notification {
    constructor(title, options) { super(title, options); window.notices.push([title, options.body]); window.last = this }
  }
  window.hide = (isHidden) => { window.isHidden = isHidden; document.dispatchEvent(new Event('visibilitychange')) }
`

story(
  'a hidden page notifies once of each conversation, and its click opens the thread',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    await name(api, SECOND_LINE, { name: 'Anna' })
    const left = await stage.page({ viewport: COMPUTER, permissions: ['notifications'] })
    const right = await left.another()
    for (const { page } of [left, right]) await page.addInitScript(WATCH_NOTIFICATIONS)
    const notices = ({ page }: WatchedPage) => page.evaluate<string[][]>('window.notices')
    await left.show('conversations')
    await left.page.getByRole('button', { name: 'Notifications' }).click()
    await left.page.getByRole('switch', { name: 'Notify me of new messages' }).click()
    await left.page
      .getByRole('switch', { name: 'Show the text of messages', checked: true })
      .waitFor()
    await left.page.getByRole('button', { name: 'Done' }).click()
    await right.show('home')
    await receive(api, 'Seen while visible')
    await right.page.getByRole('link', { name: /1 unread conversation/ }).waitFor()
    // Both have loaded what they need, and looked.
    await Bun.sleep(3_000)
    for (const { page } of [left, right]) await page.evaluate('window.hide(true)')

    await receive(api, 'Are you there?')
    const shown = await eventually('it is shown', async () => {
      const all = [...(await notices(left)), ...(await notices(right))]
      return all.length > 0 ? all : null
    })
    await Bun.sleep(1_500)
    const after = [...(await notices(left)), ...(await notices(right))]
    await left.page.evaluate('window.last.dispatchEvent(new Event("click"))')
    await left.page.getByRole('region', { name: 'Messages' }).waitFor()

    expect(shown).toEqual([['Anna', 'Are you there?']])
    expect(after).toEqual(shown)
    expect([...left.faults, ...right.faults]).toEqual([])
  },
)

story(
  'a person is named in the thread, and a file of contacts says which rows are bad',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    const { conversation_id } = await say(api, PERSON, 'Your table is ready.', first)
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    await watched.show(`conversations/${conversation_id}`)
    await page.getByRole('heading', { name: SHOWN_PERSON }).waitFor()

    await page.getByTitle('More').click()
    await page.getByRole('button', { name: 'Add contact' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Anna')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Anna' }).waitFor()
    await page.getByRole('textbox', { name: 'Message to Anna' }).waitFor()
    await page.getByRole('link', { name: /Anna/ }).first().waitFor()

    await watched.show('people')
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Import' }).click(),
    ])
    const rows = ['name,phone', 'Ben,+12025550148', 'Nobody,', '=cmd,+12025550149', 'Bad,12']
    const buffer = Buffer.from(rows.join('\n'))
    await chooser.setFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer })
    const report = page.getByRole('dialog', { name: 'Import finished' })
    await report.waitFor()
    const said = await report.innerText()
    await report.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: /Ben/ }).first().waitFor()

    // A national number is one of the line's country.
    await watched.show('home')
    const to = page.getByLabel('To', { exact: true })
    await to.fill('(202) 555-0147')
    await page.getByText(`→ ${SHOWN_PERSON}`).waitFor()

    expect(said).toContain('2 added')
    expect(said).toContain('2 entries')
    expect(watched.faults).toEqual([])
  },
)

story(
  'an opt-out is marked in its thread, asks before it is written to, and is removed',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    const { conversation_id } = await say(api, PERSON, 'Our offer of the week.', first)
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    await watched.show(`conversations/${conversation_id}`)
    const thread = page.getByRole('region', { name: 'Conversation', exact: true })
    const stop = { type: 'message', from: PERSON, text: 'STOP' }
    await api.ask('POST', `/api/v1/simulated/lines/${first}/events`, stop)

    await thread.getByText('Opted out', { exact: true }).waitFor()
    await thread.getByRole('button', { name: 'Write anyway' }).click()
    await thread.getByRole('textbox').fill('You asked for a call.')
    await thread.getByRole('button', { name: 'Send', exact: true }).click()
    await thread.getByRole('article').filter({ hasText: 'You asked for a call.' }).waitFor()
    await watched.show('people')
    await page.getByRole('button', { name: 'Opt-outs…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Opt-outs' })
    await dialog.getByText('STOP', { exact: false }).first().waitFor()
    await dialog.getByRole('textbox').fill('+1 202 555 0148')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('+1 202 555 0148').waitFor()
    await dialog.getByRole('listitem').filter({ hasText: SHOWN_PERSON }).getByRole('button').click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await dialog.getByText(SHOWN_PERSON).waitFor({ state: 'detached' })

    expect(await dialog.getByRole('listitem').count()).toBe(1)
    expect(watched.faults).toEqual([])
  },
)
