// Conversations as they go on: live, in two tabs, by keyboard alone.

import { expect } from 'bun:test'

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
