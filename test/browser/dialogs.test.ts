// Every dialog, menu and drawer on a phone and a computer.

import { expect } from 'bun:test'

import { fits, fitsComputer, isReadableByNight, isUsable, problemsAt } from './pages.ts'
import { furnishAll, furnishedPlaces, placesNamed } from './places.ts'
import { PHONE, TOUCH } from './stage.ts'
import { story } from './story.ts'

const BY_NIGHT = ['search', 'conversation-new', 'key-made', 'webhook-inbox']

story('every dialog and drawer fits, is hit by a finger, and used by everybody', async (scene) => {
  const watched = await scene.stage.page({ viewport: PHONE, ...TOUCH })
  using rooms = await furnishAll(scene, watched)
  const dialogs = furnishedPlaces(rooms).filter(({ press }) => press.length > 0)

  const problems = await problemsAt(watched, dialogs, [fits, isUsable, fitsComputer])
  const byNight = await problemsAt(watched, placesNamed(dialogs, BY_NIGHT), [isReadableByNight])

  expect(dialogs.length).toBeGreaterThan(20)
  expect([...problems, ...byNight]).toEqual([])
})
