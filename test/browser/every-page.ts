// All places at all widths, by day and by night, and in all locales: what the tests do with a few. With
// `HOOKLINE_SCREENSHOTS=1`, pictures are kept to be looked at.

import { LOCALES, problemsAbroad } from './abroad.ts'
import { showBusyWeeks } from './busy-weeks.ts'
import { lineIds } from './furnished.ts'
import { fits, isReadableByNight, jumpsAt, problemsAt, type Check } from './pages.ts'
import { EMPTY_PLACES, furnishAll, furnishedPlaces, placesNamed } from './places.ts'
import { COMPUTER, PHONE, Stage, TOUCH, type Look } from './stage.ts'

const LOOKS: Readonly<Record<string, Look>> = {
  phone: { viewport: PHONE, ...TOUCH },
  computer: { viewport: COMPUTER },
}
const WIDE = { viewport: { width: 3_840, height: 2_160 } }
const ON_A_WALL = ['home', 'lines', 'conversations']
/** A file that never arrives is asked for again and again. */
const NEVER_STILL = ['thread', 'group']

/** Looks at every page; gives the number of views, and what is wrong with them. */
export async function lookAtEveryPage(): Promise<{ views: number; faults: readonly string[] }> {
  const faults: string[] = []
  let views = 0
  for (const [name, look] of Object.entries(LOOKS)) {
    const found = [await furnished(name, look), await jumping(look), await empty(look)]
    views += found.reduce((sum, each) => sum + each.views, 0)
    faults.push(...found.flatMap((each) => each.faults).map((fault) => `${name}: ${fault}`))
  }
  for (const more of [await furnished('wide', WIDE, ON_A_WALL), await inAllLocales()]) {
    views += more.views
    faults.push(...more.faults)
  }
  return { views, faults }
}

/** All that axe-core finds on the whole of it, also below a dialog. */
const isUsable: Check = (tab) => tab.accessibilityFaults('all')

async function furnished(name: string, look: Look, only: readonly string[] = []) {
  await using stage = await Stage.open()
  const relay = await relayOf(stage)
  const watched = await stage.page(look)
  using rooms = await furnishAll(relay, watched)
  await showBusyWeeks(watched, relay.lines)
  const all = furnishedPlaces(rooms)
  const places = only.length === 0 ? all : placesNamed(all, only)
  const picture: Check = async (tab, place) => {
    await tab.keepPicture(`${place}-${name}`)
    return []
  }
  const checks = [fits, isUsable, picture, isReadableByNight]
  const problems = await problemsAt(watched, places, checks)
  return { views: places.length, faults: [...problems, ...stage.faults] }
}

async function jumping(look: Look) {
  await using stage = await Stage.open()
  const watched = await stage.page(look)
  using rooms = await furnishAll(await relayOf(stage), watched)
  // What is made in one tab, or the step of setup, would move things in the others.
  const places = furnishedPlaces(rooms).filter(
    ({ name, step, press }) => step === null && press.length === 0 && !NEVER_STILL.includes(name),
  )
  const problems = await jumpsAt(watched, places)
  return { views: places.length, faults: [...problems, ...stage.faults] }
}

async function empty(look: Look) {
  await using stage = await Stage.open({ lines: 0 })
  stage.excuse(/status of 404.*unknown/)
  const watched = await stage.page(look)
  const problems = await problemsAt(watched, EMPTY_PLACES, [fits, isUsable, isReadableByNight])
  return { views: EMPTY_PLACES.length, faults: [...problems, ...stage.faults] }
}

async function inAllLocales() {
  await using stage = await Stage.open()
  const relay = await relayOf(stage)
  using rooms = await furnishAll(relay, await stage.page())
  const places = furnishedPlaces(rooms).filter(({ press }) => press.length === 0)
  const faults: string[] = []
  for (const locale of LOCALES) {
    faults.push(...(await problemsAbroad(stage, relay, { rooms, places, locale })))
  }
  return { views: places.length * LOCALES.length, faults: [...faults, ...stage.faults] }
}

async function relayOf(stage: Stage) {
  const api = await stage.api()
  return { api, lines: await lineIds(api) }
}
