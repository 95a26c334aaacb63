// Every page, on a phone and on a computer, light and dark: nothing sticks out, nothing jumps, nothing is
// asked of another host, and everybody can use it. The screenshots are there to be looked at.

import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'

import type { Route } from 'playwright-core'

import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { furnish } from './furnished.ts'
import { EMPTY_PLACES, furnishedPlaces, visit, type Place } from './places.ts'
import { COMPUTER, PHONE, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const SCREENSHOTS = `${import.meta.dir}/screenshots`
/** As much as nobody notices, by the measure that browsers have for it. */
const SHIFT_MAX = 0.05
/** How many are open at once, to wait for their data together. */
const TABS = 4
const LATER_MS = 80

const WIDTHS = [
  { width: 'phone', viewport: PHONE },
  { width: 'computer', viewport: COMPUTER },
] as const

for (const { width, viewport } of WIDTHS) {
  story(`every page fits on a ${width}, light and dark`, async () => {
    await using stage = await Stage.open()
    using furniture = await furnish(stage)
    const watched = await stage.page({ viewport })
    const problems: string[] = []

    for (const place of furnishedPlaces(furniture)) {
      await visit(watched, place)
      problems.push(...(await look(watched, `${place.name}-${width}`)))
    }

    expect(problems).toEqual([])
    expect(watched.faults).toEqual([])
  })

  story(`a relay in which nothing happened yet fits on a ${width}, and the sign-in`, async () => {
    await using stage = await Stage.open({ lines: 0 })
    const watched = await stage.page({ viewport })
    const stranger = await stage.strangersPage({ viewport })
    const problems: string[] = []

    for (const place of EMPTY_PLACES) {
      await visit(watched, place)
      problems.push(...(await look(watched, `empty-${place.name}-${width}`)))
    }
    await stranger.show('home')
    problems.push(...(await look(stranger, `sign-in-${width}`)))

    expect(problems).toEqual([])
    expect(watched.faults.filter((fault) => !isOfUnknown(fault))).toEqual([])
    expect(stranger.faults).toEqual([])
  })

  story(`everybody can use every page on a ${width}`, async () => {
    await using stage = await Stage.open()
    using furniture = await furnish(stage)
    // The policy of the page, which this browser ignores, would keep axe itself out.
    const watched = await stage.page({ viewport, bypassCSP: true })
    const problems: string[] = []

    for (const place of furnishedPlaces(furniture)) {
      await visit(watched, place)
      problems.push(...(await accessibilityOf(watched, place.name)))
    }

    expect(problems).toEqual([])
  })
}

story('everybody can use a relay in which nothing happened yet, and the sign-in', async () => {
  await using stage = await Stage.open({ lines: 0 })
  const watched = await stage.page({ viewport: PHONE, bypassCSP: true })
  const stranger = await stage.strangersPage({ viewport: PHONE, bypassCSP: true })
  const problems: string[] = []

  for (const place of EMPTY_PLACES) {
    await visit(watched, place)
    problems.push(...(await accessibilityOf(watched, `empty ${place.name}`)))
  }
  await stranger.show('home')
  problems.push(...(await accessibilityOf(stranger, 'sign-in')))

  expect(problems).toEqual([])
})

for (const { width, viewport } of WIDTHS) {
  story(`no page jumps on a ${width} while its data arrive`, async () => {
    await using stage = await Stage.open()
    using furniture = await furnish(stage)
    const first = await stage.page({ viewport })
    // The step of setup is the relay's, and these are open at the same time.
    const places = furnishedPlaces(furniture).filter(({ step }) => step === null)

    const problems: string[] = []
    for (let at = 0; at < places.length; at += TABS) {
      const tabs = places.slice(at, at + TABS).map((place) => jumpsOf(first, place))
      problems.push(...(await Promise.all(tabs)).flat())
    }

    expect(problems).toEqual([])
  })
}

/** Says what sticks out, and takes a picture of the whole, by day and by night. */
async function look(watched: WatchedPage, name: string): Promise<readonly string[]> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  const { px, parts } = await watched.overflow()
  for (const colorScheme of ['light', 'dark'] as const) {
    await watched.page.emulateMedia({ colorScheme })
    await watched.photograph(`${SCREENSHOTS}/${name}-${colorScheme}.png`)
  }
  return px === 0 ? [] : [`${name} is ${px} px too wide: ${parts.join(', ')}`]
}

/** By day all is looked at, by night the colours: nothing else differs. */
async function accessibilityOf(watched: WatchedPage, name: string): Promise<readonly string[]> {
  await watched.page.emulateMedia({ colorScheme: 'light' })
  const found = await watched.accessibilityFaults('all')
  await watched.page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await watched.accessibilityFaults('contrast')))
  return found.map((problem) => `${name}: ${problem}`)
}

async function jumpsOf(first: WatchedPage, place: Place): Promise<readonly string[]> {
  const tab = await first.another()
  const open = await answerLate(tab)
  await visit(tab, place)
  await eventually('all is answered', () => (open.size === 0 ? true : null))
  await tab.drawn()
  const { sum, parts } = await tab.shifts()
  // The list that is refreshed just now is not waited for.
  await tab.page.unrouteAll({ behavior: 'ignoreErrors' })
  await tab.page.close()
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
    await route.fulfill({ response: await route.fetch() })
    open.delete(route)
  })
  return open
}

/** Chromium notes each answer that says that there is no such thing. */
function isOfUnknown(fault: string): boolean {
  return fault.includes('status of 404') && fault.includes('unknown')
}
