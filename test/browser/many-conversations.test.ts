// A long list is read page by page. How long that takes, of a million messages, is measured by
// `bun scripts/bench/run.ts page`.

import { expect } from 'bun:test'

import { fillDatabase } from './large-database.ts'
import { COMPUTER } from './stage.ts'
import { storyOn } from './story.ts'

const SIZE = { conversations: 3_000, messages: 6_000 }
/** Far enough to read the list several times further. */
const ROWS_SEEN = 400
const READINGS_MAX = 24
const ROW = '[aria-label="Conversations"] > li'

storyOn(
  { prepare: (dataDir) => fillDatabase(dataDir, SIZE) },
  'thousands of conversations are read page by page, newest first, and few rows are kept',
  async (stage) => {
    const watched = await stage.page()
    const { page } = watched
    const pages: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/dashboard/api/conversations' && searchParams.get('unread') === null)
        pages.push(searchParams.get('cursor'))
    })

    await watched.show('conversations')
    const newest = await page.locator(ROW).first().innerText()
    const atFirst = new Set(pages).size
    await watched.scrollList(ROW, ROWS_SEEN)
    const rowsInPage = await page.locator(ROW).count()

    expect(newest.replaceAll(' ', '')).toContain('+13030002999')
    // Two more may be read before the end of the first comes into sight: rows have no height until they are drawn.
    expect(atFirst).toBeLessThanOrEqual(3)
    // What is shown may be read again when the lines report themselves, and no more: all are 60 pages.
    expect(pages.length).toBeLessThan(READINGS_MAX)
    expect(rowsInPage).toBeLessThan(100)
  },
)

storyOn(
  { prepare: (dataDir) => fillDatabase(dataDir, { conversations: 30, messages: 60 }) },
  'the page of conversations is as high as its window, and only its panes scroll',
  async (stage) => {
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    const heights = () => page.evaluate<number>('document.documentElement.scrollHeight')

    await watched.show('conversations')
    await page.locator(ROW).nth(10).waitFor()
    const list = await heights()
    await page.locator(ROW).nth(1).getByRole('link').click()
    await watched.thread.waitFor()
    await watched.settle()

    expect([list, await heights()]).toEqual([COMPUTER.height, COMPUTER.height])
  },
)

storyOn(
  { prepare: (dataDir) => fillDatabase(dataDir, SIZE) },
  'an address of a conversation far down scrolls the list to it, and marks it',
  async (stage) => {
    const watched = await stage.page({ viewport: COMPUTER })
    const { page } = watched
    const chosen = page.locator(`${ROW} > [aria-current=true]`)

    await watched.show(`conversations/${idOf(400)}`)
    await chosen.waitFor()
    const place = await chosen.locator('..').getAttribute('aria-posinset')
    const box = await chosen.boundingBox()
    // A new address scrolls, and one that is in view already doesn't.
    await watched.show(`conversations/${idOf(2_999)}`)
    await page.locator(`${ROW}[aria-posinset="1"] > [aria-current=true]`).waitFor()
    await page.locator(ROW).nth(3).getByRole('link').click()
    await page.locator(`${ROW}[aria-posinset="4"] > [aria-current=true]`).waitFor()

    expect(place).toBe(String(SIZE.conversations - 400))
    expect(box?.y).toBeWithin(COMPUTER.height / 4, COMPUTER.height)
    expect(
      await page.locator('.window-list').evaluate((list: { scrollTop: number }) => list.scrollTop),
    ).toBe(0)
  },
)

/** The id of a conversation by its number; the later its number, the higher it is listed. */
const idOf = (number: number) => `conv_${String(number).padStart(26, '0')}`
