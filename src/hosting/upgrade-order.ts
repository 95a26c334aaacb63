import type { Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { InstanceLock } from '../system/instance-lock.ts'
import type { MinisignKey } from '../system/minisign.ts'
import type { RunProcess } from '../system/process.ts'
import type { WatchedRelay } from './relay-state.ts'

/** What is to be upgraded, and with what. */
export type UpgradeOrder = {
  /** The new executable; it stays as it is. */
  readonly file: string
  /** The path of the old one, links resolved: what the service runs, or is made from. */
  readonly executable: string
  /** Whether `file` may come without a sum that the release key signed. */
  readonly isUnverified: boolean
}

export type UpgradeTools = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly directory: DataDirectory
  /** What a release must be signed with; null where this build has no key. */
  readonly releaseKey: MinisignKey | null
  readonly relay: WatchedRelay
  /** What starts and stops the relay; null where it is no service. */
  readonly service: UpgradedService | null
  /** Keeps everyone else from the data; throws where somebody has them. */
  readonly holdData: () => InstanceLock
  /** A Mac with an Intel processor runs nothing that is not signed on the spot: see upgrade-file. */
  readonly isSignedHere: boolean
  /** Aborts what can still be broken off: nothing, once the relay is stopped. */
  readonly signal: AbortSignal
}

export type UpgradedService = {
  /** Starts what lies at the executable's path now; `version` is the one of that file. */
  start(version: string): Promise<void>
  /** Returns when the process has ended. */
  stop(): Promise<void>
}

/** What has just been done. After each of these the process may die. */
export type UpgradeStep =
  | 'staged'
  | 'verified'
  | 'backed_up'
  | 'migrations_checked'
  | 'stopped'
  | 'previous_kept'
  | 'placed'
  | 'started'
  | 'ready'
  | 'healthy'
  | 'taking_back'
  | 'stopped_again'
  | 'database_put_back'
  | 'previous_put_back'
  | 'started_again'

/** Nothing has changed. */
export type Refused = { readonly outcome: 'refused'; readonly why: string }

export type UpgradeResult =
  | Refused
  | {
      readonly outcome: 'upgraded'
      /** Null where the old executable could not say. */
      readonly from: string | null
      readonly to: string
      /** Where the old executable lies now. */
      readonly previous: string
      /** The back-up that was made first; null where there was no database. */
      readonly backup: string | null
      readonly isRunning: boolean
    }
  /** The old executable is in its place again. */
  | {
      readonly outcome: 'rolled_back'
      readonly why: string
      /** Where the migrated database lies; null where it could stay. */
      readonly aside: string | null
      /** Null where it runs again, or was not running before; else why it does not. */
      readonly trouble: string | null
    }
  /** The new executable is in place, does not run as it should, and there is no safe way back. */
  | { readonly outcome: 'stuck'; readonly why: string; readonly noWayBack: string }

/** An error as one sentence. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
