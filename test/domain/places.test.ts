import { expect, test } from 'bun:test'

import {
  afterAttempt,
  FIRST_PLACES,
  mayBegin,
  type Places,
  type Standing,
  type Trial,
} from '../../src/domain/places.ts'

const TWENTY: Places = { count: 20, usualMs: 100, lostAt: 0 }

type Given = Partial<Trial> & { readonly tookMs?: number }

/** What an attempt changes, with all places taken and beside others, unless it is told otherwise. */
const ATTEMPTS: readonly (readonly [what: string, places: Places, Given, Partial<Places>])[] = [
  ['the first answer brings four', FIRST_PLACES, { tookMs: 90 }, { count: 4, usualMs: 90 }],
  ['a first failure leaves one', FIRST_PLACES, { isSuccess: false }, { count: 1, usualMs: null }],
  ['an answer brings one more', TWENTY, {}, { count: 21, usualMs: 100 }],
  ['no more than 64', { ...TWENTY, count: 64 }, {}, { count: 64 }],
  ['none where one was free', TWENTY, { wasFull: false }, { count: 20 }],
  ['an answer as slow as may be brings one', TWENTY, { tookMs: 250 }, { count: 21, usualMs: 100 }],
  ['a slower one costs half', TWENTY, { tookMs: 251 }, { count: 10, lostAt: 1_251 }],
  ['a failure costs half', TWENTY, { isSuccess: false }, { count: 10, lostAt: 1_100 }],
  ['a fast receiver needs four', { ...TWENTY, usualMs: 20 }, { tookMs: 19 }, { count: 4 }],
  ['the last one stays', { ...TWENTY, count: 1 }, { isSuccess: false }, { count: 1 }],
  [
    'what was in flight at a loss costs nothing more',
    { ...TWENTY, lostAt: 1_001 },
    { isSuccess: false },
    { count: 20, lostAt: 1_001 },
  ],
  ['a faster answer is the new measure, bit by bit', TWENTY, { tookMs: 60 }, { usualMs: 90 }],
  ['a slower one is not, beside others', TWENTY, { tookMs: 180 }, { usualMs: 100 }],
  ['alone it is', TWENTY, { tookMs: 180, wasAlone: true }, { usualMs: 120 }],
]

for (const [what, places, given, expected] of ATTEMPTS) {
  test(what, () => {
    expect(afterAttempt(places, trial(given))).toMatchObject(expected)
  })
}

test('sixty-four places are earned in five rounds', () => {
  let places = afterAttempt(FIRST_PLACES, trial({ tookMs: 100 }))
  const rounds: number[] = []

  while (places.count < 64) {
    const { count } = places
    for (let i = 0; i < count; i += 1) places = afterAttempt(places, trial({}))
    rounds.push(places.count)
  }

  expect(rounds).toEqual([8, 16, 32, 64])
})

test('a receiver that works on one thing at a time is asked for few things at a time', () => {
  const counts = [...roundsAt(FIRST_PLACES, (count) => 100 * count, 20)].slice(10)

  expect(Math.max(...counts.map(({ count }) => count))).toBeLessThanOrEqual(4)
})

test('a receiver that is slower for good earns its places again', () => {
  const [before] = [...roundsAt(FIRST_PLACES, () => 50, 10)].slice(-1)

  const after = [...roundsAt(before ?? FIRST_PLACES, () => 500, 30)].map(({ count }) => count)

  expect(before?.count).toBe(64)
  expect(after).toContain(1)
  expect(after.at(-1)).toBe(64)
})

/** In flight to it, its places, what is thought of it, in flight in all and to the unproven. */
const BEGINNINGS: readonly (readonly [number, number, Standing, number, number, string])[] = [
  [0, 1, 'untried', 0, 0, 'yes'],
  [1, 1, 'untried', 1, 1, 'no'],
  [63, 64, 'proven', 63, 0, 'yes'],
  [64, 64, 'proven', 64, 0, 'no'],
  [0, 1, 'untried', 127, 127, 'yes'],
  [0, 1, 'untried', 128, 128, 'wait'],
  [0, 1, 'failing', 95, 95, 'yes'],
  [0, 1, 'failing', 96, 96, 'wait'],
  [0, 4, 'proven', 128, 128, 'yes'],
  [0, 4, 'proven', 191, 128, 'yes'],
  [0, 4, 'proven', 192, 128, 'wait'],
  [1, 4, 'proven', 183, 128, 'yes'],
  [1, 4, 'proven', 184, 128, 'wait'],
  [63, 64, 'proven', 152, 0, 'yes'],
  [63, 64, 'proven', 153, 0, 'wait'],
  [0, 1, 'failing', 191, 0, 'yes'],
]

for (const [inFlight, count, standing, all, unproven, answer] of BEGINNINGS) {
  test(`${inFlight} of ${count}, ${standing}, beside ${all} (${unproven}): ${answer}`, () => {
    expect(mayBegin(inFlight, { ...TWENTY, count }, standing, { all, unproven })).toBe(
      answer as 'yes', // One of the three.
    )
  })
}

test('however many receivers hold what they can, some is left for those that have nothing', () => {
  for (const lanes of [1, 2, 3, 16, 60]) {
    let held = Array.from({ length: lanes }, () => 0)
    const taken = () => ({ all: held.reduce((sum, one) => sum + one, 0), unproven: 0 })
    const mayTake = (inFlight: number) =>
      mayBegin(inFlight, { ...TWENTY, count: 64 }, 'proven', taken()) === 'yes'
    while (mayTake(held[0] ?? 0)) {
      const [least = 0, ...others] = held
      held = [...others, least + 1].toSorted((a, b) => a - b)
    }

    expect(taken().all).toBeLessThanOrEqual(184)
    expect(mayTake(0)).toBeTrue()
  }
})

/** The places after each round, in which all of them are used and take as long as `tookMs` says. */
function* roundsAt(start: Places, tookMs: (count: number) => number, rounds: number) {
  let places = start
  let startedAt = 1_000
  for (let round = 0; round < rounds; round += 1) {
    const { count } = places
    const endedAt = startedAt + tookMs(count)
    for (let i = 0; i < count; i += 1) {
      places = afterAttempt(places, {
        startedAt,
        endedAt,
        isSuccess: true,
        wasAlone: count === 1,
        wasFull: true,
      })
    }
    startedAt = endedAt
    yield places
  }
}

function trial({ tookMs = 100, ...given }: Given): Trial {
  const times = { startedAt: 1_000, endedAt: 1_000 + tookMs }
  return { ...times, isSuccess: true, wasAlone: false, wasFull: true, ...given }
}
