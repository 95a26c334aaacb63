// The stream of events by itself: positions, gaps, heartbeats, ends. What the relay reports on it is in
// `dashboard-changes.test.ts`.

import { expect, test } from 'bun:test'

import { Elysia } from 'elysia'

import { EVERYTHING } from '../../src/domain/permissions.ts'
import { routesOf } from '../../src/http/bind.ts'
import { dashboardEventBindings } from '../../src/http/dashboard-events.ts'
import { setContext } from '../../src/http/request-context.ts'
import { answerToFailure } from '../../src/http/respond.ts'
import type { Change } from '../../src/system/change-feed.ts'
import { silentLog } from '../../src/system/log.ts'
import { Signal } from '../../src/system/signal.ts'
import { settle } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'
import { EventReader } from './event-reader.ts'

const EVENTS = '/dashboard/events'
const MESSAGE: Change = { what: 'message', id: 'msg_1', conversationId: 'conv_1' }
const SESSION = { elevatedUntil: null, isStale: false, memberId: null }
const LINE: Change = { what: 'line', id: 'line_1' }

type Sent = Readonly<Record<string, string>>

/** The route of the stream for one browser that is signed in, and the changes that it watches. */
function signedIn() {
  const { core, clock } = openTestStorage()
  const { changes } = core
  const [logOut, stop] = [new AbortController(), new AbortController()]
  const sessions = { isOpen: () => true, endOf: () => logOut.signal }
  const members = { permissionsOf: () => EVERYTHING }
  const streamsEnd = stop.signal
  const routes = routesOf(dashboardEventBindings(core, { sessions, members }, streamsEnd), () => {})
  const lifted: number[] = []
  const liftTimeout = (seconds: number) => void lifted.push(seconds)
  const fetch = async (method: string, query: string, headers: Sent): Promise<Response> => {
    const request = new Request(`http://localhost${EVENTS}${query}`, { method, headers })
    setContext(request, {
      requestId: 'req_1',
      clock,
      db: core.db,
      peer: { address: '127.0.0.1', isControl: false, liftTimeout },
      address: () => '127.0.0.1',
      caller: { kind: 'dashboard' },
      session: { ...SESSION, tokenSha256: new Uint8Array(32) },
      bridge: null,
      operation: null,
      compat: null,
    })
    const framed = new Elysia()
      .onError(({ error }) => answerToFailure(error, 'req_1', { log: silentLog, doubtSignal }))
      .use(routes)
    return framed.fetch(request)
  }
  const doubtSignal = new Signal()
  const ask = (query = '', headers: Sent = {}) => fetch('GET', query, headers)
  return {
    clock,
    changes,
    lifted,
    logOut: () => logOut.abort(),
    stop: () => stop.abort(),
    ask,
    head: () => fetch('HEAD', '', {}),
    open: async (query = '', headers: Sent = {}) => {
      const reader = new EventReader(await ask(query, headers))
      await settle()
      return reader
    },
    /** The position of a reader, and from then on each change is kept. */
    begin: () => {
      changes.watch(new Signal())
      return changes.position
    },
    tell: async (...told: readonly Change[]) => {
      changes.publish(told)
      await clock.advance(100)
    },
  }
}

