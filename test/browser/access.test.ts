// Getting in: from an empty data directory to the first message, by password, and by keyboard alone.

import { expect } from 'bun:test'

import { Secret, TOTP } from 'otpauth'

import { eventually } from '../support/eventually.ts'
import { hookline } from '../support/executable.ts'
import { lineIds, say } from './furnished.ts'
import { PASSWORD } from './signed-in.ts'
import { COMPUTER, PERSON, SHOWN_PERSON, type Stage } from './stage.ts'
import { story, storyOn } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const PAGES = ['Conversations', 'Lines', 'Webhooks', 'Keys', 'Settings']

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

storyOn(
  { isClaimed: false },
  'the setup link leads once from an empty data directory to the first message',
  async (stage) => {
    const link = await setupLink(stage)
    const token = link.split('/').at(-1) ?? ''
    const watched = await stage.strangersPage()
    const late = await stage.strangersPage()
    const { page } = watched

    await page.goto(link)
    const account = await accountOf(watched, 'New password')
    const focused = await watched.focused()
    await choosePassword(watched)
    await watched.heading('Connect a line').waitFor()
    await watched.button('Continue').click()
    await watched.heading('Send a first text').waitFor()
    await watched.button('Send a practice text').click()
    await watched.reads('Message received')
    await watched.link('Answer it').waitFor()
    await watched.button('Continue').click()
    await watched.heading('Who is called at night?').waitFor()
    await watched.button('Skip').click()
    await watched.heading('Create an API key').waitFor()
    await watched.button('New key').click()
    await watched.button('Create key').click()
    const secret = await watched.field('Secret').innerText()
    await watched.button('Done').click()
    await watched.button('Continue').click()
    await watched.link('Open dashboard').click()
    await watched.link('New message').click()
    await watched.field('To').fill(PERSON)
    await page.getByRole('textbox', { name: 'Text' }).fill('Your table is ready.')
    await watched.button('Send').click()
    await watched.bubble('Your table is ready.').getByText('Read', { exact: true }).waitFor()
    const traces = await watched.traces()
    stage.excuse(/status of 40/)
    await late.page.goto(link)
    await choosePassword(late)
    await late.heading('This link no longer works').waitFor()

    expect([account, focused]).toEqual(['owner', 'New password'])
    expect([PASSWORD, secret, token].filter((each) => traces.includes(each))).toEqual([])
    expect(late.page.url()).not.toContain(token)
  },
)

storyOn(
  { isClaimed: false },
  'an unfinished setup goes by itself once a message was sent',
  async (stage) => {
    const api = await stage.api()
    const [line] = await lineIds(api)
    const watched = await stage.strangersPage()

    await watched.page.goto(await setupLink(stage))
    await choosePassword(watched)
    await watched.heading('Connect a line').waitFor()
    await watched.link('Finish later').click()
    await watched.reads('Next: Line, step 1 of 4.')
    await watched.button('Dismiss').waitFor()
    await say(api, PERSON, 'Your table is ready.', line)
    await watched.page.getByText('Finish setting up').waitFor({ state: 'detached' })
    // The relay remembers it, also if this browser forgets.
    await watched.page.goto('about:blank')
    await watched.show('setup')
    await watched.heading('Hookline is set up').waitFor()
  },
)

story('a wrong password is refused beside its field, the right one lets in', async ({ stage }) => {
  const watched = await stage.strangersPage()
  const { page } = watched
  stage.excuse(/status of 401/)

  await page.goto('/#/keys')
  const atSignIn = await accountOf(watched, 'Password')
  await watched.field('Password').fill('wrong')
  await watched.button('Sign in').click()
  await page.locator('[aria-invalid="true"]').waitFor()
  await watched.field('Password').fill(PASSWORD)
  await watched.button('Sign in').click()
  await watched.heading('Keys').waitFor()
  const address = page.url()
  await watched.show('settings')
  await watched.button('Change password').click()
  const atChange = await accountOf(watched, 'Current password')

  expect(address).toBe(`${stage.url}/#/keys`)
  // A password manager finds the name of the account in each form.
  expect([atSignIn, atChange]).toEqual(['owner', 'owner'])
})

story(
  'the second step is turned on, asked for at the sign-in, and turned off',
  async ({ stage }) => {
    const watched = await stage.page()
    const { page } = watched
    await watched.show('settings')
    await watched.button('Turn on').click()
    const secret = await watched.field('Key').innerText()
    const phone = new TOTP({ secret: Secret.fromBase32(secret) })
    await watched.field('Code').fill('000000')
    stage.excuse(/status of 401/)
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click()
    await watched.reads(/Wrong code/)
    await watched.field('Code').fill(phone.generate())
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click()
    const codes = (await watched.field('Recovery codes').innerText()).split('\n')
    await watched.button('Done').click()
    await watched.reads('On. You have 10 recovery codes left.')

    const stranger = await stage.strangersPage()
    await stranger.page.goto('/#/settings')
    await stranger.field('Password').fill(PASSWORD)
    await stranger.button('Sign in').click()
    await stranger.field('Code').fill('000000')
    await stranger.button('Sign in').click()
    await stranger.reads(/Wrong code/)
    await stranger.field('Code').fill(codes[0] ?? '')
    await stranger.button('Sign in').click()
    await stranger.reads('On. You have 9 recovery codes left.')
    await stranger.button('Turn off').click()
    await stranger.field('Code').fill(codes[1] ?? '')
    await stranger.page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
    await stranger.reads(/sign in with a code from an authenticator app/)

    expect(codes.length).toBe(10)
  },
)

