// Texts and names of people who mean no good, or who write at length: they stand there as text, keep to
// their place, and turn nothing else around.

import { expect } from 'bun:test'

import type { ApiClient } from '../support/relay-process.ts'
import { lineIds, say } from './furnished.ts'
import { COMPUTER, FIRST_LINE, PHONE } from './stage.ts'
import { storyOn } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const SCRIPT = `<img src=x onerror="window.isHurt=true"><script>window.isHurt=true</script>`
/** What follows stands from right to left, without an end. */
const TURNED = '\u202Egnp.elbat\u2066'
const LONG_WORD = 'W'.repeat(20_000)
const LONG_TEXT = 'All work and no play. '.repeat(909)
/** 10 KB. */
const EMOJI = '🧑‍🍳🍕'.repeat(640)

const TEXTS = [SCRIPT, TURNED, LONG_WORD, LONG_TEXT, EMOJI, 'e\u0301\u0335\u0337'.repeat(2_000)]
const NAMES = [SCRIPT, TURNED + 'W'.repeat(80), '🍕'.repeat(100)]

/**
 * The places of a text that would turn its surroundings, because nothing keeps it apart. What is hidden
 * from the eye has no surroundings, and a browser keeps options apart by itself.
 */
const LOOSE = `(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const loose = []
  while (walk.nextNode()) {
    const { data, parentElement } = walk.currentNode
    if (!data.includes('\\u202E') || parentElement.closest('option, .visually-hidden')) continue
    const isApart = (at) => at && (/isolate|plaintext/.test(getComputedStyle(at).unicodeBidi) ||
      isApart(at.parentElement.closest('bdi, [dir], .person-text, pre')))
    if (!isApart(parentElement)) loose.push(parentElement.outerHTML.slice(0, 120))
  }
  return loose
})()`

type HostilePlace = { readonly name: string; readonly hash: string }

storyOn({ lines: 3 }, 'hostile texts, names and addresses break no page', async (stage) => {
  const places = await placeHostileThings(await stage.api())
  const watched = await stage.page()
  const problems: string[] = []

  for (const viewport of [PHONE, COMPUTER]) {
    await watched.page.setViewportSize(viewport)
    for (const { name, hash } of places) {
      await watched.show(hash)
      await showAll(watched)
      const { px, parts } = await watched.overflow()
      if (px > 0)
        problems.push(`${name} at ${viewport.width} is ${px} px too wide: ${parts.join(', ')}`)
      const loose = await watched.page.evaluate<string[]>(LOOSE)
      problems.push(...loose.map((html) => `${name} lets a text turn its surroundings: ${html}`))
    }
  }
  await watched.show(places[0]?.hash ?? '')
  await watched.bubble(SCRIPT).waitFor()

  expect(problems).toEqual([])
  expect(await watched.page.evaluate('["isHurt" in window, document.images.length]')).toEqual([
    false,
    0,
  ])
})

/** Returns the addresses of the pages that show them, a thread first. */
async function placeHostileThings(api: ApiClient): Promise<readonly HostilePlace[]> {
  const [first, second] = await lineIds(api)
  const lines = await api.ask<{ data: { id: string }[] }>('GET', '/api/v1/phone-lines')
  for (const [place, { id }] of lines.data.entries()) {
    await api.ask('PATCH', `/api/v1/phone-lines/${id}`, { label: NAMES[place] })
  }
  for (const name of NAMES) await api.ask('POST', '/api/v1/keys', { name })
  const webhooks = await Promise.all(
    NAMES.map((description, place) =>
      api.ask<{ id: string }>('POST', '/api/v1/webhooks', {
        url: `http://127.0.0.1:9/${'long/'.repeat(100)}?x=${place}${'&'.repeat(200)}%3Cimg%20src=x%3E`,
        events: ['message.received', 'message.sent', 'message.failed'],
        description,
      }),
    ),
  )
  let conversationId = ''
  for (const text of TEXTS) {
    const sent = await say(api, FIRST_LINE, text, second)
    conversationId = sent.conversation_id
  }
  return [
    { name: 'thread', hash: `conversations/${conversationId}` },
    { name: 'home', hash: 'home' },
    { name: 'conversations', hash: 'conversations' },
    { name: 'lines', hash: 'lines' },
    { name: 'line', hash: `lines/${first}` },
    { name: 'webhooks', hash: 'webhooks' },
    { name: 'webhook', hash: `webhooks/${webhooks[0]?.id}` },
    { name: 'keys', hash: 'keys' },
    { name: 'settings', hash: 'settings' },
  ]
}

/** Unfolds the texts that are too long to be shown at once. */
async function showAll({ page }: WatchedPage): Promise<void> {
  const more = page.getByRole('button', { name: /^Show all/ })
  while ((await more.count()) > 0) await more.first().click()
}
