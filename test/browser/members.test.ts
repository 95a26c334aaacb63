// People who answer: from the owner's settings to the end of their access, in two browsers.

import { expect } from 'bun:test'

import { say } from './furnished.ts'
import { PERSON, PHONE } from './stage.ts'
import { story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const NAME = 'דנה'
const PASSWORD = 'battery staple and more'

story(
  'a member signs in, answers, sees nothing else, signs in again, and is removed',
  async ({ stage, api, lines: [line] }) => {
    await say(api, PERSON, 'Your table is ready.', line)
    const owner = await stage.page()
    const member = await stage.strangersPage()
    const { page } = member
    const composer = page.getByRole('textbox', { name: /^Message to/ })

    await owner.show('settings/members')
    await owner.button('Add person').click()
    await owner.field('Name').fill(NAME)
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Add person' }).click()
    const link = await owner.field('Link').innerText()
    await owner.button('Done').click()

    await page.goto(link)
    await member.reads(NAME)
    await member.field('New password').fill(PASSWORD)
    await member.field('Confirm password').fill(PASSWORD)
    await member.button('Set password').click()
    await page.getByText('Your table is ready.').first().click()
    await composer.fill('Until eight.')
    await composer.press('Enter')
    await member.bubble('Until eight.').getByText('You', { exact: true }).waitFor()
    await owner.page.goto(page.url())
    await owner.bubble('Until eight.').getByText(NAME).waitFor()
    await owner.show('settings/members')
    const buttons = await buttonsOf(member)
    for (const closed of ['settings/alerts', 'keys', 'people', 'lines', 'activity', 'setup']) {
      await page.goto(`/#/${closed}`)
      await member.reads('Only the owner can open this')
    }
    await page.goto('/#/nope')
    await member.reads('Nothing at this address')
    await page.getByRole('link', { name: 'Go to Conversations' }).click()
    await page.getByText('Until eight.').first().waitFor()
    const pages = await page.locator('nav.nav ul a').allInnerTexts()
    // Nothing that is the owner's is asked for, not even before the session is known.
    await page.goto('/')
    await page.reload()
    await page.getByText('Until eight.').first().waitFor()
    const faults = [...stage.faults]

    // A request that was under way at the sign-out is refused.
    stage.excuse(/status of 401/)
    await page.setViewportSize(PHONE)
    await member.button('Sign out').click()
    await member.field('Name').fill(NAME)
    await member.field('Password').fill(PASSWORD)
    await member.button('Sign in').click()
    await page.getByText('Until eight.').first().click()
    await composer.fill('I was about to say')
    await owner.button('Remove…').click()
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await member.heading('Sign in').waitFor()
    await member.reads("You're signed out. If your password no longer works, ask the owner.")

    expect(pages.map((name) => name.split('\n')[0])).toEqual(['Conversations'])
    expect(buttons).not.toContain('Human takeover')
    expect(faults).toEqual([])
  },
)

/** The names of all buttons and switches in sight. */
async function buttonsOf({ page }: WatchedPage): Promise<readonly string[]> {
  const roles = await Promise.all(
    (['button', 'switch', 'checkbox'] as const).map((role) => page.getByRole(role).allInnerTexts()),
  )
  return roles.flat()
}
