// An upgrade, until the new executable serves or the old one does again. It runs as a separate process of the old
// executable and may die at any moment: each step leaves something that can be started, and the next upgrade
// cleans up.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { dailyBackup, listBackups } from '../storage/backup.ts'
import type { SchemaState } from '../storage/migrations.ts'
import { backupsBeforeMigration, rollBackDatabase, schemaStateOf } from '../storage/restore.ts'
import { takeSnapshot } from '../storage/snapshot.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { hashFile } from '../system/hash.ts'
import type { RunProcess } from '../system/process.ts'
import { describeFailure, tryTool, useTool } from './system-tool.ts'
import {
  type ExecutableAbout,
  type SwapPaths,
  aboutExecutable,
  clearStaged,
  copyExecutable,
  keepPrevious,
  placeStaged,
  publishedSum,
  putPreviousBack,
  signatureProblem,
  swapPathsOf,
} from './upgrade-executable.ts'
import {
  type Refused,
  type UpgradeOrder,
  type UpgradeResult,
  type UpgradeStep,
  type UpgradedMachine,
  type UpgradedService,
  confirmStart,
  sentenceOf,
  stopRelay,
  waitUntilReady,
} from './upgraded-machine.ts'

type Prepared = {
  readonly paths: SwapPaths
  /** Null if the old executable couldn't say. */
  readonly old: ExecutableAbout | null
  readonly next: ExecutableAbout
  /** True if the new executable is in place already. */
  readonly isInPlace: boolean
  readonly backup: string | null
  /** The time that it took to copy, migrate and check the database; a start takes about as long. */
  readonly checkedMs: number
}

/** Enough for a database of a hundred gigabytes. */
const CHECK_MS_MAX = 3_600_000
/** A start copies, migrates and checks as the trial did, but on a machine that may be busier. */
const START_PER_TRIAL = 3
/** The suffix of the copy on which migrations are tried. */
const TRIAL = '.trial'

const UNVERIFIED = 'If you trust its source, add --unverified.'
const FOREGROUND =
  'Hookline is running in the foreground, not as a service. Stop it with Ctrl-C, upgrade, and start it again.'

/** Yields each step once it is done. Never throws; a caller that stops halfway leaves what a crash would leave. */
export async function* upgrade(
  machine: UpgradedMachine,
  order: UpgradeOrder,
): AsyncGenerator<UpgradeStep, UpgradeResult> {
  let prepared: Prepared | Refused
  try {
    prepared = yield* prepare(machine, order)
  } catch (error) {
    prepared = refused(sentenceOf(error))
  }
  if ('outcome' in prepared) {
    clearStaged(swapPathsOf(order.executable))
    return prepared
  }
  const { service } = machine
  if (service !== null) {
    const obstacle = await stopRelay(machine, service)
    if (obstacle !== null) return startUnchanged(service, prepared, obstacle)
    yield 'stopped'
  }
  return yield* exchange(machine, prepared)
}

/** The path of the copy of `backup` on which migrations are tried. */
export function trialPath(backup: string): string {
  return `${backup}${TRIAL}`
}

/** Runs while the old relay still runs: a failure here changes nothing. */
async function* prepare(
  machine: UpgradedMachine,
  order: UpgradeOrder,
): AsyncGenerator<UpgradeStep, Prepared | Refused> {
  const { run, directory } = machine
  const { signal } = order
  const paths = swapPathsOf(order.executable)
  clearStaged(paths)
  clearTrials(directory)
  if (machine.service === null && (await machine.relay.state()).is !== 'absent') {
    return refused(FOREGROUND)
  }
  const sum = copyExecutable(order.file, paths.staged)
  yield 'staged'
  const problem = releaseProblem(order, sum)
  if (problem !== null) return refused(problem)
  if (machine.isSignedHere) {
    const args = ['--force', '--sign', '-', paths.staged]
    await useTool(
      run,
      { path: '/usr/bin/codesign', args, purpose: 'sign the new executable' },
      signal,
    )
  }
  const next = await aboutExecutable(run, paths.staged, signal)
  if (next === null) return refused(`${order.file} is not a Hookline executable for this machine.`)
  yield 'verified'

  const startedAt = machine.clock.monotonic()
  // A box has no database, nor has a relay before its first start.
  const backup = backUp(machine)
  if (backup !== null) {
    yield 'backed_up'
    const trouble = await tryMigrations(run, paths.staged, backup, signal)
    if (trouble !== null) return refused(`The new version cannot use the database: ${trouble}`)
    yield 'migrations_checked'
  }

  const isInPlace = (await hashFile(paths.staged)) === (await hashFile(paths.current))
  // If an earlier upgrade broke off after the exchange, the old executable is the one that it kept.
  const old = await aboutExecutable(run, isInPlace ? paths.previous : paths.current, signal)
  if (signal.aborted) return refused('It was interrupted.')
  return { paths, old, next, isInPlace, backup, checkedMs: machine.clock.monotonic() - startedAt }
}

