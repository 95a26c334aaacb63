// An upgrade from its first look at the new executable to the word that lets it serve, or to the old one
// in its place again. It runs in the old executable, as a process of its own, and may die at any moment:
// each step leaves something that can be started, and the next upgrade clears up.

import { tellHealthy, waitUntilReady } from './relay-state.ts'
import { readBefore } from './upgrade-database.ts'
import {
  sentenceOf,
  type Refused,
  type UpgradedService,
  type UpgradeOrder,
  type UpgradeResult,
  type UpgradeStep,
  type UpgradeTools,
} from './upgrade-order.ts'
import { prepareUpgrade, type Prepared } from './upgrade-preparation.ts'
import { stopRelay, takeBack } from './upgrade-roll-back.ts'
import { clearStaged, keepPrevious, placeStaged, swapPathsOf } from './upgrade-swap.ts'

/** What a start needs besides the migration of the database. */
const READY_MS_MAX = 60_000
/** A start copies, migrates and checks as the trial did, beside a machine that has other things to do. */
const START_PER_TRIAL = 3

/**
 * Upgrades, and tells each step once it is done. It never throws: whoever runs it to its end gets the
 * outcome, and whoever stops in between leaves what a crash would leave.
 */
export async function* upgrade(
  tools: UpgradeTools,
  order: UpgradeOrder,
): AsyncGenerator<UpgradeStep, UpgradeResult> {
  const prepared = yield* prepareOrRefuse(tools, order)
  if ('outcome' in prepared) {
    clearStaged(swapPathsOf(order.executable))
    return prepared
  }
  const { service } = tools
  if (service !== null) {
    const obstacle = await stopRelay(tools, service)
    if (obstacle !== null) return leaveAsItWas(service, prepared, obstacle)
    yield 'stopped'
  }
  return yield* exchange(tools, prepared)
}

async function* prepareOrRefuse(
  tools: UpgradeTools,
  order: UpgradeOrder,
): AsyncGenerator<UpgradeStep, Prepared | Refused> {
  try {
    return yield* prepareUpgrade(tools, order)
  } catch (error) {
    return { outcome: 'refused', why: sentenceOf(error) }
  }
}

async function leaveAsItWas(
  service: UpgradedService,
  { paths, old }: Prepared,
  obstacle: string,
): Promise<Refused> {
  clearStaged(paths)
  try {
    await service.start(old?.version ?? '')
    return { outcome: 'refused', why: obstacle }
  } catch (error) {
    return {
      outcome: 'refused',
      why: `${obstacle} The service does not start: ${sentenceOf(error)}`,
    }
  }
}

/** The relay is stopped: the executables change, and the new one shows what it can do. */
async function* exchange(
  tools: UpgradeTools,
  prepared: Prepared,
): AsyncGenerator<UpgradeStep, UpgradeResult> {
  const { paths, old, next, backup } = prepared
  const before = readBefore(tools.directory)
  let isPlaced = prepared.isInPlace
  let why: string | null
  try {
    if (!isPlaced) {
      keepPrevious(paths)
      yield 'previous_kept'
      placeStaged(paths)
      isPlaced = true
    }
    clearStaged(paths)
    yield 'placed'
    why = tools.service === null ? null : yield* tryOut(tools, tools.service, prepared)
  } catch (error) {
    why = sentenceOf(error)
  }
  if (why !== null) {
    return yield* takeBack(tools, { why, paths, old, next, isPlaced, before })
  }
  return {
    outcome: 'upgraded',
    from: old?.version ?? null,
    to: next.version,
    previous: paths.previous,
    backup,
    isRunning: tools.service !== null,
  }
}

/** Starts the new executable and lets it serve once it is ready; null, or what is wrong with it. */
async function* tryOut(
  tools: UpgradeTools,
  service: UpgradedService,
  { next, checkedMs }: Prepared,
): AsyncGenerator<UpgradeStep, string | null> {
  await service.start(next.version)
  yield 'started'
  const limitMs = READY_MS_MAX + START_PER_TRIAL * checkedMs
  const unready = await waitUntilReady(tools, limitMs)
  if (unready !== null) return `The new version does not serve: ${unready}`
  yield 'ready'
  const deaf = await tellHealthy(tools)
  if (deaf !== null) return `The new version does not serve: ${deaf}`
  yield 'healthy'
  return null
}
