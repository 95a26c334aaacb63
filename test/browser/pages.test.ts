// Every page on a phone and a computer. At all widths, by night, and in other languages they are looked at by
// `bun scripts/torture.ts pages`.

import { expect } from 'bun:test'

import { showBusyWeeks } from './busy-weeks.ts'
import { fits, fitsComputer, isReadableByNight, isUsable, jumpsAt, problemsAt } from './pages.ts'
import { furnishAll, furnishedPlaces, placesNamed } from './places.ts'
import { COMPUTER, PHONE, TOUCH } from './stage.ts'
import { story } from './story.ts'

/** All colors are on them: of charts, states, messages, code, and forms. */
const BY_NIGHT = ['home', 'thread', 'webhook-delivery', 'webhook-settings', 'settings']
const WITH_LISTS = ['home', 'conversations', 'thread-plain', 'line', 'messages']

story('every page fits, a finger hits everything, and everybody can use it', async (scene) => {
  const watched = await scene.stage.page({ viewport: PHONE, ...TOUCH })
  using rooms = await furnishAll(scene, watched)
  await showBusyWeeks(watched, scene.lines)
  const pages = furnishedPlaces(rooms).filter(({ press }) => press.length === 0)

  const problems = await problemsAt(watched, pages, [fits, isUsable, fitsComputer])
  const byNight = await problemsAt(watched, placesNamed(pages, BY_NIGHT), [isReadableByNight])

  expect(pages.length).toBeGreaterThan(20)
  expect([...problems, ...byNight]).toEqual([])
})

story('no page jumps while its data arrive, on a phone and a computer', async (scene) => {
  const computer = await scene.stage.page({ viewport: COMPUTER })
  using rooms = await furnishAll(scene, computer)
  const phone = await scene.stage.page({ viewport: PHONE, ...TOUCH })
  const places = placesNamed(furnishedPlaces(rooms), WITH_LISTS)

  const problems = [...(await jumpsAt(computer, places)), ...(await jumpsAt(phone, places))]

  expect(problems).toEqual([])
})
