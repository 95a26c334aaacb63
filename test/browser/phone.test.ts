// What only a phone does: its back button, and a keyboard that takes half of the screen.

import { expect } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { say } from './furnished.ts'
import { PERSON, PHONE, SHOWN_PERSON, TOUCH } from './stage.ts'
import { openThread, story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const LOOK = { viewport: PHONE, ...TOUCH }
/** The choices that are shown in part only: the box is narrower than the text that stands in it. */
const CUT_SELECTS = `[...document.querySelectorAll('.fold select')].flatMap((select) => {
  const ruler = document.createElement('span')
  ruler.textContent = select.selectedOptions[0].textContent
  ruler.style.cssText = 'position: absolute; white-space: nowrap; font: ' + getComputedStyle(select).font
  document.body.append(ruler)
  const { width } = ruler.getBoundingClientRect()
  ruler.remove()
  const { paddingLeft, paddingRight } = getComputedStyle(select)
  // The arrow has the width of a letter or two.
  return width + parseFloat(paddingLeft) + parseFloat(paddingRight) + 16 > select.clientWidth
    ? [ruler.textContent] : []
})`
/** As much as a keyboard leaves. */
const ABOVE_KEYBOARD = { width: PHONE.width, height: 460 }

story('Back closes what is open before it leaves a page, but never a secret', async (scene) => {
  const { stage, api, lines } = scene
  await say(api, PERSON, 'Your table is ready.', lines[0])
  const watched = await stage.page(LOOK)
  const { page } = watched
  const dialog = page.getByRole('dialog')
  const gone = () => dialog.waitFor({ state: 'detached' })

  await watched.show('conversations')
  await page.getByTitle('Search').click()
  await dialog.waitFor()
  await back(watched, 1)
  await gone()
  await page.getByTitle('New conversation').click()
  await watched.button('Close').click()
  await gone()
  await page.getByTitle('New conversation').click()
  await watched.field('To').fill(PERSON)
  await page.getByRole('textbox', { name: 'Text' }).fill('It is by the door.')
  await watched.button('Send').click()
  await watched.field(`Message to ${SHOWN_PERSON}`).waitFor()
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
  await watched.field('Secret').waitFor()
  await back(watched, 1)
  const secret = await watched.field('Secret').innerText()
  await watched.button('Done').click()
  await gone()

  expect([afterSending, afterDrawer, hashOf(watched)]).toEqual([
    '#/conversations',
    '#/messages',
    '#/keys',
  ])
  expect(secret.startsWith('hl_secret_')).toBe(true)
})

story(
  'the keyboard of a phone hides neither the latest message nor what is typed',
  async (scene) => {
    const { api, lines } = scene
    for (let n = 0; n < 12; n += 1) await say(api, PERSON, `Message ${n}`, lines[0])
    const { watched, page } = await openThread(scene, { text: 'The latest one.', look: LOOK })
    const composer = watched.field(`Message to ${SHOWN_PERSON}`)

    await composer.tap()
    await page.setViewportSize(ABOVE_KEYBOARD)
    await composer.fill('One line.\nAnother.\nA third.')
    await watched.drawn()
    const latest = watched.bubble('The latest one.')
    const boxes = [await latest.boundingBox(), await composer.boundingBox()]

    for (const box of boxes) {
      expect(box?.y).toBeGreaterThan(0)
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(ABOVE_KEYBOARD.height)
    }
  },
)

story('a phone folds the filters of a list into one button, which counts them', async (scene) => {
  const { stage, api, lines } = scene
  await say(api, PERSON, 'Your table is ready.', lines[0])
  await api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(PERSON)}`, {
    name: 'Maya',
    tags: ['vip'],
  })
  const watched = await stage.page(LOOK)
  const { page } = watched
  const filters = page.getByRole('group', { name: 'Filters' })
  const states = []

  for (const hash of ['conversations?state=unread', 'messages?status=approval', 'people?tag=vip']) {
    await watched.show(hash)
    const isFolded = !(await filters.isVisible())
    await watched.button('Filters (1)').click()
    await filters.waitFor()
    const isOpen = await watched.button('Filters (1)').getAttribute('aria-expanded')
    const cut = await page.evaluate<string[]>(CUT_SELECTS)
    await watched.button('Filters (1)').click()
    await filters.waitFor({ state: 'hidden' })
    states.push({ hash, isFolded, isOpen, cut })
  }

  for (const { hash, ...state } of states) {
    expect([hash, state]).toEqual([hash, { isFolded: true, isOpen: 'true', cut: [] }])
  }
  await watched.show('messages')
  await watched.button('Filters').waitFor()
})

story('Human takeover is in the menu of a thread on a phone, and a mark says so', async (scene) => {
  const { watched, page, thread } = await openThread(scene, { look: LOOK })
  const takeover = page.getByRole('switch', { name: 'Human takeover' })

  await watched.drawn()
  const before = await takeover.count()
  await page.getByTitle('More').tap()
  await takeover.tap()
  await takeover.waitFor({ state: 'detached' })
  await thread.locator('.thread-head').getByText('Human takeover').first().waitFor()
  await page.getByTitle('More').tap()

  expect(before).toBe(0)
  expect(await takeover.isChecked()).toBe(true)
})

/** The back button, once the history has an entry for each of so many dialogs. */
async function back({ page }: WatchedPage, dialogs = 0): Promise<void> {
  await eventually('the history is in order', async () =>
    (await page.evaluate<number>('history.state?.dialogs ?? 0')) === dialogs ? true : null,
  )
  await page.goBack()
}

function hashOf({ page }: WatchedPage): string {
  return new URL(page.url()).hash
}
