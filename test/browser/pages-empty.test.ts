// Pages of a relay in which nothing happened yet, and those of things that do not exist.

import { expect } from 'bun:test'

import { fits, fitsComputer, isUsable, problemsAt } from './pages.ts'
import { EMPTY_PLACES } from './places.ts'
import { PHONE, TOUCH } from './stage.ts'
import { storyOn } from './story.ts'

storyOn({ lines: 0 }, 'everybody can use a relay in which nothing happened yet', async (stage) => {
  const look = { viewport: PHONE, ...TOUCH }
  const watched = await stage.page(look)
  const stranger = await stage.strangersPage(look)
  stage.excuse(/status of 404.*unknown/)

  const problems = await problemsAt(watched, EMPTY_PLACES, [fits, isUsable, fitsComputer])
  await stranger.show('home')
  for (const check of [fits, isUsable, fitsComputer]) {
    problems.push(...(await check(stranger, 'sign-in')))
  }

  expect(problems).toEqual([])
})
