// People: found by keyboard alone, named, imported; and answers that nobody overlooks.

import { expect } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { say } from './furnished.ts'
import { play } from './rich.ts'
import { COMPUTER, FIRST_LINE, PERSON, SECOND_LINE, SHOWN_PERSON } from './stage.ts'
import { openThread, story, type Scene } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const name = ({ api }: Scene, handle: string, fields: object) =>
  api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(handle)}`, fields)

/** A message from the person at the second line to the first, who reads in the dashboard. */
const receive = ({ api, lines }: Scene, text: string) => say(api, FIRST_LINE, text, lines[1])

story('a person is found by keyboard alone, and a message far back at its place', async (scene) => {
  const { stage, api, lines } = scene
  await name(scene, PERSON, { name: 'Anna Müller' })
  await say(api, PERSON, 'The red bicycle is ready.', lines[0])
  for (let n = 0; n < 70; n += 1) await say(api, PERSON, `Filler ${n}`, lines[0])
  // The index follows the messages.
  await eventually('the message is in the index', async () => {
    const path = '/api/v1/search?q=bicycle'
    const { messages } = await api.ask<{ messages: unknown[] }>('GET', path)
    return messages.length > 0 ? true : null
  })
  const watched = await stage.page({ viewport: COMPUTER })
  const { page } = watched
  await watched.show('home')

  await page.keyboard.press('/')
  await watched.focusOn('Search people, conversations and messages')
  await page.keyboard.type('bicycle')
  await page.locator('.search-result').first().waitFor()
  const marked = await page.locator('mark').allInnerTexts()
  await page.keyboard.press('Enter')
  const bubble = watched.bubble('The red bicycle is ready.')
  await bubble.waitFor()
  await eventually('it has the focus', async () =>
    (await page.evaluate('document.activeElement.innerText')) === (await bubble.innerText())
      ? true
      : null,
  )
  const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>(
    'document.activeElement.getBoundingClientRect()',
  )
  await watched.button('Jump to latest').click()
  await watched.bubble('Filler 69').waitFor()

  await page.keyboard.press('Control+k')
  await watched.focusOn('Search people, conversations and messages')
  await page.keyboard.type('anna')
  await page.getByRole('group', { name: 'People' }).waitFor()
  await page.keyboard.press('ArrowDown')
  const chosen = await page.locator('.search-result[aria-selected=true]').innerText()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Anna Müller', level: 1 }).waitFor()

  expect(marked).toEqual(['bicycle'])
  expect([top > 0, bottom < COMPUTER.height]).toEqual([true, true])
  expect(chosen).toContain('Anna Müller')
})

story('an answer is counted in every browser until a person reads it in one', async (scene) => {
  const { stage, api } = scene
  const reader = await stage.page({ viewport: COMPUTER })
  const other = await stage.page({ viewport: COMPUTER })
  await reader.show('home')
  await other.show('lines')

  await receive(scene, 'Is the table free?')
  await receive(scene, 'At eight?')
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
  const { data } = await api.ask<{ data: unknown[] }>('GET', '/api/v1/conversations?unread=true')

  expect(title).toBe('(1) Lines · Hookline')
  expect(data).toEqual([])
})

/** The notifications of a page, as if it was allowed to show them; it counts as hidden while `isHidden`. */
const WATCH_NOTIFICATIONS = `
  window.notices = []
  window.isHidden = false
  Object.defineProperty(document, 'hidden', { get: () => window.isHidden })
  window.Notification = class extends Notification {
    static permission = 'granted'
    static requestPermission = async () => 'granted'
    constructor(title, options) { super(title, options); window.notices.push([title, options.body]); window.last = this }
  }
  window.hide = (isHidden) => { window.isHidden = isHidden; document.dispatchEvent(new Event('visibilitychange')) }
