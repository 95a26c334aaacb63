// What only a phone does: its back button, and a keyboard that takes half of the screen.

import { expect } from 'bun:test'

import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { PERSON, PHONE, SHOWN_PERSON, Stage, TOUCH } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const LOOK = { viewport: PHONE, ...TOUCH }
/** As much as a keyboard leaves. */
const ABOVE_KEYBOARD = { width: PHONE.width, height: 460 }

story('Back closes what is open before it leaves a page, but never a secret', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [line] = await lineIds(api)
  await say(api, PERSON, 'Your table is ready.', line)
  const watched = await stage.page(LOOK)
  const { page } = watched
  const dialog = page.getByRole('dialog')
  const gone = () => dialog.waitFor({ state: 'detached' })

  await watched.show('conversations')
  await page.getByTitle('Search').click()
  await dialog.waitFor()
  await back(watched)
  await gone()
  await page.getByTitle('New conversation').click()
  await watched.button('Close').click()
  await gone()
  await page.getByTitle('New conversation').click()
  await page.getByLabel('To', { exact: true }).fill(PERSON)
  await page.getByRole('textbox', { name: 'Text' }).fill('It is by the door.')
  await watched.button('Send').click()
  await page.getByRole('textbox', { name: `Message to ${SHOWN_PERSON}` }).waitFor()
  await back(watched)
  await page.getByTitle('New conversation').waitFor()
  const afterSending = hashOf(watched)

  await watched.link('Home').click()
  await watched.link('View all messages').click()
  await page.getByRole('link', { name: /It is by the door/ }).click()
  await dialog.waitFor()
  await back(watched)
  await gone()
  const afterDrawer = hashOf(watched)
  await back(watched)
  await watched.link('View all messages').waitFor()

  await watched.show('keys')
  await watched.button('New key').first().click()
  await watched.button('Create key').click()
  await page.getByLabel('Secret', { exact: true }).waitFor()
  await back(watched)
  const secret = await page.getByLabel('Secret', { exact: true }).innerText()
  await watched.button('Done').click()
  await gone()

  expect([afterSending, afterDrawer, hashOf(watched)]).toEqual([
    '#/conversations',
    '#/messages',
    '#/keys',
  ])
  expect(secret.startsWith('hl_secret_')).toBe(true)
  expect(watched.faults).toEqual([])
})

story('the keyboard of a phone hides neither the latest message nor what is typed', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [line] = await lineIds(api)
  for (let n = 0; n < 12; n += 1) await say(api, PERSON, `Message ${n}`, line)
  const { conversation_id } = await say(api, PERSON, 'The latest one.', line)
  const watched = await stage.page(LOOK)
  const { page } = watched
  await watched.show(`conversations/${conversation_id}`)
  const composer = page.getByRole('textbox', { name: `Message to ${SHOWN_PERSON}` })

  await composer.tap()
  await page.setViewportSize(ABOVE_KEYBOARD)
  await composer.fill('One line.\nAnother.\nA third.')
  await watched.drawn()
  const latest = page.getByRole('article').filter({ hasText: 'The latest one.' })
  const boxes = [await latest.boundingBox(), await composer.boundingBox()]

  for (const box of boxes) {
    expect(box?.y).toBeGreaterThan(0)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(ABOVE_KEYBOARD.height)
  }
  expect(watched.faults).toEqual([])
})

/** The back button, once the page has put its history in order. */
async function back({ page }: WatchedPage): Promise<void> {
  await page.waitForTimeout(100)
  await page.goBack()
}

function hashOf({ page }: WatchedPage): string {
  return new URL(page.url()).hash
}
