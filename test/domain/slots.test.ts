import { expect, test } from 'bun:test'

import {
  afterAttempt,
  FIRST_SLOTS,
  fullSince,
  isLate,
  lastAnswerOf,
  mayBegin,
  type LastAnswer,
  type Slots,
  type Standing,
  type Trial,
} from '../../src/domain/slots.ts'

const TWENTY: Slots = { count: 20, usualMs: 100, lostAt: 0 }

type Given = Partial<Trial> & { readonly tookMs?: number }

/** Changes by an attempt, with all slots taken and beside others unless given otherwise. */
const ATTEMPTS: readonly (readonly [what: string, slots: Slots, Given, Partial<Slots>])[] = [
  ['the first answer brings four', FIRST_SLOTS, { tookMs: 90 }, { count: 4, usualMs: 90 }],
  ['a first failure leaves one', FIRST_SLOTS, { isSuccess: false }, { count: 1, usualMs: null }],
  ['an answer brings one more', TWENTY, {}, { count: 21, usualMs: 100 }],
  ['no more than 64', { ...TWENTY, count: 64 }, {}, { count: 64 }],
  ['none if one was free', TWENTY, { wasFull: false }, { count: 20 }],
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

test.each(ATTEMPTS)('%s', (_what, slots, given, expected) => {
  expect(afterAttempt(slots, trial(given))).toMatchObject(expected)
})

test('sixty-four slots are earned in five rounds', () => {
  let slots = afterAttempt(FIRST_SLOTS, trial({ tookMs: 100 }))
  const rounds: number[] = []

  while (slots.count < 64) {
    const { count } = slots
    for (let i = 0; i < count; i += 1) slots = afterAttempt(slots, trial({}))
    rounds.push(slots.count)
  }

  expect(rounds).toEqual([8, 16, 32, 64])
})

test('a receiver that works on one thing at a time is asked for few, one that is slower for good earns its slots again', () => {
  const alone = [...roundsAt(FIRST_SLOTS, (count) => 100 * count, 20)].slice(10)
  const [before] = [...roundsAt(FIRST_SLOTS, () => 50, 10)].slice(-1)

  const after = [...roundsAt(before ?? FIRST_SLOTS, () => 500, 30)].map(({ count }) => count)

  expect(Math.max(...alone.map(({ count }) => count))).toBeLessThanOrEqual(4)
  expect(before?.count).toBe(64)
  expect(after).toContain(1)
  expect(after.at(-1)).toBe(64)
})

/** In flight to it, its slots, its standing, its last answer; in flight in all, in kept slots, to the unproven. */
const BEGINNINGS: readonly (readonly [
  number,
  number,
  Standing,
  LastAnswer,
  number,
  number,
  number,
  string,
])[] = [
  [0, 1, 'untried', 'earlier', 0, 0, 0, 'common'],
  [1, 1, 'untried', 'earlier', 1, 0, 1, 'no'],
  [63, 64, 'proven', 'just_now', 63, 0, 0, 'common'],
  [64, 64, 'proven', 'since_full', 64, 0, 0, 'no'],
  [0, 1, 'untried', 'earlier', 127, 0, 127, 'common'],
  [0, 1, 'untried', 'earlier', 128, 0, 128, 'wait'],
  [1, 4, 'late', 'just_now', 127, 0, 127, 'common'],
  [1, 4, 'late', 'just_now', 128, 0, 128, 'wait'],
  [0, 1, 'failing', 'earlier', 95, 0, 95, 'common'],
  [0, 1, 'failing', 'earlier', 96, 0, 96, 'wait'],
  [0, 4, 'proven', 'earlier', 128, 0, 128, 'common'],
  [0, 4, 'proven', 'earlier', 191, 0, 128, 'common'],
  [0, 4, 'proven', 'earlier', 192, 0, 128, 'wait'],
  [1, 4, 'proven', 'just_now', 183, 0, 128, 'common'],
  [1, 4, 'proven', 'just_now', 184, 0, 128, 'wait'],
  [63, 64, 'proven', 'just_now', 152, 0, 0, 'common'],
  [63, 64, 'proven', 'just_now', 153, 0, 0, 'wait'],
  [0, 1, 'failing', 'earlier', 191, 0, 0, 'common'],
  [0, 1, 'failing', 'since_full', 192, 0, 0, 'wait'],
  [0, 4, 'proven', 'just_now', 192, 27, 0, 'kept'],
  [0, 4, 'proven', 'just_now', 192, 28, 0, 'wait'],
  [1, 4, 'proven', 'just_now', 192, 0, 0, 'wait'],
  [0, 4, 'proven', 'since_full', 192, 39, 192, 'kept'],
  [0, 4, 'proven', 'since_full', 192, 40, 192, 'wait'],
  [3, 4, 'proven', 'since_full', 192, 36, 192, 'kept'],
  [3, 4, 'proven', 'since_full', 192, 37, 192, 'wait'],
]

test('an attempt begins within its own slots, and within what all may take together', () => {
  const answers = BEGINNINGS.map(
    ([inFlight, count, standing, lastAnswer, common, kept, unproven]) => {
      const candidate = { inFlight, slots: { ...TWENTY, count }, standing, lastAnswer }
      return mayBegin(candidate, { common, kept, unproven })
    },
  )

  expect(answers.map(String)).toEqual(BEGINNINGS.map((row) => row[7]))
})

test('an attempt is late after twice the usual time and a quarter of a second, if a usual time is known', () => {
  const late = (slots: Slots, tookMs: number) => isLate(slots, 1_000, 1_000 + tookMs)

  expect([late(TWENTY, 450), late(TWENTY, 451)]).toEqual([false, true])
  expect(late(FIRST_SLOTS, 10_000)).toBeFalse()
})

test('slots are scarce from the moment when all common ones are taken until half of them are free', () => {
  const moments: readonly (readonly [number, number])[] = [
    [191, 10],
    [192, 20],
    [191, 30],
    [192, 40],
    [96, 50],
    [95, 60],
    [192, 70],
  ]

  let full: number | null = null
  const after = moments.map(([common, now]) => (full = fullSince(full, common, now)))

  expect(after).toEqual([null, 20, 20, 20, 20, null, 70])
})

test('an answer counts as one since slots are scarce, as one of the last second, or as an earlier one', () => {
  expect([
    lastAnswerOf(20, 20, 9_000),
    lastAnswerOf(19, 20, 1_019),
    lastAnswerOf(19, 20, 1_020),
    lastAnswerOf(20, null, 1_020),
    lastAnswerOf(-Infinity, null, 0),
  ]).toEqual(['since_full', 'just_now', 'earlier', 'just_now', 'earlier'])
})

test('however many receivers hold what they can, some is left for those that have nothing', () => {
  for (const webhooks of [1, 2, 3, 16, 60]) {
    let held = Array.from({ length: webhooks }, () => 0)
    const common = () => held.reduce((sum, one) => sum + one, 0)
    const mayTake = (inFlight: number) => {
      const slots = { ...TWENTY, count: 64 }
      const candidate = { inFlight, slots, standing: 'proven', lastAnswer: 'earlier' } as const
      return mayBegin(candidate, { common: common(), kept: 0, unproven: 0 }) === 'common'
    }
    while (mayTake(held[0] ?? 0)) {
      const [least = 0, ...others] = held
      held = [...others, least + 1].toSorted((a, b) => a - b)
    }

    expect(common()).toBeLessThanOrEqual(184)
    expect(mayTake(0)).toBeTrue()
  }
})

/** The slots after each round, in which all of them are used and take as long as `tookMs` says. */
function* roundsAt(start: Slots, tookMs: (count: number) => number, rounds: number) {
  let slots = start
  let startedAt = 1_000
  for (let round = 0; round < rounds; round += 1) {
    const { count } = slots
    const endedAt = startedAt + tookMs(count)
    for (let i = 0; i < count; i += 1) {
      slots = afterAttempt(slots, {
        startedAt,
        endedAt,
        isSuccess: true,
        wasAlone: count === 1,
        wasFull: true,
      })
    }
    startedAt = endedAt
    yield slots
  }
}

function trial({ tookMs = 100, ...given }: Given): Trial {
  const times = { startedAt: 1_000, endedAt: 1_000 + tookMs }
  return { ...times, isSuccess: true, wasAlone: false, wasFull: true, ...given }
}