const refused = (why: string): Refused => ({ outcome: 'refused', why })

/** The reason to doubt that Hookline released the file; null if it did, or if no proof is needed. */
function releaseProblem(
  { file, isUnverified, releaseKey }: UpgradeOrder,
  sum: string,
): string | null {
  const published = publishedSum(file)
  if (published !== null && published.sum !== sum) {
    return `${file} is not the published file: its SHA-256 is ${sum}, expected ${published.sum}.`
  }
  if (isUnverified) return null
  if (published === null) {
    return (
      `No checksum found for ${file}: neither ${file}.sha256 nor a SHA256SUMS file beside it lists ` +
      `it. ${UNVERIFIED}`
    )
  }
  if (releaseKey === null) {
    return `This build has no release key, so it cannot verify the file. ${UNVERIFIED}`
  }
  const problem = signatureProblem(published, releaseKey)
  return problem === null ? null : `${problem} ${UNVERIFIED}`
}

/** Makes a verified copy among the daily backups. Only reads, so a relay may run or be in safe mode. */
function backUp({ directory, clock }: UpgradedMachine): string | null {
  if (!existsSync(directory.database)) return null
  return takeSnapshot(dailyBackup(directory, clock.now())).path
}

/** Makes the new executable migrate a copy of `backup`; returns the problem it found, or null. */
async function tryMigrations(
  run: RunProcess,
  executable: string,
  backup: string,
  signal: AbortSignal,
): Promise<string | null> {
  const args = ['check-migrations', backup]
  const order = { path: executable, args, timeoutMs: CHECK_MS_MAX }
  const answer = await tryTool(run, order, signal)
  if (answer === null) return signal.aborted ? 'it was interrupted.' : 'it gave no answer.'
  return answer.exitCode === 0 ? null : describeFailure(executable, answer)
}

/** Removes the copies of an interrupted check. */
function clearTrials({ backups }: DataDirectory): void {
  if (!existsSync(backups)) return
  const left = readdirSync(backups).filter((name) => name.includes(TRIAL))
  for (const name of left) rmSync(join(backups, name), { force: true })
}

async function startUnchanged(
  service: UpgradedService,
  { paths, old }: Prepared,
  obstacle: string,
): Promise<Refused> {
  clearStaged(paths)
  try {
    await service.start(old?.version ?? '')
    return refused(obstacle)
  } catch (error) {
    return refused(`${obstacle} The service does not start: ${sentenceOf(error)}`)
  }
}

/** Exchanges the executables while the relay is stopped, then starts the new one. */
async function* exchange(
  machine: UpgradedMachine,
  prepared: Prepared,
): AsyncGenerator<UpgradeStep, UpgradeResult> {
  const { paths, old, next, backup } = prepared
  const before = readBefore(machine.directory)
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
    why = machine.service === null ? null : yield* tryOut(machine, machine.service, prepared)
  } catch (error) {
    why = sentenceOf(error)
  }
  if (why !== null) {
    return yield* takeBack(machine, { why, paths, old, next, isPlaced, before })
  }
  return {
    outcome: 'upgraded',
    from: old?.version ?? null,
    to: next.version,
    previous: paths.previous,
    backup,
    isRunning: machine.service !== null,
  }
}

/** Starts the new executable and lets it serve once it is ready; returns its problem, or null. */
async function* tryOut(
  machine: UpgradedMachine,
  service: UpgradedService,
  { next, checkedMs }: Prepared,
): AsyncGenerator<UpgradeStep, string | null> {
  await service.start(next.version)
  yield 'started'
  const unready = await waitUntilReady(machine, machine.readyMs + START_PER_TRIAL * checkedMs)
  if (unready !== null) return `The new version did not start: ${unready}`
  yield 'ready'
  const unconfirmed = await confirmStart(machine)
  if (unconfirmed !== null) return `The new version did not start: ${unconfirmed}`
  yield 'healthy'
  return null
}

