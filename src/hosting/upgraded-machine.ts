// The machine that an upgrade works on, and its relay, which it stops and starts, seen from outside.

import { NEVER, type Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { InstanceLock } from '../system/instance-lock.ts'
import type { MinisignKey } from '../system/minisign.ts'
import type { RunProcess } from '../system/process.ts'

export type UpgradeOrder = {
  /** The new executable; it stays as it is. */
  readonly file: string
  /** Path of the old one, links resolved: the file that the service runs, or is made from. */
  readonly executable: string
  /** True if `file` may lack a sum signed with the release key. */
  readonly isUnverified: boolean
  /** Key that signs releases; null if this build has none. */
  readonly releaseKey: MinisignKey | null
  /** Aborts the preparation. Once the relay is stopped, an upgrade runs to its end. */
  readonly signal: AbortSignal
}

export type UpgradedMachine = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly directory: DataDirectory
  readonly relay: WatchedRelay
  /** Starts and stops the relay; null if it is no service. */
  readonly service: UpgradedService | null
  /** Time for a start besides the migration of the database. */
  readonly readyMs: number
  /** Locks the data directory; throws if another process has it. */
  readonly holdData: () => InstanceLock
  /** True on a Mac with an Intel processor, which runs nothing that is not signed on the spot. */
  readonly isSignedHere: boolean
}

export type UpgradedService = {
  /** Starts the file that is now at the executable's path, of this version. */
  start(version: string): Promise<void>
  /** Returns when the process has ended. */
  stop(): Promise<void>
}

/** Relay of a data directory, from outside. */
export type WatchedRelay = {
  state(): Promise<RelayState>
  /** Ends its startup check; throws where it does not answer. */
  confirmHealthy(): Promise<void>
}

export type RelayState =
  /** Nothing answers. */
  | { readonly is: 'absent' }
  /** The process runs and is not ready: it starts or stops; `why` is a whole sentence. */
  | { readonly is: 'starting'; readonly why?: string | undefined }
  /** Its database is open and migrated; a box has its lines online again. */
  | { readonly is: 'ready' }
  /** Its database cannot be used; `reason` is whole sentences. */
  | { readonly is: 'safe_mode'; readonly reason: string }

/** Steps in order, in words for the owner. The process may die after any of them. */
export const UPGRADE_STEPS = {
  staged: 'Copied the new executable.',
  verified: 'It runs on this machine.',
  backed_up: 'Backed up the database.',
  migrations_checked: 'Migrated and checked a copy of the database.',
  stopped: 'Stopped the service.',
  previous_kept: 'Kept the old executable.',
  placed: 'Installed the new executable.',
  started: 'Started the new version.',
  ready: 'It is ready.',
  healthy: 'It is running.',
  taking_back: 'The new version failed to start. Rolling back.',
  stopped_again: 'Stopped the service again.',
  database_put_back: 'Restored the database.',
  previous_put_back: 'Restored the old executable.',
  started_again: 'Started the service again.',
} as const

export type UpgradeStep = keyof typeof UPGRADE_STEPS

/** Nothing has changed. */
export type Refused = { readonly outcome: 'refused'; readonly why: string }

export type UpgradeResult =
  | Refused
  | {
      readonly outcome: 'upgraded'
      readonly from: string | null
      readonly to: string
      /** Path of the old executable now. */
      readonly previous: string
      /** Backup made before the upgrade; null where there was no database. */
      readonly backup: string | null
      readonly isRunning: boolean
    }
  /** The old executable is in its place again. */
  | {
      readonly outcome: 'rolled_back'
      readonly why: string
      /** Path of the migrated database; null where it could stay. */
      readonly aside: string | null
      /** Null where it runs again, or was not running before; else why it does not. */
      readonly trouble: string | null
    }
  /** The new executable is in place, does not run as it should, and there is no safe way back. */
  | { readonly outcome: 'stuck'; readonly why: string; readonly noWayBack: string }

const POLL_MS = 250
/** A process that has ended may leave its socket for a moment. */
const GONE_MS_MAX = 5_000
const CONFIRM_MS_MAX = 10_000

/** Stops the service; null, or the reason why a relay still runs. */
export async function stopRelay(
  machine: UpgradedMachine,
  service: UpgradedService,
): Promise<string | null> {
  try {
    await service.stop()
  } catch (error) {
    return sentenceOf(error)
  }
  const isGone = await poll(machine.clock, GONE_MS_MAX, async () =>
    (await machine.relay.state()).is === 'absent' ? true : null,
  )
  if (isGone === true) return null
  return 'A relay that is not the service is running on the same data. Stop it with Ctrl-C first.'
}

/** Null as soon as the relay is ready, else the second half of a sentence about why it is not. */
export async function waitUntilReady(
  machine: UpgradedMachine,
  limitMs: number,
): Promise<string | null> {
  let last = ''
  const ended = await poll(machine.clock, limitMs, async () => {
    const state = await machine.relay.state()
    if (state.is === 'ready') return { why: null }
    last = state.is === 'starting' && state.why !== undefined ? ` ${state.why}` : ''
    return state.is === 'safe_mode' ? { why: `it is in safe mode: ${state.reason}` } : null
  })
  if (ended !== null) return ended.why
  return `it was not ready within ${Math.round(limitMs / 1_000)} seconds.${last}`
}

/** Lets the relay serve, retrying for ten seconds; null, or the second half of a sentence. */
export async function confirmStart(machine: UpgradedMachine): Promise<string | null> {
  let why = ''
  const isConfirmed = await poll(machine.clock, CONFIRM_MS_MAX, async () => {
    try {
      await machine.relay.confirmHealthy()
      return true
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
      return null
    }
  })
  return isConfirmed === true ? null : `it did not accept that it may serve (${why}).`
}

export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

/** First answer that is not null; null after `limitMs`. */
async function poll<T>(
  clock: Clock,
  limitMs: number,
  ask: () => Promise<T | null>,
): Promise<T | null> {
  const until = clock.monotonic() + limitMs
  for (;;) {
    const isLast = clock.monotonic() >= until
    const answer = await ask()
    if (answer !== null || isLast) return answer
    await clock.sleep(POLL_MS, NEVER)
  }
}
