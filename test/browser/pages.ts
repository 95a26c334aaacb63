// Every page, dialog and drawer on one width, light and dark: nothing sticks out, nothing jumps, nothing is
// asked of another host, a finger hits everything, and everybody can use it. With `HOOKLINE_SCREENSHOTS=1`,
// screenshots are kept to be looked at.

import { expect } from 'bun:test'

import type { Route } from 'playwright-core'

import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { showBusyWeeks } from './busy-weeks.ts'
import { lineIds } from './furnished.ts'
import { EMPTY_PLACES, furnishAll, furnishedPlaces, visit, type Place } from './places.ts'
import { Stage, type Look } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

/** As much as nobody notices, by the measure that browsers have for it. */
const SHIFT_MAX = 0.05
/** How many are open at once, to wait for their data together. */
const TABS = 4
const LATER_MS = 80
const TIMEOUT_MS = 180_000
/** Conversations with files. */
const RICH = ['thread', 'group']

/** The stories of every page, on a browser of the width. */
export function pagesFit(width: string, look: Look): void {
  story(
    `every page fits on a ${width}, light and dark, and everybody can use it`,
    async () => {
      await using stage = await Stage.open()
      const watched = await stage.page(look)
      using rooms = await furnishAll(stage, watched)
      await showBusyWeeks(watched, await lineIds(rooms.api))

      const problems = await problemsAt(watched, furnishedPlaces(rooms), width)

      expect(problems).toEqual([])
    },
    TIMEOUT_MS,
  )

  story(
    `a relay in which nothing happened yet fits on a ${width}, and the sign-in`,
    async () => {
      await using stage = await Stage.open({ lines: 0 })
      const watched = await stage.page(look)
      const stranger = await stage.strangersPage(look)

      const problems = await problemsAt(watched, EMPTY_PLACES, `empty-${width}`)
      await stranger.show('home')
      problems.push(...(await problemsOf(stranger, `sign-in-${width}`)), ...stranger.faults)

      expect(problems.filter((problem) => !isOfUnknown(problem))).toEqual([])
    },
    TIMEOUT_MS,
  )

  story(
    `no page jumps on a ${width} while its data arrive`,
    async () => {
      await using stage = await Stage.open()
      const first = await stage.page(look)
      using rooms = await furnishAll(stage, first)
      // What is made in one tab, or the step of setup, would move things in the others, and a file that never
      // arrives is asked for again and again.
      const places = furnishedPlaces(rooms).filter(
        ({ name, step, press }) => step === null && press.length === 0 && !RICH.includes(name),
      )

      const problems = await sideBySide(first, places, jumpsOf)

      expect(problems).toEqual([])
    },
    TIMEOUT_MS,
  )
}

/** All that is wrong at the places. */
async function problemsAt(
  watched: WatchedPage,
  places: readonly Place[],
  suffix: string,
): Promise<string[]> {
  return sideBySide(watched, places, async (tab, place) => {
    await visit(tab, place)
    return problemsOf(tab, `${place.name}-${suffix}`)
  })
}

/** Says what is wrong, and takes a picture of the whole, by day and by night. */
async function problemsOf(watched: WatchedPage, name: string): Promise<string[]> {
  const found: string[] = []
  await watched.whole(async () => {
    const { px, parts } = await watched.overflow()
    if (px > 0) found.push(`${px} px too wide: ${parts.join(', ')}`)
    found.push(...(await watched.smallTargets()))
    // By day all is looked at, by night the colours: nothing else differs.
    for (const [colorScheme, of] of [
      ['light', 'all'],
      ['dark', 'contrast'],
    ] as const) {
      await watched.page.emulateMedia({ colorScheme })
      await watched.keepPicture(`${name}-${colorScheme}`)
      found.push(...(await watched.accessibilityFaults(of)))
    }
  })
  return found.map((problem) => `${name}: ${problem}`)
}

/** Goes through the places in several tabs at once, and then through the steps of setup, which the relay counts. */
async function sideBySide(
  first: WatchedPage,
  places: readonly Place[],
  look: (tab: WatchedPage, place: Place) => Promise<readonly string[]>,
): Promise<string[]> {
  const problems: string[] = []
  const walk = async (rest: Place[]) => {
    const tab = await first.another()
    for (let place = rest.shift(); place !== undefined; place = rest.shift()) {
      problems.push(...(await look(tab, place)))
      // A dialog may be over it: one closes by its own button only, another at the next address.
      const isCovered =
        place.press.length > 0 || (await tab.page.locator('dialog[open]').count()) > 0
      if (isCovered) await tab.page.goto('about:blank')
    }
    problems.push(...tab.faults)
    await tab.page.close()
  }
  const anywhere = places.filter(({ step }) => step === null)
  await Promise.all(Array.from({ length: TABS }, () => walk(anywhere)))
  await walk(places.filter(({ step }) => step !== null))
  return [...problems, ...first.faults]
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
  return sum < SHIFT_MAX ? [] : [`${place.name}: ${sum.toFixed(3)} (${parts.join(', ')})`]
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

/** Chromium notes each answer that says that there is no such thing. */
function isOfUnknown(fault: string): boolean {
  return fault.includes('status of 404') && fault.includes('unknown')
}
