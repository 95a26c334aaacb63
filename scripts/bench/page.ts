// (p): the dashboard in a browser: its first paint over a million messages, what the first row of the conversations
// costs, how far it jumps if its typeface comes late, the heap after scrolling, and its longest frame while 300
// messages a second are sent.

import type { CDPSession, Request } from 'playwright-core'

import { fillDatabase } from '../../test/browser/large-database.ts'
import { Stage } from '../../test/browser/stage.ts'
import type { WatchedPage } from '../../test/browser/watched-page.ts'
import type { ApiClient } from '../../test/support/relay-process.ts'
import { moveToBothCores, moveToLoadCore } from './cores.ts'
import { atMost, median, type Figure } from './figure.ts'
import { sendPaced } from './latency.ts'
import type { Line } from './relay.ts'

const SIZE = { conversations: 100_000, messages: 1_000_000 }
const VISITS = 7
const PAINT_MS = 200
const FRAME_MS = 150
const FIRST_ROW_MS = 300
/** As Chromium scores it: share of the window that moves, times how far. */
const SHIFT = 0.01
const HEAP_MB = 150
/** As far down as nobody scrolls by hand. */
const ROWS_SEEN = 2_000
const ROW = '[aria-label="Conversations"] > li'
const PER_SECOND = 300
const SECONDS = 8
/** By then the scripts of all pages are loaded. */
const SETTLED_MS = 6_000

const FIRST_PAINT = `new Promise((done) => new PerformanceObserver((list) => {
  const paint = list.getEntriesByName('first-contentful-paint')[0]
  if (paint) done(paint.startTime)
}).observe({ type: 'paint', buffered: true }))`

/** Says on the console when the first row stands there: to ask for it would be script as well. */
const TELL_FIRST_ROW = `new MutationObserver((_, watch) => {
  if (document.querySelector('${ROW}') === null) return
  watch.disconnect()
  console.debug('first row')
}).observe(document, { subtree: true, childList: true })`

const WATCH_FRAMES = `{
  window.frames = []
  let before = performance.now()
  requestAnimationFrame(function next(now) {
    window.frames.push(now - before)
    before = now
    requestAnimationFrame(next)
  })
}`

export async function page(): Promise<readonly Figure[]> {
  moveToBothCores()
  await using stage = await Stage.open({ prepare: (dataDir) => fillDatabase(dataDir, SIZE) })
  const api = await stage.api()
  const { data: lines } = await api.ask<{ data: readonly Line[] }>('GET', '/api/v1/phone-lines')
  for (const { id } of lines) {
    await api.ask('PATCH', `/api/v1/phone-lines/${id}`, { daily_contact_limit: 100_000 })
  }
  const watched = await stage.page()
  const figures = [await firstPaint(watched), await firstRow(watched)]
  const places = ['home', 'conversations', 'messages', await thread(api)]
  for (const place of places) figures.push(await shift(watched, place))
  figures.push(await heap(watched))
  for (const place of places) {
    figures.push(await longestFrame(watched, api, place))
  }
  moveToLoadCore()
  return figures
}

async function firstPaint(watched: WatchedPage): Promise<Figure> {
  const times: number[] = []
  for (let visit = 0; visit < VISITS; visit += 1) {
    const { page: tab } = await watched.another()
    await tab.goto('/#/home')
    times.push(await tab.evaluate<number>(FIRST_PAINT))
    await tab.close()
  }
  const value = median(times)
  const list = times.map((time) => time.toFixed(0)).join(', ')
  return atMost({
    id: 'p',
    what: 'first paint at a million messages',
    measured: `${value.toFixed(0)} ms`,
    yardstick: list,
    value,
    floor: PAINT_MS,
  })
}

