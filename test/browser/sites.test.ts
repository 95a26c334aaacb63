// Sites on the page: a filter that the address keeps, and limits in its forms.

import { expect } from 'bun:test'

import { say } from './furnished.ts'
import { PERSON, SECOND_LINE } from './stage.ts'
import { story, type Scene } from './story.ts'

const BERLINER = '+12025550148'

/** Puts the second line into the site Berlin; gives the site's id. */
async function berlin({ stage, lines: [, second] }: Scene): Promise<string> {
  const site = await stage.asOwner<{ id: string }>('POST', '/sites', { name: 'Berlin' })
  await stage.asOwner('PATCH', `/phone-lines/${second}`, { site_id: site.id, label: 'Desk' })
  return site.id
}

story(
  'without a site there is no filter; with one, Home, Lines and Conversations follow it',
  async (scene) => {
    const { stage, api, lines } = scene
    await say(api, PERSON, 'From the first line.', lines[0])
    await say(api, BERLINER, 'From Berlin.', lines[1])
    const watched = await stage.page()
    const { page } = watched
    const filter = watched.field('Site')
    const cards = page.locator('.cards .line-name')

    await watched.show('lines')
    await cards.nth(1).waitFor()
    const without = await filter.count()
    const id = await berlin(scene)
    await filter.selectOption('Berlin')
    await cards.nth(1).waitFor({ state: 'detached' })
    // The page learns a moment later which line is there.
    await cards.filter({ hasText: 'Desk' }).waitFor()
    const names = await cards.allInnerTexts()
    await page.reload()
    await watched.settle()
    const kept = [await filter.inputValue(), await cards.allInnerTexts()]

    await watched.show(`conversations?site=${id}`)
    await watched.reads('From Berlin.')
    const options = await watched.field('Line').count()
    const talks = await watched.text()
    await watched.button('Unread').click()
    await watched.reads('No results')
    const address = page.url()
    await watched.button('All').click()
    await filter.selectOption('All sites')
    await watched.reads('From the first line.')

    await page.goto(`/#/?site=${id}`)
    await watched.reads('The line is ready, 1 message today')
    const home = await watched.text()
    await filter.selectOption('All sites')
    await watched.reads('2 messages today')
    await watched.link('View all lines').click()
    await cards.nth(1).waitFor()

    expect([without, names]).toEqual([0, ['Desk']])
    expect(kept).toEqual([id, ['Desk']])
    expect(options).toBe(0)
    expect(talks).not.toContain('From the first line.')
    expect(address).toContain(`site=${id}`)
    expect(home).not.toContain('From the first line.')
    expect(home).not.toContain(SECOND_LINE)
  },
)

story('the links of Home keep the chosen site, and Last night follows it', async (scene) => {
  const { stage, api, lines } = scene
  await say(api, BERLINER, 'From Berlin.', lines[1])
  const id = await berlin(scene)
  const watched = await stage.page()
  const { page } = watched
  const home = async () => {
    await page.goto(`/#/?site=${id}`)
    await watched.reads('View all conversations')
  }

  await home()
  await watched.link('View all conversations').click()
  await watched.reads('From Berlin.')
  const conversations = page.url()
  await home()
  await watched.link('Last night').click()
  await watched.reads('Hookline started.')
  const chosen = await watched.field('Site').inputValue()
  const ofSite = await watched.text()
  await watched.field('Site').selectOption('All sites')
  await watched.reads('Site added')

  expect(conversations).toContain(`site=${id}`)
  expect(chosen).toBe(id)
  expect(ofSite).not.toContain('Site added')
})

story('keys, webhooks and members are limited to a site', async (scene) => {
  const { stage } = scene
  const id = await berlin(scene)
  const watched = await stage.page()
  const { page } = watched
  const dialog = page.getByRole('dialog')
  const ofSite = async (path: string) => {
    const { data } = await stage.asOwner<{ data: { site_ids?: string[] }[] }>('GET', path)
    return data.map(({ site_ids: ids = [] }) => ids)
  }

  await watched.show('keys')
  await watched.button('New key').click()
  await dialog.getByLabel('Lines').selectOption('lines of Berlin')
  await watched.button('Create key').click()
  await watched.button('Done').click()
  await watched.reads('May read and send, on lines of Berlin')
  await watched.show('webhooks')
  await page.getByRole('textbox', { name: 'URL' }).fill('http://localhost:8080/hooks')
  await watched.button('Continue').click()
  await dialog.getByLabel('Berlin').check()
  await watched.button('Add webhook').click()
  await watched.button('Done').click()
  await watched.show('settings/members')
  await watched.button('Add person').click()
  await watched.field('Name').fill('Lena')
  await dialog.getByLabel('Berlin').check()
  await dialog.getByRole('button', { name: 'Add person' }).click()
  await watched.button('Done').click()
  await watched.reads('only Berlin')
  const members = await ofSite('/members')
  await page.getByRole('button', { name: 'Sites… of Lena' }).click()
  await dialog.getByLabel('Berlin').uncheck()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('only Berlin').waitFor({ state: 'detached' })

  expect([members, await ofSite('/members')]).toEqual([[[id]], [[]]])
  expect(await ofSite('/webhooks')).toEqual([[id]])
  expect(await ofSite('/keys')).toContainEqual([id])
})

story('a line without a site asks for one if there are sites', async (scene) => {
  const { stage, lines } = scene
  const id = await berlin(scene)
  const watched = await stage.page()

  await watched.show('lines')
  await watched.page
    .getByLabel(/^Site of /)
    .first()
    .waitFor()
  const asked = await watched.page.getByLabel(/^Site of /).count()
  await watched.field('Site of +1 202 555 0101').selectOption('Berlin')
  await watched.reads('Moved, with its conversations.')
  await watched.page.getByLabel(/^Site of /).waitFor({ state: 'detached' })
  const { data } = await stage.asOwner<{ data: { id: string; site_id: string }[] }>(
    'GET',
    '/phone-lines',
  )

  expect(asked).toBe(1)
  expect(data.find((line) => line.id === lines[0])?.site_id).toBe(id)
})
