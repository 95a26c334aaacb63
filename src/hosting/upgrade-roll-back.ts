// The way back: the old executable, and where it cannot use what the new one made of the database, the
// database of before. The database goes first, so that a crash in between leaves the new executable with
// a database that it can migrate once more, never the old one with a database that it refuses.

import { rollBackDatabase } from '../storage/roll-back.ts'
import { waitUntilGone, waitUntilReady } from './relay-state.ts'
import { wayBack, type Before } from './upgrade-database.ts'
import type { About } from './upgrade-file.ts'
import {
  sentenceOf,
  type UpgradedService,
  type UpgradeResult,
  type UpgradeStep,
  type UpgradeTools,
} from './upgrade-order.ts'
import { putPreviousBack, type SwapPaths } from './upgrade-swap.ts'

export type Failure = {
  /** What went wrong with the new executable. */
  readonly why: string
  readonly paths: SwapPaths
  /** The executable to go back to; null where it could not say what it is. */
  readonly old: About | null
  readonly next: About
  /** Whether the new one took the old one's place. */
  readonly isPlaced: boolean
  readonly before: Before
}

type Undone =
  /** `aside` is where the migrated database lies; null where it could stay. */
  | { readonly isUndone: true; readonly aside: string | null }
  | { readonly isUndone: false; readonly noWayBack: string }

const READY_MS_MAX = 60_000

export async function* takeBack(
  tools: UpgradeTools,
  failure: Failure,
): AsyncGenerator<UpgradeStep, UpgradeResult> {
  const { service } = tools
  const { why, old, next } = failure
  yield 'taking_back'
  const obstacle = service === null ? null : await stopRelay(tools, service)
  if (obstacle !== null) return { outcome: 'stuck', why, noWayBack: obstacle }
  yield 'stopped_again'
  const undone = yield* undoAlone(tools, failure)
  const version = undone.isUndone ? (old?.version ?? '') : next.version
  const trouble = service === null ? null : await startAgain(tools, service, version)
  yield 'started_again'
  if (undone.isUndone) return { outcome: 'rolled_back', why, aside: undone.aside, trouble }
  return { outcome: 'stuck', why, noWayBack: undone.noWayBack }
}

/** Stops the service; null, or why there still is a relay. */
export async function stopRelay(
  tools: UpgradeTools,
  service: UpgradedService,
): Promise<string | null> {
  try {
    await service.stop()
  } catch (error) {
    return sentenceOf(error)
  }
  if (await waitUntilGone(tools)) return null
  return 'A relay that is not the service runs on the same data: stop it by Ctrl-C where it runs.'
}

/** Null once the relay is ready, else why it is not. */
async function startAgain(
  tools: UpgradeTools,
  service: UpgradedService,
  version: string,
): Promise<string | null> {
  try {
    await service.start(version)
  } catch (error) {
    return sentenceOf(error)
  }
  return waitUntilReady(tools, READY_MS_MAX)
}

/** The same with the data held, so that nobody starts in between. */
async function* undoAlone(
  tools: UpgradeTools,
  failure: Failure,
): AsyncGenerator<UpgradeStep, Undone> {
  try {
    const lock = tools.holdData()
    try {
      return yield* undo(tools, failure)
    } finally {
      lock.release()
    }
  } catch (error) {
    return { isUndone: false, noWayBack: sentenceOf(error) }
  }
}

async function* undo(
  { directory, clock }: UpgradeTools,
  { paths, old, isPlaced, before }: Failure,
): AsyncGenerator<UpgradeStep, Undone> {
  if (!isPlaced) return { isUndone: true, aside: null }
  if (old === null) {
    return { isUndone: false, noWayBack: `${paths.previous} does not say what it is.` }
  }
  const back = wayBack(directory, old.schema, before)
  if (back.way === 'none') return { isUndone: false, noWayBack: back.why }
  let aside: string | null = null
  if (back.way === 'put_back') {
    aside = rollBackDatabase(directory, back.backup, clock.now())
    yield 'database_put_back'
  }
  putPreviousBack(paths)
  yield 'previous_put_back'
  return { isUndone: true, aside }
}
