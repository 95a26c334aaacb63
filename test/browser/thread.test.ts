// Conversations as they go on: live, in two tabs, and on paper.

import { expect } from 'bun:test'

import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { FIRST_LINE, PERSON, SECOND_LINE, SHOWN_PERSON, Stage } from './stage.ts'

story('an open thread shows what arrives, and that what was sent is read', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [first, second] = await lineIds(api)
  const { conversation_id } = await say(api, SECOND_LINE, 'Is the table free?', first)
  const watched = await stage.page()
  await watched.show(`conversations/${conversation_id}`)
  const thread = watched.page.getByRole('region', { name: 'Conversation', exact: true })

  await say(api, FIRST_LINE, 'It is free from eight on.', second)
  await thread.getByText('It is free from eight on.').waitFor()
  await thread.getByRole('textbox').fill('We come at eight.')
  await thread.getByRole('button', { name: 'Send', exact: true }).click()
  const own = thread.getByRole('article').filter({ hasText: 'We come at eight.' })
  await own.getByText('Read', { exact: true }).waitFor()

  expect(await own.innerText()).toContain('Dashboard')
  expect(watched.faults).toEqual([])
})

story('two tabs show the same, whichever of them is used', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [first] = await lineIds(api)
  const { conversation_id } = await say(api, PERSON, 'Your table is ready.', first)
  const left = await stage.page()
  const right = await left.another()
  for (const tab of [left, right]) await tab.show(`conversations/${conversation_id}`)

  await left.page.getByRole('switch', { name: 'Human takeover' }).click()
  await right.page.getByRole('switch', { name: 'Human takeover', checked: true }).waitFor()
  await right.page
    .getByRole('textbox', { name: `Message to ${SHOWN_PERSON}` })
    .fill('It is by the door.')
  await right.page.keyboard.press('Enter')
  await left.page.getByRole('article').filter({ hasText: 'It is by the door.' }).waitFor()
  const bubbles = await Promise.all(
    [left, right].map((tab) => tab.page.getByRole('article').count()),
  )

  expect(bubbles).toEqual([2, 2])
  expect([...left.faults, ...right.faults]).toEqual([])
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
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    const { conversation_id: id } = await say(api, PERSON, 'Your table is ready.', first)
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
    await page.getByRole('textbox', { name: `Message to ${SHOWN_PERSON}` }).fill('Still here.')
    await Bun.sleep(1_000)

    expect(await page.evaluate<number>('window.moves')).toBeLessThan(MOVES_MAX)
    expect(new URL(page.url()).hash).toBe(`#/conversations/${id}`)
    expect(watched.faults).toEqual([])
  },
)

story('a conversation is printed whole, dark on white and without the page around it', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [first] = await lineIds(api)
  const { conversation_id } = await say(api, PERSON, 'The first of many.', first)
  for (let n = 0; n < 120; n += 1) await say(api, PERSON, `Line ${n}\nand another.`, first)
  const watched = await stage.page({ colorScheme: 'dark' })
  const { page } = watched
  await page.addInitScript('window.print = () => (window.isPrinted = true)')
  await watched.show(`conversations/${conversation_id}`)

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
  expect(await page.evaluate('document.querySelector(".print-root")')).toBeNull()
  expect(colors).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
  expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(2)
  expect(watched.faults).toEqual([])
})

/** The colors of what is printed, and that of the paper. */
const PRINTED_COLORS = `[...new Set([
  ...[...document.querySelectorAll('.print-root *')].map((each) => getComputedStyle(each).color),
  getComputedStyle(document.body).backgroundColor,
])]`

story(
  'the first message of a conversation is scheduled, and canceled before its time',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    await lineIds(api)
    const watched = await stage.page()
    const { page } = watched

    await watched.show('conversations')
    await watched.button('New conversation').first().click()
    await page.getByLabel('To').fill(PERSON)
    await page.getByRole('dialog').getByLabel('Text').fill('See you tomorrow.')
    await watched.button('Send later').click()
    await page.getByLabel('Send at').fill('')
    const isUsable = await watched.button('Schedule').isEnabled()
    await page.getByLabel('Send at').fill('2099-01-01T10:00')
    await watched.button('Schedule').click()
    await watched.reads('at most 90 days ahead')
    await watched.button('Send now instead').click()
    await watched.button('Send later').click()
    await watched.button('Schedule').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await watched.reads('Cancel sending')
    const { data } = await api.ask<{ data: { queued_reason: string }[] }>('GET', '/api/v1/messages')
    await watched.button('Cancel sending').click()
    await watched.reads('canceled')

    expect([isUsable, data.map(({ queued_reason }) => queued_reason)]).toEqual([
      false,
      ['scheduled'],
    ])
    // The browser's own note of the refusal.
    expect(watched.faults).toEqual([expect.stringContaining('status of 400')])
  },
)
