// The part of a start before anything runs: the data are taken, and where they were migrated under a
// service, nothing but the listener runs until they are judged.

import { existsSync, statSync } from 'node:fs'

import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { Judgement, dropSuspicion, isSuspected, isWatched } from '../hosting/judgement.ts'
import { BackupWorker } from '../storage/backup.ts'
import { damageFound } from '../storage/damage.ts'
import { NotYetError, openData, requireDatabase, startFailure, type Data } from '../storage/data.ts'
import { UnusableDatabaseError, isUnusableDatabase } from '../storage/migrations.ts'
import { systemClock } from '../system/clock.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { HeldElsewhereError } from '../system/instance-lock.ts'
import type { Log } from '../system/log.ts'
import { systemRandom } from '../system/random.ts'
import { VERSION } from '../system/version.ts'
import type { Call } from './command.ts'
import { ControlClient } from './control-client.ts'

/** What this start was asked for. */
export type Start = {
  readonly call: Call
  readonly config: Config
  readonly log: Log
  /** Aborts when the relay is to stop. */
  readonly signal: AbortSignal
  /** Whether somebody starts it again when it ends, and nobody sees why it ended. */
  readonly isHosted: boolean
  /** Whether there was a database before this start, so that a missing one is lost and not new. */
  readonly expectsDatabase: boolean
}

/** How long a command that reads or writes the file itself may keep a relay from starting. */
const PATIENCE_MS = 10_000
const PASSING_TASKS = ['command', 'upgrade']
const LOOK_AGAIN_MS = 50

/** A command may have the data directory for a moment; another relay has it for good. */
export async function openDataPatiently({ config, log, ...start }: Start): Promise<Data> {
  const directory = dataDirectoryAt(config.dataDir)
  if (start.expectsDatabase) requireDatabase(directory)
  if (!existsSync(directory.lock)) await refuseBesideAnother(directory.controlSocket)
  const never = new AbortController().signal
  const until = systemClock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      return openData(config, { clock: systemClock, random: systemRandom, log, version: VERSION })
    } catch (error) {
      const task = error instanceof HeldElsewhereError ? (error.holder?.task ?? '') : ''
      if (!PASSING_TASKS.includes(task) || systemClock.monotonic() > until) throw error
    }
    await systemClock.sleep(LOOK_AGAIN_MS, never)
  }
}

/** Where its lock was deleted, a relay that answers keeps its data directory all the same. */
async function refuseBesideAnother(socket: string): Promise<void> {
  if (!(await new ControlClient(socket).isThere())) return
  throw new Error(`A relay already answers on ${socket}. Stop it first: hookline down, or Ctrl-C.`)
}

/** Lets go of the data where making the app meets damage: nothing runs yet. */
export function createAppFrom(data: Data, create: () => App): App {
  try {
    return create()
  } catch (error) {
    if (!isUnusableDatabase(error)) throw error
    data.close()
    const damage = damageFound(data.directory, error)
    throw new UnusableDatabaseError(damage.message, { cause: error })
  }
}

/** Null where the relay may serve at once: nothing was migrated, or a person stands by. */
export function judgementOf({ directory, migration }: Data, start: Start): Judgement | null {
  if (!start.isHosted || (migration === undefined && !isSuspected(directory))) return null
  start.log.info('the database is judged before anything runs', {
    from_schema: migration?.from ?? null,
  })
  const { database } = directory
  return new Judgement({
    clock: systemClock,
    requireSound: () => new BackupWorker().requireSound(database),
    isWatched: () => isWatched(directory, systemClock.now()),
    sizeBytes: statSync(database).size,
  })
}

/** Starts the relay when its judgement, where there is one, lets it; gives the address. */
export async function startJudged(
  app: App,
  verdict: Promise<boolean> | undefined,
  { directory, migration }: Data,
): Promise<string> {
  const accepted = verdict?.then((mayServe) => {
    if (mayServe) migration?.accept()
    if (mayServe) dropSuspicion(directory)
    return mayServe
  })
  if (accepted === undefined) migration?.accept()
  try {
    return await app.start(accepted)
  } catch (error) {
    // By now only the verdict says so, and nothing but the listener runs.
    if (error instanceof UnusableDatabaseError) await app.stop()
    const failure = startFailure(directory, error)
    if (failure instanceof NotYetError) await app.stop()
    throw failure
  }
}