story('one signs in, walks all pages, sends and answers by keyboard alone', async ({ stage }) => {
  const watched = await stage.strangersPage()
  const { keyboard } = watched.page

  await watched.page.goto('/')
  await watched.focusOn('Password')
  await keyboard.type(PASSWORD)
  await keyboard.press('Enter')
  await watched.link('Home').waitFor()
  await watched.page.evaluate(WATCH_HEADINGS)
  for (const name of PAGES) {
    await watched.tabTo(name)
    await keyboard.press('Enter')
    await watched.heading(name).waitFor()
  }
  const headings = await watched.page.evaluate<string[]>('window.headings')
  await watched.tabTo('Home')
  await keyboard.press('Enter')
  await watched.tabTo('New message')
  await keyboard.press('Enter')
  await watched.focusOn('To')
  await keyboard.type(PERSON)
  await watched.tabTo('Text')
  await keyboard.type('Your table is ready.')
  await watched.tabTo('Send')
  await keyboard.press('Enter')
  await watched.bubble('Your table is ready.').getByText('Read', { exact: true }).waitFor()
  await watched.tabTo('Home')
  await keyboard.press('Enter')
  await watched.tabTo(SHOWN_PERSON)
  await keyboard.press('Enter')
  await watched.bubble('Your table is ready.').waitFor()
  // The field to answer has the focus.
  await eventually('one can answer', async () =>
    (await watched.focused()).startsWith('Message to') ? true : null,
  )
  await keyboard.type('It is by the door.')
  await keyboard.press('Enter')
  await watched.bubble('It is by the door.').waitFor()

  // Each had the focus before a key could be pressed at its sight.
  expect(headings.slice(-PAGES.length)).toEqual(PAGES)
})

async function setupLink({ dataDir }: Stage): Promise<string> {
  const { stdout } = await hookline(['setup-link', '--quiet', '--data-dir', dataDir])
  return stdout.split('\n')[0] ?? ''
}

async function choosePassword(watched: WatchedPage): Promise<void> {
  await watched.field('New password').fill(PASSWORD)
  await watched.field('Confirm password').fill(PASSWORD)
  await watched.button('Set password').click()
}

/** The name of the account in the form with the field. */
function accountOf(watched: WatchedPage, field: string): Promise<string> {
  return watched.page
    .locator('form', { has: watched.field(field) })
    .locator('input[autocomplete="username"]')
    .inputValue()
}

story(
  'a link of Settings leads to its section, also if it is followed again',
  async ({ stage }) => {
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    const top = () =>
      page.evaluate<number>(
        "document.getElementById('/settings/about').getBoundingClientRect().top",
      )
    await watched.show('settings')
    const link = page
      .getByRole('navigation', { name: 'Sections' })
      .getByRole('link', { name: 'About' })
    const before = await top()

    await link.click()
    await eventually('it is in view', async () => ((await top()) < COMPUTER.height ? true : null))
    await page.evaluate('window.scrollTo(0, 0)')
    await link.click()
    await eventually('it is in view again', async () =>
      (await top()) < COMPUTER.height ? true : null,
    )
    // The outline follows what is read, not only what was asked for.
    await page.evaluate("document.getElementById('/settings/attachments').scrollIntoView()")
    await page.locator('nav a[aria-current]', { hasText: 'Attachments' }).waitFor()
    await page.evaluate("document.getElementById('/settings/updates').scrollIntoView()")
    await watched.reads('hookline upgrade --from FILE')
    const marked = await page.locator('nav.settings-links a[aria-current]').count()

    expect(marked).toBe(1)
    expect(before).toBeGreaterThan(COMPUTER.height)
  },
)

story('a line is added by a guide for each kind, or by a second machine', async ({ stage }) => {
  const watched = await stage.page({ viewport: COMPUTER })

  await watched.show('lines')
  await watched.button('Add a line').click()
  const dialog = watched.page.getByRole('dialog', { name: 'Add a line' })
  const links = await dialog.getByRole('link').all()
  const ways = await Promise.all(links.map((link) => link.getAttribute('href')))

  expect(ways).toEqual(['/guide/mac', '/guide/iphone', '/guide/shortcuts', '#/boxes'])
  await dialog.getByText('hookline serve --simulated-lines 2').waitFor()
})
