// Messages about the latest actions cover nothing that can be pressed.

import { expect } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { say, type Relay } from './furnished.ts'
import { COMPUTER, PHONE, TABLET, TOUCH, type Look } from './stage.ts'
import { openThread, story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const LOOKS: Readonly<Record<string, Look>> = {
  computer: { viewport: COMPUTER },
  tablet: { viewport: TABLET, ...TOUCH },
  phone: { viewport: PHONE, ...TOUCH },
}

/** What is pressed and covered by a message; rows of lists and bubbles scroll. */
const COVERED = `(() => {
  const notices = [...document.querySelectorAll('.notice')]
  const SCROLLS = '.window-list *, .messages *, .message-list *, .card-list *'
  const isNarrow = innerWidth < 900
  const boxOf = (one) => one.getBoundingClientRect()
  return [...document.querySelectorAll('a, button, input, select, textarea, summary, label')]
    .filter((one) => one.checkVisibility() && !one.closest('.notice') && !one.matches('.skip-link'))
    .filter((one) => !isNarrow || one.closest('.bulk') || !one.matches(SCROLLS))
    .filter((one) => notices.some((notice) => {
      const [a, b] = [boxOf(one), boxOf(notice)]
      return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
    }))
    .map((one) => one.outerHTML.slice(0, 120))
})()`

for (const [name, look] of Object.entries(LOOKS)) {
  story(
    `a message about an action covers nothing that can be pressed on a ${name}`,
    async (scene) => {
      const { watched, page } = await openThread(scene, { to: UNCERTAIN[0], look })
      await say(scene.api, UNCERTAIN[1], 'Your table is ready.', scene.lines[0])
      const covered: Record<string, unknown> = {}

      const more = page.getByTitle('More')
      if (look.viewport === PHONE) await more.click()
      await page.getByRole('switch', { name: 'Human takeover' }).click()
      covered['thread'] = await coveredBy(
        watched,
        'Human takeover is on. Apps are asked not to reply.',
      )
      await bothUncertain(scene)
      await watched.show('messages?status=uncertain')
      await page.getByRole('checkbox', { name: 'Pick all' }).check()
      await watched.button('Mark as failed…').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Mark as failed' }).click()
      covered['messages'] = await coveredBy(watched, '2 messages marked as failed.')
      await watched.show('conversations')
      await watched.settle()
      covered['conversations'] = await page.evaluate(COVERED)

      expect(covered).toEqual({ thread: [], messages: [], conversations: [] })
    },
  )
}

const UNCERTAIN = ['+12025550194', '+13035550194'] as const

function bothUncertain({ api }: Relay): Promise<true> {
  return eventually('both are uncertain', async () => {
    const path = '/api/v1/messages?status=uncertain'
    const { data } = await api.ask<{ data: unknown[] }>('GET', path)
    return data.length === UNCERTAIN.length ? true : null
  })
}

async function coveredBy(watched: WatchedPage, words: string): Promise<unknown> {
  const notice = watched.page.locator('.notice', { hasText: words })
  await notice.waitFor()
  await watched.drawn()
  return watched.page.evaluate(COVERED)
}
