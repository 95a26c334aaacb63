// People who answer: from the owner's settings to the end of their access, in two browsers.

import { expect } from 'bun:test'

import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { PERSON, PHONE, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const PASSWORD = 'battery staple and more'

story('a member signs in by the link, answers, sees nothing else, and is signed out', async () => {
  await using stage = await Stage.open()
  const [line] = await lineIds(await stage.api())
  await say(await stage.api(), PERSON, 'Your table is ready.', line)
  const owner = await stage.page()
  const member = await stage.strangersPage()
  const { page } = member

  await owner.page.goto('/#/settings/members')
  await owner.button('Add person').click()
  await owner.page.getByLabel('Name', { exact: true }).fill('Anna')
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Add person' }).click()
  const link = await owner.page.getByLabel('Link', { exact: true }).innerText()
  await owner.button('Done').click()

  await page.goto(link)
  await member.reads('Anna')
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD)
  await member.button('Set password').click()
  await page.getByText('Your table is ready.').first().click()
  const composer = page.getByRole('textbox', { name: /^Message to/ })
  await composer.fill('Until eight.')
  await composer.press('Enter')
  await page.locator('.bubble', { hasText: 'Until eight.' }).getByText('Anna').waitFor()
  const pages = await page.locator('nav.nav ul a').allInnerTexts()
  const buttons = await buttonsOf(member)
  for (const closed of ['settings', 'keys', 'people', 'lines', 'activity']) {
    await page.goto(`/#/${closed}`)
    await member.reads('Page not found')
  }
  // Nothing that is the owner's is asked for, not even before the session is known.
  await page.goto('/')
  await page.reload()
  await page.getByText('Until eight.').first().waitFor()
  const faults = [...member.faults]

  await page.getByText('Until eight.').first().click()
  await composer.fill('I was about to say')
  await owner.button('Remove…').click()
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await member.heading('Sign in').waitFor()
  await member.reads("You're signed out. If your password no longer works, ask the owner.")

  expect(pages.map((name) => name.split('\n')[0])).toEqual(['Conversations'])
  expect(buttons).not.toContain('Human takeover')
  expect(faults).toEqual([])
  expect(owner.faults).toEqual([])
})

story('on a phone a member signs out, and in again by name', async () => {
  await using stage = await Stage.open()
  const owner = await stage.page()
  await owner.page.goto('/#/settings/members')
  await owner.button('Add person').click()
  await owner.page.getByLabel('Name', { exact: true }).fill('דנה')
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Add person' }).click()
  const link = await owner.page.getByLabel('Link', { exact: true }).innerText()
  const watched = await stage.strangersPage({ viewport: PHONE })

  await watched.page.goto(link)
  await watched.page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await watched.page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD)
  await watched.button('Set password').click()
  await watched.button('Sign out').click()
  await watched.page.getByLabel('Name', { exact: true }).fill('דנה')
  await watched.page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await watched.button('Sign in').click()
  await watched.page.locator('nav.nav').waitFor()

  // A request that was under way at the sign-out is refused.
  expect(watched.faults.filter((fault) => !fault.includes('status of 401'))).toEqual([])
})

/** The names of all buttons and switches in sight. */
async function buttonsOf({ page }: WatchedPage): Promise<readonly string[]> {
  const roles = await Promise.all(
    (['button', 'switch', 'checkbox'] as const).map((role) => page.getByRole(role).allInnerTexts()),
  )
  return roles.flat()
}
