import { expect, test } from 'bun:test'

import {
  Judgement,
  dropSuspicion,
  isSuspected,
  isWatched,
  suspectDamage,
  takeWatch,
  type JudgementTools,
} from '../../src/hosting/judgement.ts'
import { UnusableDatabaseError } from '../../src/storage/migrations.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

type Told = boolean | string | null

/** A judgement that is under way; `told` is what it has said so far. */
function startJudgement(parts: Partial<JudgementTools> = {}) {
  const clock = new TestClock()
  const end = new AbortController()
  const checks: number[] = []
  const judgement = new Judgement({
    clock,
    isWatched: () => false,
    sizeBytes: 1_000,
    ...parts,
    requireSound: async () => {
      checks.push(clock.monotonic())
      await parts.requireSound?.()
    },
  })
  let told: Told = null
  const verdict = judgement.verdict(end.signal).then(
    (mayServe) => void (told = mayServe),
    (error: unknown) => void (told = error instanceof UnusableDatabaseError && error.message),
  )
  return { clock, judgement, checks, verdict, end: () => end.abort(), told: (): Told => told }
}

const never = () => new Promise<void>(() => {})

test('where nobody watches, the relay serves as soon as its database is found sound', async () => {
  const { clock, told } = startJudgement()

  await clock.advance(0)

  expect(told()).toBe(true)
})

test('where nobody watches, a database that is not sound keeps the relay from serving', async () => {
  const { clock, told } = startJudgement({
    requireSound: () => Promise.reject(new Error('3 rows point to nothing.')),
  })

  await clock.advance(0)

  expect(told()).toBe('The database does not pass its check: 3 rows point to nothing.')
})

test('the check has a minute, and as many more as the database has gigabytes', async () => {
  const small = startJudgement({ requireSound: never })
  const large = startJudgement({ requireSound: never, sizeBytes: 3 * 2 ** 30 })

  await small.clock.advance(59_999)
  const [before] = [small.told()]
  await small.clock.advance(1)
  await large.clock.advance(179_999)
  const [largeBefore] = [large.told()]
  await large.clock.advance(1)

  expect([before, largeBefore]).toEqual([null, null])
  expect(small.told()).toContain('it took longer than 60 seconds.')
  expect(large.told()).toContain('it took longer than 180 seconds.')
})

test('while an upgrade watches, its word is waited for, and nothing is checked', async () => {
  const { clock, judgement, checks, told } = startJudgement({ isWatched: () => true })

  await clock.advance(600_000)
  const before = told()
  judgement.acquit()
  await clock.advance(0)

  expect([before, told(), checks]).toEqual([null, true, []])
})

test('an upgrade that dies without a word leaves the judgement to the check', async () => {
  let isAlive = true
  const { clock, checks, told } = startJudgement({ isWatched: () => isAlive })

  await clock.advance(10_000)
  isAlive = false
  await clock.advance(1_000)

  expect([checks, told()]).toEqual([[11_000], true])
})

test('an upgrade that says nothing for a quarter of an hour is waited for no longer', async () => {
  const { clock, checks, told } = startJudgement({ isWatched: () => true })

  await clock.advance(899_000)
  const before = told()
  await clock.advance(1_000)

  expect([before, checks, told()]).toEqual([null, [900_000], true])
})

for (const isWatchedNow of [true, false]) {
  test(`a stop ends the judgement ${isWatchedNow ? 'of an upgrade' : 'by the check'}`, async () => {
    const judged = startJudgement({ isWatched: () => isWatchedNow, requireSound: never })
    await judged.clock.advance(1_500)

    judged.end()
    await judged.verdict

    expect(judged.told()).toBe(false)
  })
}

test('an upgrade watches for as long as it holds its lock', () => {
  using folder = new ScratchFolder()
  const directory = dataDirectoryAt(folder.path)

  const before = isWatched(directory, TEST_START)
  const watch = takeWatch(directory, TEST_START)
  const during = isWatched(directory, TEST_START)
  watch.release()
  const after = isWatched(directory, TEST_START)

  expect([before, during, after]).toEqual([false, true, false])
})

test('two upgrades at once are one too many', () => {
  using folder = new ScratchFolder()
  const directory = dataDirectoryAt(folder.path)
  const watch = takeWatch(directory, TEST_START)

  expect(() => takeWatch(directory, TEST_START)).toThrow('hookline upgrade, process')

  watch.release()
})

test('damage that was met is remembered until a start has looked', () => {
  using folder = new ScratchFolder()
  const directory = dataDirectoryAt(folder.path)

  const before = isSuspected(directory)
  suspectDamage(directory)
  const met = isSuspected(directory)
  dropSuspicion(directory)

  expect([before, met, isSuspected(directory)]).toEqual([false, true, false])
})
