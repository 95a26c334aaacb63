// The parts that modules share: data, clocks, log, health and metrics. `app.ts` builds on it.

import type { RestoreOutcome } from './api/owner.ts'
import { AttachmentStore } from './attachments/store.ts'
import type { HeadBroker } from './boxes/head-broker.ts'
import type { Config, ConfigRow } from './config.ts'
import type { Finding } from './domain/finding.ts'
import { HealthCatalogue } from './health/catalogue.ts'
import type { AroundFake } from './http/around-fake.ts'
import type { LineDriver } from './lines/driver.ts'
import type { LineKind } from './lines/line-kind.ts'
import {
  DiskWatch,
  integrityWatch,
  watchedDisk,
  type WatchedDisk,
} from './maintenance/storage-watch.ts'
import { readClockMemory } from './storage/about.ts'
import { createAudit } from './storage/audit.ts'
import { BackupWorker } from './storage/backup.ts'
import type { Core } from './storage/core.ts'
import { daysOf } from './storage/daily-contacts.ts'
import { openData, type Data } from './storage/data.ts'
import { newestTimestamp } from './storage/messages.ts'
import type { RestoreWish } from './storage/restore.ts'
import { createSettings } from './storage/settings.ts'
import { listSnoozes } from './storage/snoozes.ts'
import { damageFound } from './storage/sqlite-errors.ts'
import { Writer } from './storage/writer.ts'
import { ChangeFeed } from './system/change-feed.ts'
import { systemClock, type Clock } from './system/clock.ts'
import { ConfirmedClock } from './system/confirmed-clock.ts'
import type { PasswordHash } from './system/hash.ts'
import { RecentLines, silentLog, type Log } from './system/log.ts'
import { LogicalClock } from './system/logical-clock.ts'
import { Metrics } from './system/metrics.ts'
import type { MinisignKey } from './system/minisign.ts'
import { systemRandom, type Random } from './system/random.ts'
import { createSeal } from './system/seal.ts'
import type { Service } from './system/service.ts'
import { Signal } from './system/signal.ts'
import { VERSION } from './system/version.ts'
import type { Post } from './webhooks/post.ts'

/** Dependencies on the outside, which tests replace. */
export type Outside = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** A sentence for the owner that says where the full log is. */
  readonly logPlace: string
  readonly kinds: readonly LineKind[]
  /** Replaces the drivers that look for devices. */
  readonly drivers: readonly LineDriver[]
  readonly post: Post
  /** Replaces the broker that connects boxes. */
  readonly broker: HeadBroker
  /** Replaces readings of the disk. */
  readonly disk: Partial<WatchedDisk>
  readonly backupWorker: Pick<BackupWorker, 'take' | 'assertIntact' | 'inspect'>
  readonly passwordHash: PasswordHash
  /** Replaces the data directory. */
  readonly data: Data
  /** Replaces the tools of this machine. */
  readonly findTool: (name: string) => string | null
  /** False if requests only come through `http.fetch`. */
  readonly isListening: boolean
  readonly options: readonly ConfigRow[]
  /** Called when the upgrade that started this process confirms that it is healthy. */
  readonly confirmHealthy: () => void
  /** Restarts the process; omitted if nothing would start it again. */
  readonly restart: (why: string) => void
  /** Replaces the relay's data and restarts it. */
  readonly restore: (wish: RestoreWish) => void
  /** The outcome of a restore before this start. */
  readonly restored: RestoreOutcome
  /** The key that verifies releases; null if there is none. */
  readonly releaseKey: MinisignKey | null
  /** Findings about the machine, if the relay runs as a service. */
  readonly checkHost: (signal: AbortSignal) => Promise<readonly Finding[]>
  /** The clock and state of `hookline fake`; set only there. */
  readonly fake: AroundFake
  /** More services to run. */
  readonly companions: readonly Service[]
}

export type Runtime = ReturnType<typeof openRuntime>

export function openRuntime(config: Config, parts: Partial<Outside>) {
  const { clock: wallClock = systemClock, random = systemRandom } = parts
  const recent = new RecentLines(parts.log ?? silentLog, wallClock, parts.logPlace)
  const { log } = recent
  const outer = { clock: wallClock, random, log, options: parts.options ?? [] }
  const data = parts.data ?? openData(config, { ...outer, version: VERSION })
  const { db, directory } = data
  const clock = new ConfirmedClock(wallClock, readClockMemory(db), newestTimestamp(db))
  const signals = createSignals()
  const { dispatchSignal, healthSignal, doubtSignal, deliverySignal } = signals
  const disk = new DiskWatch(watchedDisk(data, parts.disk), {
    clock,
    log,
    onLost: (error) => fail(error),
    onChange: () => [dispatchSignal, deliverySignal, healthSignal].forEach((it) => it.notify()),
  })
  const fatal = Promise.withResolvers<unknown>()
  const fail = (error: unknown) => {
    writer.abandon(error)
    fatal.resolve(error)
  }
  const changes = new ChangeFeed({ clock, random })
  const writer = new Writer(db, fail, () => disk.check(), changes)
  const onDamage = (error: unknown) => fail(damageFound(directory, error))
  db.guard.onDamage(onDamage)
  const backupWorker = parts.backupWorker ?? new BackupWorker(onDamage)
  const assertIntact = () => backupWorker.assertIntact(directory.database)
  const ids = new LogicalClock(clock, random, clock.lastBefore + 1)
  const audit = createAudit({ writer, ids, log })
  const settings = createSettings({ db, writer, ids, audit, locked: config.lockedSettings })
  const core: Core = { db, writer, clock, ids, log, random, settings, changes, audit }
  return {
    ...outer,
    ...signals,
    ...core,
    core,
    wallClock,
    directory,
    disk,
    backupWorker,
    services: [disk, integrityWatch(core, { doubtSignal, assertIntact })],
    metrics: new Metrics(),
    health: new HealthCatalogue(ids, () => listSnoozes(db)),
    seal: createSeal(data.secretKey, random),
    days: daysOf(core),
    store:
      parts.fake?.createStore(core, directory.attachments) ??
      new AttachmentStore(core, directory.attachments),
    secretKey: data.secretKey,
    fatal: fatal.promise,
    confirmHealthy: parts.confirmHealthy,
    recent,
    close: () => close(writer, data),
  }
}

function createSignals() {
  return {
    dispatchSignal: new Signal(),
    healthSignal: new Signal(),
    doubtSignal: new Signal(),
    deliverySignal: new Signal(),
  }
}

function close(writer: Writer, data: Data): void {
  writer.close()
  data.close()
}