test('a new page gets its position, and then what changes', async () => {
  const { open, tell, lifted } = signedIn()

  const page = await open()
  const opened = page.takeText()
  await tell(MESSAGE, LINE)

  expect(page.response.status).toBe(200)
  expect(page.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(page.response.headers.get('cache-control')).toBe('no-store')
  expect(page.response.headers.get('x-accel-buffering')).toBe('no')
  expect(lifted).toEqual([0])
  expect(opened).toMatch(/^retry: 1000\n\nevent: position\nid: [0-9a-f]{12}-0\ndata: {}\n\n$/)
  const epoch = /id: ([0-9a-f]+)-0/.exec(opened)?.[1] ?? ''
  expect(page.takeText()).toBe(
    `event: change\nid: ${epoch}-1\ndata: {"what":"message","id":"msg_1","conversation_id":"conv_1"}\n\n` +
      `event: change\nid: ${epoch}-2\ndata: {"what":"line","id":"line_1"}\n\n`,
  )
})

test('a page that comes back hears what it missed since what its browser saw last, and nothing twice', async () => {
  const { open, tell, clock } = signedIn()
  const first = await open()
  await tell(LINE)
  const { id } = first.take().at(-1) ?? { id: '' }
  await first.close()

  await tell(MESSAGE)
  await clock.advance(30_000)
  const second = await open(`?after=${id}`)
  const third = await open(`?after=${id.replace(/\d+$/, '0')}`, { 'last-event-id': id })

  expect(second.take().map(({ event, data }) => [event, data])).toEqual([
    ['change', { what: 'message', id: 'msg_1', conversation_id: 'conv_1' }],
  ])
  // More than the address that it was opened with.
  expect(third.takeKinds()).toEqual(['message'])
})

test('a page with a position of another start is asked to read afresh, and goes on from there', async () => {
  const { begin, tell, open } = signedIn()
  begin()

  const page = await open('?after=0123456789ab-7')
  const first = page.take()
  await tell(MESSAGE)

  expect(first.map(({ event, data }) => [event, data])).toEqual([['reset', {}]])
  const [epoch] = (first[0]?.id ?? '').split('-')
  expect(first[0]?.id).toBe(`${epoch}-0`)
  expect(page.take().map(({ event, id }) => [event, id])).toEqual([['change', `${epoch}-1`]])
})

test('nothing piles up for a page that does not read: once it does, it reads afresh', async () => {
  const { ask, changes, clock } = signedIn()
  const response = await ask()
  const reader = response.body?.getReader()
  await reader?.read()
  for (let i = 0; i < 12; i += 1) {
    changes.publish(Array.from({ length: 950 }, (_, j) => ({ what: 'key', id: `key_${i}_${j}` })))
    await clock.advance(100)
  }

  const next = await reader?.read()

  expect(String(next?.value)).toBe(`event: reset\nid: ${changes.position}\ndata: {}\n\n`)
})

test('a silence of fifteen seconds is broken by a comment, and one that news broke is not', async () => {
  const { open, tell, clock } = signedIn()
  const page = await open()
  page.takeText()

  await clock.advance(14_900)
  const before = page.takeText()
  await tell(LINE)
  const news = page.takeKinds()
  await clock.advance(14_999)
  const afterNews = page.takeText()
  await clock.advance(1)

  expect(before).toBe('')
  expect(news).toEqual(['line'])
  expect(afterNews).toBe('')
  expect(page.takeText()).toBe(': still here\n\n')
})

test('the stream ends with the session, with the relay, and when the page goes', async () => {
  const loggedOut = signedIn()
  const stopped = signedIn()
  const left = signedIn()
  const rigs = [loggedOut, stopped, left]
  const pages = await Promise.all(rigs.map((rig) => rig.open()))
  const watchedBefore = rigs.map(({ changes }) => changes.watcherCount)

  loggedOut.logOut()
  stopped.stop()
  await pages[2]?.close()
  await settle()

  expect(watchedBefore).toEqual([1, 1, 1])
  expect(pages.map(({ isOver }) => isOver)).toEqual([true, true, true])
  expect(rigs.map(({ changes }) => changes.watcherCount)).toEqual([0, 0, 0])
})

test('asked for its head only, or with an unknown parameter, the stream has nobody who watches', async () => {
  const { ask, head, changes } = signedIn()

  const response = await head()
  const odd = await ask('?since=1')

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await response.text()).toBe('')
  expect(odd.status).toBe(400)
  expect(changes.watcherCount).toBe(0)
})

test('a hundred pages are enough', async () => {
  const { open, ask } = signedIn()
  const pages = await Promise.all(Array.from({ length: 100 }, () => open()))

  const refused = await ask()
  await pages[0]?.close()
  const again = await ask()

  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('10')
  expect(again.status).toBe(200)
  await again.body?.cancel()
})
