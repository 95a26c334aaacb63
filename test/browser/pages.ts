// What may be wrong with a page, dialog or drawer: it is wider than its window, a finger misses a control, words
// are too pale, some people cannot use it, or it jumps while its data arrive.

import type { Route } from 'playwright-core'

import { eventually } from '../support/eventually.ts'
import { visit, type Place } from './places.ts'
import { COMPUTER } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

/** Says what is wrong with the place that is shown. */
export type Check = (tab: WatchedPage, name: string) => Promise<readonly string[]>

/** As much as nobody notices, by the measure that browsers have for it. */
const SHIFT_MAX = 0.05
/**
 * How many are open at once, to wait for their data together. Each holds one of the six connections that Chromium
 * makes to a host.
 */
const TABS = 3
const LATER_MS = 80

/** Nothing sticks out, and a finger hits everything on a page that is touched. */
export const fits: Check = async (tab, name) => [
  ...(await sticksOut(tab, name)),
  ...(await tab.smallTargets()),
]

const sticksOut: Check = async (tab) => {
  const { px, parts } = await tab.overflow()
  return px > 0 ? [`${px} px too wide: ${parts.join(', ')}`] : []
}

/** Nothing sticks out on a computer either, once the page has followed its window. */
export const fitsComputer: Check = async (tab, name) => {
  await tab.page.setViewportSize(COMPUTER)
  await tab.drawn()
  await tab.settle()
  return sticksOut(tab, name)
}

/** Everybody can use it, by all that axe-core knows. */
export const isUsable: Check = (tab) => tab.accessibilityFaults('top')

/** By night the colors are others, and nothing else. */
export const isReadableByNight: Check = async (tab) => {
  await tab.page.emulateMedia({ colorScheme: 'dark' })
  const faults = await tab.accessibilityFaults('contrast')
  await tab.page.emulateMedia({ colorScheme: 'light' })
  return faults
}

/** Goes to the places, and says what is wrong there. */
export function problemsAt(
  first: WatchedPage,
  places: readonly Place[],
  checks: readonly Check[],
): Promise<string[]> {
  return sideBySide(first, places, async (tab, place) => {
    const found: string[] = []
    await visit(tab, place)
    await tab.whole(async () => {
      for (const check of checks) found.push(...(await check(tab, place.name)))
    })
    return found
  })
}

/** Says which of the places jump while their data arrive. What is made there would move things in other tabs. */
export function jumpsAt(first: WatchedPage, places: readonly Place[]): Promise<string[]> {
  return sideBySide(first, places, jumpsOf)
}

/** Goes through the places in several tabs at once, and then through the steps of setup, which the relay counts. */
async function sideBySide(
  first: WatchedPage,
  places: readonly Place[],
  look: (tab: WatchedPage, place: Place) => Promise<readonly string[]>,
): Promise<string[]> {
  const problems: string[] = []
  await first.page.goto('about:blank')
  const walk = async (rest: Place[]) => {
    const tab = await first.another()
    for (let place = rest.shift(); place !== undefined; place = rest.shift()) {
      problems.push(...(await look(tab, place)).map((problem) => `${place.name}: ${problem}`))
      if (place.press.length > 0) await leave(tab)
    }
    await tab.page.close()
  }
  const anywhere = places.filter(({ step }) => step === null)
  await Promise.all(Array.from({ length: TABS }, () => walk(anywhere)))
  await walk(places.filter(({ step }) => step !== null))
  return problems
}

/** Leaves nothing open: another page takes the place of a menu, and a dialog that shows a secret ends with all. */
async function leave({ page }: WatchedPage): Promise<void> {
  await page.keyboard.press('Escape')
  const isCovered = (await page.locator('dialog[open]').count()) > 0
  await page.goto(isCovered ? 'about:blank' : '/#/nope')
}

async function jumpsOf(tab: WatchedPage, place: Place): Promise<readonly string[]> {
  await tab.page.goto('about:blank')
  const open = await answerLate(tab)
  await visit(tab, place)
  await eventually('all is answered', () => (open.size === 0 ? true : null))
  await tab.drawn()
  const { sum, parts } = await tab.shifts()
  // The list that is refreshed just now is not waited for.
  await tab.page.unrouteAll({ behavior: 'ignoreErrors' })
  return sum < SHIFT_MAX ? [] : [`jumps by ${sum.toFixed(3)} (${parts.join(', ')})`]
}

/**
 * Gives each answer of the relay later than a page needs to draw what it shows meanwhile, and each later
 * than the one before. What it gives holds the requests that have no answer yet.
 */
async function answerLate({ page }: WatchedPage): Promise<ReadonlySet<Route>> {
  const open = new Set<Route>()
  let delayMs = 0
  await page.route('**/dashboard/api/**', async (route) => {
    open.add(route)
    await Bun.sleep((delayMs += LATER_MS))
    // A page that leaves meanwhile no longer waits for it.
    const response = await route.fetch().catch(() => null)
    await (response === null ? route.continue() : route.fulfill({ response })).catch(() => {})
    open.delete(route)
  })
  return open
}
