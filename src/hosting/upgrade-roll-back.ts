// The way back: the old executable, and where it cannot use the migrated database, the database of
// before. The database goes first, so that a crash in between leaves the new executable with a database
// that it can migrate once more, never the old one with a database that it refuses.

import { listBackups } from '../storage/backup.ts'
import type { SchemaState } from '../storage/migrations.ts'
import { backupsBeforeMigration, rollBackDatabase, schemaStateOf } from '../storage/roll-back.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { putPreviousBack, type ExecutableAbout, type SwapPaths } from './upgrade-executable.ts'
import {
  sentenceOf,
  stopRelay,
  waitUntilReady,
  type UpgradedService,
  type UpgradeResult,
  type UpgradeStep,
  type UpgradeTools,
} from './upgrade-tools.ts'

/** Data directory after the old relay had ended and before the new one began. */
type Before = {
  /** Schema of the database; null where there was none, or it was damaged. */
  readonly version: number | null
  readonly backups: ReadonlySet<string>
}

type Failure = {
  /** Problem of the new executable. */
  readonly why: string
  readonly paths: SwapPaths
  /** The executable to go back to; null where it could not say what it is. */
  readonly old: ExecutableAbout | null
  readonly next: ExecutableAbout
  /** True where the new executable took the old one's place. */
  readonly isPlaced: boolean
  readonly before: Before
}

type DatabaseWayBack =
  /** The old executable can use it as it is: most migrations only add. */
  | { readonly way: 'keep' }
  | { readonly way: 'put_back'; readonly backup: string }
  | { readonly way: 'none'; readonly why: string }

type Undone =
  /** `aside` is the path of the migrated database; null where it could stay. */
  | { readonly isUndone: true; readonly aside: string | null }
  | { readonly isUndone: false; readonly noWayBack: string }

const READY_MS_MAX = 60_000

export function readBefore(directory: DataDirectory): Before {
  const backups = listBackups(directory.backups).map(({ path }) => path)
  const state = readState(directory.database)
  const version = state === null || state === 'damaged' ? null : state.version
  return { version, backups: new Set(backups) }
}

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

/** Undoes with the data locked, so that nothing starts in between. */
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
    return { isUndone: false, noWayBack: `${paths.previous} does not report its version.` }
  }
  const back = databaseWayBack(directory, old.schema, before)
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

/** Way back to an executable that knows `schema` schemas. */
function databaseWayBack(
  directory: DataDirectory,
  schema: number,
  before: Before,
): DatabaseWayBack {
  const state = readState(directory.database)
  if (state === null || before.version === null) return { way: 'keep' }
  if (state !== 'damaged') {
    if (state.usableFrom <= schema) return { way: 'keep' }
    // Messages that it has accepted and sent since are in no backup.
    if (state.uncheckedFrom === null)
      return { way: 'none', why: 'The new version has been in service already.' }
  }
  const made = backupsBeforeMigration(directory.backups, before.version)
  // A start that was broken off makes another one: the first is the one from before all of them.
  const backup = made.find((path) => !before.backups.has(path))
  if (backup !== undefined) return { way: 'put_back', backup }
  // The copy comes before the first change: without one nothing was migrated.
  if (state === 'damaged') return { way: 'keep' }
  return { way: 'none', why: 'There is no backup of the database from before the upgrade.' }
}

function readState(path: string): SchemaState | null | 'damaged' {
  try {
    return schemaStateOf(path)
  } catch {
    return 'damaged'
  }
}
