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
    const names = await cards.allInnerTexts()
    await page.reload()
    await watched.settle()
    const kept = [await filter.inputValue(), await cards.allInnerTexts()]

    await watched.show(`conversations?site=${id}`)
    await watched.reads('From Berlin.')
    const options = await watched.field('Line').count()
    const talks = await watched.text()
    await watched.field('Show').selectOption('Unread')
    await watched.reads('No results')
    const address = page.url()
    await watched.field('Show').selectOption('All')
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
