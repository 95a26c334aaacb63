// Conversations as they go on: live, in two tabs, and on paper.

import { expect } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { say } from './furnished.ts'
import { FIRST_LINE, PERSON, SECOND_LINE, SHOWN_PERSON } from './stage.ts'
import { openThread, story } from './story.ts'

story('two tabs show what arrives, what is sent, and that it was read', async (scene) => {
  const { api, lines } = scene
  const { id, watched: left } = await openThread(scene, { to: SECOND_LINE })
  const right = await left.another()
  await right.show(`conversations/${id}`)

  await left.page.getByRole('switch', { name: 'Human takeover' }).click()
  await right.page.getByRole('switch', { name: 'Human takeover', checked: true }).waitFor()
  await say(api, FIRST_LINE, 'We come at eight.', lines[1])
  await right.bubble('We come at eight.').waitFor()
  await right.thread.getByRole('textbox').fill('It is by the door.')
  await right.page.keyboard.press('Enter')
  for (const tab of [left, right]) {
    await tab.bubble('It is by the door.').getByText('Read', { exact: true }).waitFor()
  }

  for (const tab of [left, right]) {
    expect(await tab.page.getByRole('article').allInnerTexts()).toEqual([
      expect.stringContaining('Your table is ready.'),
      expect.stringContaining('We come at eight.'),
      expect.stringMatching(/It is by the door\.[^]*You/),
    ])
  }
})

/** There, back, and once more on a slow machine. */
const MOVES_MAX = 6
const COUNT_MOVES = `{
  const { replaceState } = history
  window.moves = 0
  history.replaceState = (...state) => {
    window.moves += 1
    replaceState.apply(history, state)
  }
}`

story(
  'a conversation that moved to another line and back is followed, and stands still',
  async ({ stage, api, lines: [line] }) => {
    const { conversation_id: id } = await say(api, PERSON, 'Your table is ready.', line)
    const other = id.replace(/.{4}$/, '0000')
    const watched = await stage.page()
    const { page } = watched
    await page.addInitScript(COUNT_MOVES)
    let asked = 0
    await page.route(`**/api/conversations/${id}`, async (route) => {
      asked += 1
      const response = await route.fetch()
      const moved = asked <= 2 ? { moved_to: other } : {}
      await route.fulfill({ json: { ...(await response.json()), ...moved } })
    })
    await page.route(`**/api/conversations/${other}`, async (route) => {
      const response = await route.fetch({ url: route.request().url().replace(other, id) })
      await route.fulfill({ json: { ...(await response.json()), id: other, moved_to: id } })
    })

    await page.goto(`/#/conversations/${id}`)
    await eventually('it was followed and came back', () => (asked > 2 ? true : null))
    await watched.field(`Message to ${SHOWN_PERSON}`).fill('Still here.')
    await page.keyboard.press('Enter')
    await watched.bubble('Still here.').getByText('Read', { exact: true }).waitFor()

    expect(await page.evaluate<number>('window.moves')).toBeLessThan(MOVES_MAX)
    expect(new URL(page.url()).hash).toBe(`#/conversations/${id}`)
    // The page may be asking still.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  },
)

/** The colors of what is printed, and that of the paper. */
const PRINTED_COLORS = `[...new Set([
  ...[...document.querySelectorAll('.print-root *')].map((each) => getComputedStyle(each).color),
  getComputedStyle(document.body).backgroundColor,
])]`

story(
  'a conversation is printed whole, dark on white, without the page around it',
  async (scene) => {
    const { api, lines } = scene
    await say(api, PERSON, 'The first of many.', lines[0])
    for (let n = 0; n < 119; n += 1) await say(api, PERSON, `Line ${n}\nand another.`, lines[0])
    const look = { colorScheme: 'dark' } as const
    const { watched, page } = await openThread(scene, { text: 'Line 119\nand another.', look })
    await page.evaluate('window.print = () => (window.isPrinted = true)')

    await page.getByTitle('More').click()
    await watched.button('Print conversation').click()
    await eventually('it is printed', async () =>
      (await page.evaluate('window.isPrinted')) === true ? true : null,
    )
    await page.emulateMedia({ media: 'print' })
    const text = await watched.text()
    const colors = await page.evaluate<readonly string[]>(PRINTED_COLORS)
    const pdf = await page.pdf()
    await page.emulateMedia({ media: null })
    await page.locator('.print-root').waitFor({ state: 'detached' })

    expect(text).toStartWith(SHOWN_PERSON)
    expect(text.match(/The first of many|^Line [0-9]+$/gm)).toHaveLength(121)
    expect(text).not.toContain('Human takeover')
    expect(colors).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(2)
  },
)

story('a first message is scheduled, and canceled before its time', async ({ stage, api }) => {
  const watched = await stage.page()
  const { page } = watched
  stage.excuse(/status of 400/)

  await watched.show('conversations')
  await watched.button('New conversation').first().click()
  await watched.field('To').fill(PERSON)
  await page.getByRole('dialog').getByLabel('Text').fill('See you tomorrow.')
  await watched.button('Send later').click()
  await watched.field('Send at').fill('')
  const isUsable = await watched.button('Schedule').isEnabled()
  await watched.field('Send at').fill('2099-01-01T10:00')
  await watched.button('Schedule').click()
  await watched.reads('at most 90 days ahead')
  await watched.button('Send now instead').click()
  await watched.button('Send later').click()
  await watched.button('Tomorrow at 9').click()
  const time = await watched.field('Send at').inputValue()
  await watched.button('Schedule').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await watched.reads('Cancel sending')
  const { data } = await api.ask<{ data: { queued_reason: string }[] }>('GET', '/api/v1/messages')
  await watched.button('Cancel sending').click()
  await watched.reads('canceled')

  expect(time).toEndWith('T09:00')
  expect([isUsable, data.map(({ queued_reason }) => queued_reason)]).toEqual([false, ['scheduled']])
})

story('who scrolled up in a thread and sends sees the own message', async (scene) => {
  const { api, lines } = scene
  for (let n = 0; n < 30; n += 1) await say(api, PERSON, `Message ${n}`, lines[0])
  const { watched, page } = await openThread(scene, { text: 'The latest one.' })
  const own = watched.bubble('It is by the door.')

  await watched.bubble('The latest one.').waitFor()
  await watched.bubble('Message 3').first().scrollIntoViewIfNeeded()
  await watched.button('Jump to latest').waitFor()
  await watched.thread.getByRole('textbox').fill('It is by the door.')
  await page.keyboard.press('Enter')
  await own.waitFor()
  await watched.button('Jump to latest').waitFor({ state: 'detached' })

  const [box, list] = [await own.boundingBox(), await page.locator('.messages').boundingBox()]
  expect(box?.y).toBeWithin(list?.y ?? 0, (list?.y ?? 0) + (list?.height ?? 0))
})