/** What the page's script and the relay do until the first of the conversations stands there. */
async function firstRow(watched: WatchedPage): Promise<Figure> {
  const times: number[] = []
  for (let visit = 0; visit < VISITS; visit += 1) {
    const { page: tab } = await watched.another()
    const asked: Request[] = []
    tab.on('requestfinished', (request) => asked.push(request))
    await tab.addInitScript(TELL_FIRST_ROW)
    const cdp = await tab.context().newCDPSession(tab)
    await cdp.send('Performance.enable')
    const isThere = tab.waitForEvent('console', (message) => message.text() === 'first row')
    await tab.goto('/#/conversations')
    await isThere
    const scriptMs = (await metric(cdp, 'ScriptDuration')) * 1_000
    const waits = asked.map((request) => request.timing())
    times.push(
      waits.reduce((sum, at) => sum + Math.max(0, at.responseStart - at.requestStart), scriptMs),
    )
    await tab.close()
  }
  const value = median(times)
  return atMost({
    id: 'p',
    what: 'script and answers until the first of 100,000 conversations',
    measured: `${value.toFixed(0)} ms`,
    yardstick: times.map((time) => time.toFixed(0)).join(', '),
    value,
    floor: FIRST_ROW_MS,
  })
}

/** The page is drawn without its typeface, which then comes. */
async function shift(watched: WatchedPage, place: string): Promise<Figure> {
  const tab = await watched.another()
  const letGo = await tab.hold('**/*.woff2')
  // The page counts as loaded only with its typeface.
  await tab.page.goto(`/#/${place}`, { waitUntil: 'commit' })
  await tab.page.locator('h1').first().waitFor()
  await Bun.sleep(SETTLED_MS)
  letGo()
  await tab.page.evaluate('document.fonts.ready')
  await tab.drawn()
  const { sum, parts } = await tab.shifts()
  await tab.page.close()
  return atMost({
    id: 'p',
    what: `layout shift if the typeface comes late, ${nameOf(place)}`,
    measured: sum.toFixed(4),
    yardstick: parts.slice(0, 3).join('; '),
    value: sum,
    floor: SHIFT,
  })
}

/** Without the id of a conversation. */
function nameOf(place: string): string {
  return place.includes('/') ? `${place.split('/', 1).join()}, a thread` : place
}

async function heap(watched: WatchedPage): Promise<Figure> {
  const { page: tab } = watched
  await watched.show('conversations')
  await watched.scrollList(ROW, ROWS_SEEN)
  const cdp = await tab.context().newCDPSession(tab)
  await cdp.send('Performance.enable')
  await cdp.send('HeapProfiler.collectGarbage')
  const value = (await metric(cdp, 'JSHeapUsedSize')) / 1e6
  return atMost({
    id: 'p',
    what: `heap after scrolling to conversation ${ROWS_SEEN}`,
    measured: `${value.toFixed(0)} MB`,
    yardstick: '',
    value,
    floor: HEAP_MB,
  })
}

async function metric(cdp: CDPSession, name: string): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return metrics.find((each) => each.name === name)?.value ?? Number.NaN
}

/** A conversation that messages are sent to. */
async function thread(api: ApiClient): Promise<string> {
  const body = { to: '+12025591000', text: 'Hello' }
  const sent = await api.ask<{ conversation_id: string }>('POST', '/api/v1/messages/send', body)
  return `conversations/${sent.conversation_id}`
}

async function longestFrame(watched: WatchedPage, api: ApiClient, place: string): Promise<Figure> {
  const { page: tab } = watched
  await tab.goto(`/#/${place}`)
  await Bun.sleep(SETTLED_MS)
  await tab.evaluate(WATCH_FRAMES)
  await sendPaced({ api }, PER_SECOND * SECONDS, PER_SECOND, () => {})
  const frames = await tab.evaluate<readonly number[]>('window.frames')
  await tab.reload()
  const value = Math.max(...frames)
  const late = frames.filter((ms) => ms > FRAME_MS / 3).length
  return atMost({
    id: 'p',
    what: `longest frame at ${PER_SECOND} messages a second, ${nameOf(place)}`,
    measured: `${value.toFixed(0)} ms`,
    yardstick: `${frames.length} frames, ${late} above ${FRAME_MS / 3} ms`,
    value,
    floor: FRAME_MS,
  })
}
