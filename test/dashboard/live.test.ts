// The stream of changes as the page reads it, against answers that the test gives to `fetch`.

import { afterEach, expect, test } from 'bun:test'

import { storePageKey } from '../../src/dashboard/browser-storage.ts'
import { Live, type Update } from '../../src/dashboard/live.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import { pageClock } from './page-rig.ts'

const CHANGE = 'event: change\nid: e-1\ndata: {"what":"line","id":"line_1"}\n\n'

const realFetch = globalThis.fetch
afterEach(() => {
  globalThis.fetch = realFetch
  storePageKey(null)
})

/** A visible page, and streams that the test writes to. */
function followed() {
  const clock = new TestClock()
  const asked: { readonly url: string; readonly key: string | null }[] = []
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  const open = async (url: unknown, init?: RequestInit): Promise<Response> => {
    asked.push({ url: String(url), key: new Headers(init?.headers).get('x-hookline-page-key') })
    const body = new ReadableStream<Uint8Array>({ start: (stream) => void streams.push(stream) })
    const at = streams.length - 1
    init?.signal?.addEventListener('abort', () => streams[at]?.error(new Error('aborted')))
    return new Response(body)
  }
  globalThis.fetch = Object.assign(open, { preconnect() {} })
  storePageKey('the-page-key')
  const updates: Update[] = []
  const document = { hidden: false, addEventListener() {} }
  const live = new Live({ clock: pageClock(clock), document, onBreak: async () => {} })
  live.subscribe((one) => updates.push(one))
  const end = new AbortController()
  const running = live.run(end.signal)
  return {
    live,
    clock,
    asked,
    updates,
    write: async (text: string) => {
      streams.at(-1)?.enqueue(new TextEncoder().encode(text))
      await settle()
    },
    breakOff: async () => {
      streams.at(-1)?.error(new Error('reset'))
      await settle()
    },
    async [Symbol.asyncDispose]() {
      end.abort()
      await running
    },
  }
}

test('the page key goes with the stream, and a stream that broke goes on from where it was', async () => {
  await using page = followed()
  await settle()
  await page.write('retry: 1000\n\nevent: position\nid: e-0\ndata: {}\n\n')
  await page.write(CHANGE.slice(0, 20))
  await page.write(CHANGE.slice(20))

  await page.breakOff()
  const lost = page.live.isConnected.value
  await page.clock.advance(500)
  const back = page.live.isConnected.value

  expect(page.updates).toEqual(['reset', { what: 'line', id: 'line_1' }])
  expect([lost, back]).toEqual([false, true])
  expect(page.asked).toEqual([
    { url: '/dashboard/events', key: 'the-page-key' },
    { url: '/dashboard/events?after=e-1', key: 'the-page-key' },
  ])
})

test('a stream without a sign of life for 45 seconds is given up, one with heartbeats is not', async () => {
  await using page = followed()
  await settle()
  for (let beat = 0; beat < 8; beat += 1) {
    await page.clock.advance(15_000)
    await page.write(': still here\n\n')
  }
  const whileAlive = page.asked.length

  await page.clock.advance(100_000)

  expect(whileAlive).toBe(1)
  expect(page.asked.length).toBeGreaterThan(1)
})
