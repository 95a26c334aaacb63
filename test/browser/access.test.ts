// Getting in: from an empty data directory to the first message, by password, and by keyboard alone.

import { expect } from 'bun:test'

import { hookline } from '../support/executable.ts'
import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { PASSWORD, PERSON, SHOWN_PERSON, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const PAGES = ['Home', 'Conversations', 'Lines', 'Webhooks', 'Keys', 'Settings']

/** Notes each heading of a page that has the focus when it first stands there. */
const WATCH_HEADINGS = `
  window.headings = []
  let last = document.querySelector('main h1').textContent
  new MutationObserver(() => {
    const heading = document.querySelector('main h1')
    if (heading === null || heading.textContent === last) return
    last = heading.textContent
    if (document.activeElement === heading) window.headings.push(last)
  }).observe(document, { childList: true, subtree: true, characterData: true })
`

story('the setup link leads from an empty data directory to the first message', async () => {
  await using stage = await Stage.open({ isClaimed: false })
  const link = await setupLink(stage)
  const watched = await stage.strangersPage()
  const { page } = watched

  await page.goto(link)
  await choosePassword(watched)
  await watched.heading('Connect a line').waitFor()
  await watched.button('Continue').click()
  await watched.heading('Send a first text').waitFor()
  await watched.button('Simulate an incoming message').click()
  await watched.reads('Message received')
  await watched.button('Continue').click()
  await watched.heading('Create an API key').waitFor()
  await watched.button('New key').click()
  await watched.button('Create key').click()
  const secret = await page.getByLabel('Secret', { exact: true }).innerText()
  await watched.button('Done').click()
  await watched.button('Continue').click()
  await watched.link('Open dashboard').click()
  await page.getByLabel('To', { exact: true }).fill(PERSON)
  await page.getByRole('textbox', { name: 'Text' }).fill('Your table is ready.')
  await watched.button('Send').click()
  await page.locator('.outcome').getByText('Read', { exact: true }).waitFor()
  const traces = await watched.traces()

  expect([PASSWORD, secret, tokenIn(link)].filter((each) => traces.includes(each))).toEqual([])
  expect(watched.faults).toEqual([])
})

story('a setup link is good once, and its token leaves the address at once', async () => {
  await using stage = await Stage.open({ isClaimed: false })
  const link = await setupLink(stage)
  const first = await stage.strangersPage()
  const second = await stage.strangersPage()

  await first.page.goto(link)
  await choosePassword(first)
  await first.heading('Connect a line').waitFor()
  await second.page.goto(link)
  await choosePassword(second)
  await second.heading('This link no longer works').waitFor()

  const addresses = [first, second].map(({ page }) => page.url().includes(tokenIn(link)))
  expect(addresses).toEqual([false, false])
})

story('an unfinished setup goes by itself once a message was sent', async () => {
  await using stage = await Stage.open({ isClaimed: false })
  const [line] = await lineIds(await stage.api())
  const watched = await stage.strangersPage()

  await watched.page.goto(await setupLink(stage))
  await choosePassword(watched)
  await watched.heading('Connect a line').waitFor()
  await watched.link('Finish later').click()
  await watched.reads('Next: Line, step 1 of 3.')
  await watched.button('Dismiss').waitFor()
  await say(await stage.api(), PERSON, 'Your table is ready.', line)
  await watched.page.getByText('Finish setting up').waitFor({ state: 'detached' })
  // The relay remembers it, also where this browser forgets.
  await watched.page.goto('about:blank')
  await watched.show('setup')
  await watched.heading('Hookline is set up').waitFor()

  expect(watched.faults).toEqual([])
})

story('a wrong password is refused beside its field, the right one lets in', async () => {
  await using stage = await Stage.open()
  const watched = await stage.strangersPage()
  const { page } = watched
  const field = page.getByLabel('Password')

  await page.goto('/#/keys')
  await field.fill('wrong')
  await watched.button('Sign in').click()
  await page.locator('[aria-invalid="true"]').waitFor()
  await field.fill(PASSWORD)
  await watched.button('Sign in').click()
  await watched.heading('Keys').waitFor()

  expect(page.url()).toBe(`${stage.url}/#/keys`)
  expect(watched.faults.filter((fault) => !fault.includes('status of 401'))).toEqual([])
})

story(
  'a password manager finds the name of the account in every form with a password',
  async () => {
    await using stage = await Stage.open({ isClaimed: false })
    const stranger = await stage.strangersPage()
    const { page } = stranger
    const accountOf = (field: string) =>
      page
        .locator('form', { has: page.getByLabel(field, { exact: true }) })
        .locator('input[autocomplete="username"]')
        .inputValue()

    await page.goto(await setupLink(stage))
    const atSetup = await accountOf('New password')
    const focusedFirst = await stranger.focused()
    await choosePassword(stranger)
    await stranger.heading('Connect a line').waitFor()
    await stranger.show('settings')
    await stranger.button('Change password').click()
    const atChange = await accountOf('Current password')
    await stranger.button('Cancel').click()
    await stranger.button('Sign out').click()
    const atLogIn = await accountOf('Password')

    expect([atSetup, atChange, atLogIn]).toEqual(['owner', 'owner', 'owner'])
    expect(focusedFirst).toBe('New password')
  },
)

story('by keyboard alone one logs in, walks all pages, sends a message and answers', async () => {
  await using stage = await Stage.open()
  await lineIds(await stage.api())
  const watched = await stage.strangersPage()
  const { keyboard } = watched.page

  await watched.page.goto('/')
  await watched.heading('Sign in').waitFor()
  await keyboard.type(PASSWORD)
  await keyboard.press('Enter')
  await watched.link('Home').waitFor()
  for (const name of PAGES.slice(1)) {
    await watched.tabTo(name)
    await keyboard.press('Enter')
    await watched.heading(name).waitFor()
    expect(await watched.focused()).toBe(name)
  }
  await watched.tabTo('Home')
  await keyboard.press('Enter')
  await watched.tabTo('To')
  await keyboard.type(PERSON)
  await watched.tabTo('Text')
  await keyboard.type('Your table is ready.')
  await watched.tabTo('Send')
  await keyboard.press('Enter')
  await watched.page.locator('.outcome').getByText('Read', { exact: true }).waitFor()
  await watched.tabTo(SHOWN_PERSON)
  await keyboard.press('Enter')
  await watched.page.getByRole('article').filter({ hasText: 'Your table is ready.' }).waitFor()
  // The field to answer has the focus.
  await eventually('one can answer', async () =>
    (await watched.focused()).startsWith('Message to') ? true : null,
  )
  await keyboard.type('It is by the door.')
  await keyboard.press('Enter')
  await watched.page.getByRole('article').filter({ hasText: 'It is by the door.' }).waitFor()

  expect(watched.faults).toEqual([])
})

story('the heading of a page has the focus before a key can be pressed at its sight', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page()

  await watched.show('home')
  await watched.page.evaluate(WATCH_HEADINGS)
  for (const name of PAGES.slice(1)) {
    await watched.link(name).click()
    await watched.heading(name).waitFor()
  }

  expect(await watched.page.evaluate<string[]>('window.headings')).toEqual(PAGES.slice(1))
})

async function setupLink({ dataDir }: Stage): Promise<string> {
  const { stdout } = await hookline(['setup-link', '--quiet', '--data-dir', dataDir])
  return stdout.split('\n')[0] ?? ''
}

function tokenIn(link: string): string {
  return link.split('/').at(-1) ?? ''
}

async function choosePassword(watched: WatchedPage): Promise<void> {
  await watched.page.getByLabel('New password').fill(PASSWORD)
  await watched.page.getByLabel('Confirm password').fill(PASSWORD)
  await watched.button('Set password').click()
}
