// Pages in other languages and time zones: dates, numbers and days are those of the browser, and nothing sticks out.

import type { Relay } from './furnished.ts'
import { visit, type Place, type Rooms } from './places.ts'
import { COMPUTER, PHONE, TABLET, type Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

/** Locale of the browser, that of an English page there, time zone, and width. */
export const LOCALES = [
  ['en-US', 'en-US', 'America/New_York', PHONE],
  ['de-DE', 'en-DE', 'Europe/Berlin', TABLET],
  ['ja-JP', 'en-JP', 'Asia/Tokyo', PHONE],
  ['ar-EG', 'en-EG', 'Africa/Cairo', PHONE],
  ['en-IN', 'en-IN', 'Asia/Kolkata', COMPUTER],
] as const

/** A number that every locale groups in its own way. */
const LIMIT = 100_000

type Abroad = {
  readonly rooms: Rooms
  readonly places: readonly Place[]
  readonly locale: (typeof LOCALES)[number]
}

/** Goes to the places, and says what is wrong there. */
export async function problemsAbroad(
  stage: Stage,
  { api }: Relay,
  { rooms, places, locale: [locale, shown, timezoneId, viewport] }: Abroad,
): Promise<string[]> {
  await api.ask('PATCH', `/api/v1/phone-lines/${rooms.lineId}`, { daily_contact_limit: LIMIT })
  const watched = await stage.page({ viewport, locale, timezoneId })
  const problems: string[] = []
  for (const place of places) {
    await visit(watched, place)
    const { px, parts } = await watched.overflow()
    if (px > 0) problems.push(`${place.name} ${locale}: ${px} px too wide: ${parts.join(', ')}`)
    await watched.whole(() => watched.keepPicture(`${place.name}-${locale}`))
  }
  const format = (of: string) => watched.page.evaluate<string>(`new Intl.${of}`)

  await watched.show(`conversations/${rooms.richId}`)
  await watched.page.locator('.day').first().getByText('Today').waitFor()
  const clock = watched.page.locator('.bubble-about time').first()
  const date = `new Date('${await clock.getAttribute('datetime')}')`
  const options = `{ timeStyle: 'short', timeZone: '${timezoneId}' }`
  const time = await format(`DateTimeFormat('${shown}', ${options}).format(${date})`)
  if ((await clock.innerText()) !== time) problems.push(`The time in ${locale} is not ${time}`)

  await watched.show(`lines/${rooms.lineId}`)
  await watched.reads(await format(`NumberFormat('${shown}').format(${LIMIT})`))
  problems.push(...(await relativeTimes(watched, locale)))
  return problems
}

/** English words, and the whole date on asking; with 24 hours where people count so. */
async function relativeTimes(watched: WatchedPage, locale: string): Promise<readonly string[]> {
  await watched.show('home')
  const sent = watched.page.getByRole('list', { name: 'To do' }).locator('.ago').first()
  const words = await sent.innerText()
  const whole = (await sent.getAttribute('data-absolute')) ?? ''
  const isEnglish = /^(now|\d+ min\. ago)$/.test(words)
  const isGerman = /^\w+, \d+ \w+ 20\d\d at \d\d:\d\d:\d\d$/.test(whole)
  if (isEnglish && (locale !== 'de-DE' || isGerman)) return []
  return [`The time of an issue in ${locale} is ${words}, ${whole}`]
}
