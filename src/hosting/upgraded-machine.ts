// The machine that an upgrade works on, and its relay as seen from outside.

import { NEVER, type Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { InstanceLock } from '../system/instance-lock.ts'
import type { MinisignKey } from '../system/minisign.ts'
import type { RunProcess } from '../system/process.ts'

export type UpgradeOrder = {
  /** The new executable; it stays as it is. */
  readonly file: string
  /** The path of the old one, with links resolved: the service runs this file, or is made from it. */
  readonly executable: string
  /** True if `file` may lack a checksum signed with the release key. */
  readonly isUnverified: boolean
  /** The key that signs releases; null if this build has none. */
  readonly releaseKey: MinisignKey | null
  /** Aborts the preparation. Once the relay is stopped, the upgrade runs to its end. */
  readonly signal: AbortSignal
}

export type UpgradedMachine = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly directory: DataDirectory
  readonly relay: {
    state(): Promise<RelayState>
    /** Ends the startup check; throws if the relay doesn't answer. */
    confirmHealthy(): Promise<void>
  }
  /** Starts and stops the relay; null if it isn't a service. */
  readonly service: UpgradedService | null
  /** The time that a start may take, without the migration of the database. */
  readonly readyMs: number
  /** Locks the data directory; throws if another process has it. */
  readonly holdData: () => InstanceLock
  /** True if this is a Mac with an Intel processor, which runs only what was signed on it. */
  readonly isSignedHere: boolean
}

export type UpgradedService = {
  /** Starts the file that is now at the executable's path, which has this version. */
  start(version: string): Promise<void>
  /** Returns when the process has ended. */
  stop(): Promise<void>
}

export type RelayState =
  /** Nothing answers. */
  | { readonly is: 'absent' }
  /** The process starts or stops; `why` is a whole sentence. */
  | { readonly is: 'starting'; readonly why?: string | undefined }
  /** The database is open and migrated; a box has its lines online again. */
  | { readonly is: 'ready' }
  /** The database can't be used; `reason` is whole sentences. */
  | { readonly is: 'safe_mode'; readonly reason: string }

/** The steps in order, in words for the owner. The process may die after any step. */
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
      /** The new path of the old executable. */
      readonly previous: string
      /** The backup made before the upgrade; null if there was no database. */
      readonly backup: string | null
      readonly isRunning: boolean
    }
  /** The old executable is in place again. */
  | {
      readonly outcome: 'rolled_back'
      readonly why: string
      /** The path of the migrated database; null if it could stay. */
      readonly aside: string | null
      /** The reason why the old version doesn't run; null if it does, or if it wasn't running before. */
      readonly trouble: string | null
    }
  /** The new executable is in place and doesn't work, and there is no safe way back. */
  | { readonly outcome: 'stuck'; readonly why: string; readonly noWayBack: string }

const POLL_MS = 250
/** The socket of a process may outlive it for a moment. */
const GONE_MS_MAX = 5_000
const CONFIRM_MS_MAX = 10_000

/** Returns why a relay still runs, or null. */
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

/** Returns null once the relay is ready, else the second half of a sentence about why it isn't. */
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

/** Lets the relay serve, retrying for ten seconds. Returns null, or the second half of a sentence. */
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

/** Returns the first answer that isn't null, or null after `limitMs`. */
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
