// The objects that every module of a relay uses. A module takes `core` first, and everything else that it needs by
// name. Give a reason for each new member.

import type { ChangeFeed } from '../system/change-feed.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { Log } from '../system/log.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Random } from '../system/random.ts'
import type { Audit } from './audit.ts'
import type { Db } from './database.ts'
import type { Settings } from './settings.ts'
import type { Writer } from './writer.ts'

export type Core = {
  readonly db: Db
  readonly writer: Writer
  /** The time as people and devices see it. Stored timestamps come from `ids`. */
  readonly clock: ConfirmedClock
  /** Makes ids, and the timestamps of what is stored. */
  readonly ids: LogicalClock
  readonly log: Log
  readonly random: Random
  readonly settings: Settings
  /** Notifies open dashboards of what changed. */
  readonly changes: ChangeFeed
  readonly audit: Audit
}

/** The part of `Core` for a command that opens the data itself while no relay runs. */
export type FileCore = Pick<Core, 'db' | 'writer' | 'ids' | 'random' | 'audit'>