// The rollback puts back the old database, if the old executable can't use the migrated one, and then the old
// executable. A crash in between leaves the new executable with a database that it can migrate again.

/** The data directory after the old relay had ended and before the new one began. */
type Before = {
  /** The schema of the database; null if it was missing or damaged. */
  readonly version: number | null
  readonly backups: ReadonlySet<string>
}

type Failure = Pick<Prepared, 'paths' | 'old' | 'next'> & {
  /** The problem of the new executable. */
  readonly why: string
  /** True if the new executable took the old one's place. */
  readonly isPlaced: boolean
  readonly before: Before
}

type DatabaseRollback =
  /** The old executable can use the database as it is: most migrations only add. */
  | { readonly way: 'keep' }
  | { readonly way: 'put_back'; readonly backup: string }
  | { readonly way: 'none'; readonly why: string }

type Undone =
  /** `aside` is the path of the migrated database; null if it could stay. */
  | { readonly isUndone: true; readonly aside: string | null }
  | { readonly isUndone: false; readonly noWayBack: string }

function readBefore(directory: DataDirectory): Before {
  const backups = listBackups(directory.backups).map(({ path }) => path)
  const state = readState(directory.database)
  const version = state === null || state === 'damaged' ? null : state.version
  return { version, backups: new Set(backups) }
}

async function* takeBack(
  machine: UpgradedMachine,
  failure: Failure,
): AsyncGenerator<UpgradeStep, UpgradeResult> {
  const { service } = machine
  const { why, old, next } = failure
  yield 'taking_back'
  const obstacle = service === null ? null : await stopRelay(machine, service)
  if (obstacle !== null) return { outcome: 'stuck', why, noWayBack: obstacle }
  yield 'stopped_again'
  const undone = yield* undoLocked(machine, failure)
  const version = undone.isUndone ? (old?.version ?? '') : next.version
  const trouble = service === null ? null : await startAgain(machine, service, version)
  yield 'started_again'
  if (undone.isUndone) return { outcome: 'rolled_back', why, aside: undone.aside, trouble }
  return { outcome: 'stuck', why, noWayBack: undone.noWayBack }
}

/** Returns why the relay isn't ready, or null once it is. */
async function startAgain(
  machine: UpgradedMachine,
  service: UpgradedService,
  version: string,
): Promise<string | null> {
  try {
    await service.start(version)
  } catch (error) {
    return sentenceOf(error)
  }
  return waitUntilReady(machine, machine.readyMs)
}

/** Rolls back while this process holds the data's lock, so that nothing else starts in between. */
async function* undoLocked(
  machine: UpgradedMachine,
  failure: Failure,
): AsyncGenerator<UpgradeStep, Undone> {
  try {
    const lock = machine.holdData()
    try {
      return yield* undo(machine, failure)
    } finally {
      lock.release()
    }
  } catch (error) {
    return { isUndone: false, noWayBack: sentenceOf(error) }
  }
}

async function* undo(
  { directory, clock }: UpgradedMachine,
  { paths, old, isPlaced, before }: Failure,
): AsyncGenerator<UpgradeStep, Undone> {
  if (!isPlaced) return { isUndone: true, aside: null }
  if (old === null) {
    return { isUndone: false, noWayBack: `${paths.previous} does not report its version.` }
  }
  const back = databaseRollback(directory, old.schema, before)
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

/** The way to make the database usable for an executable that knows `schema` schemas. */
function databaseRollback(
  directory: DataDirectory,
  schema: number,
  before: Before,
): DatabaseRollback {
  const state = readState(directory.database)
  if (state === null || before.version === null) return { way: 'keep' }
  if (state !== 'damaged') {
    if (state.usableFrom <= schema) return { way: 'keep' }
    // No backup has the messages that it has accepted and sent since.
    if (state.uncheckedFrom === null)
      return { way: 'none', why: 'The new version has been in service already.' }
  }
  const made = backupsBeforeMigration(directory.backups, before.version)
  // Each start that broke off makes another backup: the first one is from before all of them.
  const backup = made.find((path) => !before.backups.has(path))
  if (backup !== undefined) return { way: 'put_back', backup }
  // The backup comes before the first change: without a backup, nothing was migrated.
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
