// Pages in other languages and time zones.

import { expect } from 'bun:test'

import { story } from './browser.ts'
import { furnishAll, furnishedPlaces, visit } from './places.ts'
import { COMPUTER, PHONE, Stage, TABLET } from './stage.ts'

const TIMEOUT_MS = 180_000

/** Locale of the browser, that of an English page there, time zone, and width. */
const LOCALES = [
  ['en-US', 'en-US', 'America/New_York', PHONE],
  ['de-DE', 'en-DE', 'Europe/Berlin', TABLET],
  ['ja-JP', 'en-JP', 'Asia/Tokyo', PHONE],
  ['ar-EG', 'en-EG', 'Africa/Cairo', PHONE],
  ['en-IN', 'en-IN', 'Asia/Kolkata', COMPUTER],
] as const
const ABROAD = ['home', 'conversations', 'thread', 'messages', 'message', 'line', 'settings']

/** A number that every locale groups in its own way. */
const LIMIT = 100_000

story(
  'dates, numbers and days are those of the browser, and nothing sticks out',
  async () => {
    await using stage = await Stage.open()
    using rooms = await furnishAll(stage, await stage.page())
    const path = `/api/v1/phone-lines/${rooms.lineId}`
    await rooms.api.ask('PATCH', path, { daily_contact_limit: LIMIT })
    const places = furnishedPlaces(rooms).filter(({ name }) => ABROAD.includes(name))
    const problems: string[] = []

    for (const [locale, shown, timezoneId, viewport] of LOCALES) {
      const watched = await stage.page({ viewport, locale, timezoneId })
      for (const place of places) {
        await visit(watched, place)
        const { px, parts } = await watched.overflow()
        if (px > 0) problems.push(`${place.name} ${locale}: ${px} px too wide: ${parts.join(', ')}`)
        await watched.whole(() => watched.keepPicture(`${place.name}-${locale}`))
      }
      await watched.show(`conversations/${rooms.richId}`)
      await watched.page.locator('.day').first().getByText('Today').waitFor()
      const clock = watched.page.locator('.bubble-about time').first()
      const format = `new Intl.DateTimeFormat('${shown}', { timeStyle: 'short', timeZone: '${timezoneId}' })`
      const iso = await clock.getAttribute('datetime')
      const time = await watched.page.evaluate<string>(`${format}.format(new Date('${iso}'))`)
      expect(await clock.innerText()).toBe(time)
      await watched.show(`lines/${rooms.lineId}`)
      const limit = await watched.page.evaluate<string>(
        `new Intl.NumberFormat('${shown}').format(${LIMIT})`,
      )
      await watched.reads(limit)
      problems.push(...watched.faults)
    }

    expect(problems).toEqual([])
  },
  TIMEOUT_MS,
)