`

story(
  'a hidden page notifies once of each message, and a click opens the thread',
  async (scene) => {
    await name(scene, SECOND_LINE, { name: 'Anna' })
    const left = await scene.stage.page({ viewport: COMPUTER, permissions: ['notifications'] })
    const right = await left.another()
    for (const { page } of [left, right]) await page.addInitScript(WATCH_NOTIFICATIONS)
    const notices = async () => {
      const of = ({ page }: WatchedPage) => page.evaluate<string[][]>('window.notices')
      return [...(await of(left)), ...(await of(right))]
    }
    await left.show('conversations')
    await left.button('Notifications').click()
    await left.page.getByRole('switch', { name: 'Notify me of new messages' }).click()
    await left.page
      .getByRole('switch', { name: 'Show the text of messages', checked: true })
      .waitFor()
    await left.button('Done').click()
    await right.show('home')
    // The leading page looks at each, and at its second look also at what waits for an approval.
    for (const [text, look] of [
      ['Seen while visible', /conversations\?.*unread=true/],
      ['Seen too', /queued_reason=approval/],
    ] as const) {
      const looked = left.page.waitForResponse(look)
      await receive(scene, text)
      await (await looked).finished()
    }
    await left.drawn()
    for (const { page } of [left, right]) await page.evaluate('window.hide(true)')

    for (const [at, text] of ['Are you there?', 'I come later.'].entries()) {
      await receive(scene, text)
      await eventually('it is shown', async () => ((await notices()).length > at ? true : null))
    }
    const shown = await notices()
    await left.page.evaluate('window.last.dispatchEvent(new Event("click"))')
    await left.page.getByRole('region', { name: 'Messages' }).waitFor()

    expect(shown).toEqual([
      ['Anna', 'Are you there?'],
      ['Anna', 'I come later.'],
    ])
  },
)

story('a person is named in the thread, and an import says which rows are bad', async (scene) => {
  const { watched, page } = await openThread(scene, { look: { viewport: COMPUTER } })
  await page.getByRole('heading', { name: SHOWN_PERSON }).waitFor()

  await page.getByTitle('More').click()
  await watched.button('Add contact').click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Anna')
  await watched.button('Save').click()
  await page.getByRole('heading', { name: 'Anna' }).waitFor()
  await watched.field('Message to Anna').waitFor()
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
  await watched.button('Done').click()
  await page.getByRole('link', { name: /Ben/ }).first().waitFor()

  // A national number is one of the line's country.
  await watched.show('home')
  await watched.link('New message').click()
  await watched.field('To').fill('(202) 555-0147')
  await page.getByText(`→ ${SHOWN_PERSON}`).waitFor()

  expect(said).toContain('2 added')
  expect(said).toContain('2 entries')
})

story('an opt-out is marked in its thread, asks before a text, and is removed', async (scene) => {
  const { api, lines } = scene
  const { watched, page, thread } = await openThread(scene, { look: { viewport: COMPUTER } })
  await play(api, lines[0], { type: 'message', from: PERSON, text: 'STOP' })

  await thread.getByText('Opted out', { exact: true }).waitFor()
  await watched.button('Write anyway').click()
  await thread.getByRole('textbox').fill('You asked for a call.')
  await watched.button('Send').click()
  await watched.bubble('You asked for a call.').waitFor()
  await watched.show('people')
  await watched.button('Opt-outs…').click()
  const dialog = page.getByRole('dialog', { name: 'Opt-outs' })
  await dialog.getByText('STOP', { exact: false }).first().waitFor()
  await dialog.getByRole('textbox').fill('+1 202 555 0148')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('+1 202 555 0148').waitFor()
  await dialog.getByRole('listitem').filter({ hasText: SHOWN_PERSON }).getByRole('button').click()
  await watched.button('Remove').click()
  await dialog.getByText(SHOWN_PERSON).waitFor({ state: 'detached' })

  expect(await dialog.getByRole('listitem').count()).toBe(1)
})

story('a text to a person who opted out is refused in one place, with a way on', async (scene) => {
  const { stage, api, lines } = scene
  stage.excuse(/status of 409/)
  const { watched, page, thread } = await openThread(scene, { look: { viewport: COMPUTER } })
  await play(api, lines[0], { type: 'message', from: PERSON, text: 'STOP' })
  const notes = thread.locator('.callout')

  await thread.getByText('Opted out', { exact: true }).waitFor()
  await thread.getByRole('textbox').fill('You asked for a call.')
  await page.keyboard.press('Enter')
  await watched.reads('Not sent: they asked for no more messages.')
  const refused = await notes.allInnerTexts()
  await watched.button('Write anyway').click()
  await page.keyboard.press('Tab')
  await watched.button('Send').click()
  await watched.bubble('You asked for a call.').waitFor()

  expect(refused).toEqual([expect.stringContaining('Write anyway')])
  expect(await notes.allInnerTexts()).toEqual([expect.stringContaining('You chose to write')])
})

story(
  'a page of one person has the conversations of all lines, and their opt-out',
  async (scene) => {
    const { stage, api, lines } = scene
    await name(scene, PERSON, { name: 'Anna', note: 'Likes tea', tags: ['vip'] })
    await name(scene, SECOND_LINE, { name: 'Ben', tags: ['supplier'] })
    for (const line of lines) await say(api, PERSON, 'Your table is ready.', line)
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched

    await watched.show('people')
    await watched.button('vip').click()
    await page.getByRole('link', { name: /Ben/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /^Anna/ }).click()
    await page.getByRole('heading', { name: 'Anna', level: 1 }).waitFor()
    const talks = page.getByRole('list', { name: 'Conversations' })
    await talks.getByRole('link').nth(1).waitFor()
    await watched.reads('Likes tea')
    await watched.button('Opt out…').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Opt out' }).click()
    await watched.reads('Opted out by hand.')
    const path = `/api/v1/opt-outs?handle=${encodeURIComponent(PERSON)}`
    const blocked = await api.ask<{ data: unknown[] }>('GET', path)
    await watched.button('Remove opt-out…').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await watched.reads('Not opted out.')
    await watched.link('Write').click()
    await watched.focusOn('Message to Anna')
    await watched.show(`people/${encodeURIComponent(SECOND_LINE)}`)
    await watched.link('Write').click()
    await watched.focusOn('Text')

    expect(await watched.field('To').inputValue()).toBe(SECOND_LINE)
    expect(blocked.data.length).toBe(1)
  },
)

story(
  'the page of a number without a contact offers to add one, also after it was deleted',
  async ({ stage, api, lines }) => {
    await say(api, PERSON, 'Your table is ready.', lines[0])
    const watched = await stage.page({ viewport: COMPUTER })
    stage.excuse(/status of 404/)

    await watched.show(`people/${encodeURIComponent(PERSON)}`)
    await watched.reads('Not in your contacts')
    await watched.button('Add contact').click()
    await watched.page.getByRole('textbox', { name: 'Name' }).fill('Anna')
    await watched.button('Save').click()

    await watched.page.getByRole('heading', { name: 'Anna', level: 1 }).waitFor()
    await watched.button('Edit contact').click()
    await watched.button('Delete contact…').click()
    await watched.button('Delete').click()
    await watched.reads('Not in your contacts')
  },
)

story(
  'a search takes what is typed before it is shown, and leads to a person in the open list',
  async (scene) => {
    const { stage, api, lines } = scene
    await name(scene, PERSON, { name: 'Anna' })
    await say(api, PERSON, 'Your table is ready.', lines[0])
    const watched = await stage.page({ viewport: COMPUTER })
    const letGo = await watched.hold('**/assets/search-box*')
    await watched.show('lines')

    for (const key of '/ann') await watched.page.keyboard.press(key)
    letGo()
    await watched.focusOn('Search people, conversations and messages')
    await watched.page.keyboard.type('a')
    const typed = await watched.page.getByRole('combobox').inputValue()
    await watched.show(`conversations?q=${encodeURIComponent(SECOND_LINE)}`)
    await watched.reads('No results')
    await watched.page.evaluate(`location.hash = '#/conversations?q=${encodeURIComponent(PERSON)}'`)
    await watched.page.getByRole('link', { name: /Anna/ }).waitFor()

    expect(typed).toBe('anna')
  },
)

story(
  'a letter finds the people whose names begin with it, and a second press all of them',
  async (scene) => {
    const names = [
      'Ann',
      'Ben',
      'Cem',
      'Dan',
      'Eva',
      'Fay',
      'Gil',
      'Hal',
      'Ida',
      'Jan',
      'Kim',
      'Quinn',
    ]
    const handles = names.map((_, place) => `+120255508${String(place).padStart(2, '0')}`)
    for (const [place, handle] of handles.entries())
      await name(scene, handle, { name: names[place] })
    const watched = await scene.stage.page({ viewport: COMPUTER })
    await watched.show('people')
    const rows = watched.page.locator('[aria-label="Contacts"] > li')
    const counted = (count: number) =>
      eventually(`${count} rows`, async () => ((await rows.count()) === count ? true : null))
    await counted(names.length)

    await watched.page
      .getByRole('group', { name: 'Letters' })
      .getByText('Q', { exact: true })
      .click()
    await counted(1)
    const found = await rows.innerText()
    await watched.page
      .getByRole('group', { name: 'Letters' })
      .getByText('Q', { exact: true })
      .click()
    await counted(names.length)

    expect(found).toContain('Quinn')
  },
)
