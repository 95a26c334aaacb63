// Two locales and a few pages; all of both: `bun scripts/torture.ts pages`.

import { expect } from 'bun:test'

import { LOCALES, problemsAbroad } from './abroad.ts'
import { furnishAll, furnishedPlaces, placesNamed } from './places.ts'
import { story } from './story.ts'

const ABROAD = ['thread', 'messages', 'settings']

story('dates, numbers and days are those of the browser, and nothing sticks out', async (scene) => {
  const { stage } = scene
  using rooms = await furnishAll(scene, await stage.page())
  const places = placesNamed(furnishedPlaces(rooms), ABROAD)
  const problems: string[] = []

  for (const locale of LOCALES.filter(([name]) => name === 'de-DE' || name === 'ar-EG')) {
    problems.push(...(await problemsAbroad(stage, scene, { rooms, places, locale })))
  }

  expect(problems).toEqual([])
})
