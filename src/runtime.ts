// The parts that every module shares: the data, the outside world, clock and log. Only `app.ts` builds
// on it.

import type { RestoreOutcome } from './api/owner.ts'
import { AttachmentStore } from './attachments/store.ts'
import type { HeadBroker } from './boxes/head-broker.ts'
import type { Config, ConfigRow } from './config.ts'
import type { Finding } from './domain/finding.ts'
import { HealthCatalogue } from './health/catalogue.ts'
import type { LineDriver } from './lines/driver.ts'
import type { LineKind } from './lines/line-kind.ts'
import { DiskWatch, integrityWatch } from './maintenance/storage-watch.ts'
import { readClockMemory } from './storage/about.ts'
import { createAudit } from './storage/audit.ts'
import { BackupWorker } from './storage/backup.ts'
import type { Core } from './storage/core.ts'
import { openData, type Data } from './storage/data.ts'
import { newestTimestamp } from './storage/messages.ts'
import type { RestoreWish } from './storage/restore.ts'
import { createSettings, daysOf } from './storage/settings.ts'
import { listSnoozes } from './storage/snoozes.ts'
import { damageFound } from './storage/sqlite-errors.ts'
import { Writer } from './storage/writer.ts'
import { ChangeFeed } from './system/change-feed.ts'
import { systemClock, type Clock } from './system/clock.ts'
import { ConfirmedClock } from './system/confirmed-clock.ts'
import { freeBytes } from './system/files.ts'
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

/** What a relay has from outside of it, which a test replaces. */
export type Outside = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The place of the whole log, in a sentence. */
  readonly logPlace: string
  readonly kinds: readonly LineKind[]
  /** In place of the drivers that look for devices. */
  readonly drivers: readonly LineDriver[]
  readonly post: Post
  /** In place of the broker that connects boxes. */
  readonly broker: HeadBroker
  readonly freeBytes: () => number
  readonly backupWorker: Pick<BackupWorker, 'take' | 'assertIntact' | 'inspect'>
  readonly passwordHash: PasswordHash
  /** In place of the data directory. */
  readonly data: Data
  /** In place of the executables of this machine. */
  readonly findTool: (name: string) => string | null
  /** False where requests come by `http.fetch` only. */
  readonly isListening: boolean
  readonly options: readonly ConfigRow[]
  /** Called by the upgrade that waits for this start to be healthy. */
  readonly confirmHealthy: () => void
  /** Restarts the process; left out where nothing does that for it. */
  readonly restart: (why: string) => void
  /** Exchanges the data of this relay, and starts it again. */
  readonly restore: (wish: RestoreWish) => void
  /** The outcome of the exchange before this start. */
  readonly restored: RestoreOutcome
  /** The key that releases are verified with; null where there is none. */
  readonly releaseKey: MinisignKey | null
  /** Findings about the machine, where the relay runs as a service. */
  readonly checkHost: (signal: AbortSignal) => Promise<readonly Finding[]>
  /** Loops that run beside those of the relay. */
  readonly companions: readonly Service[]
}

export type Runtime = ReturnType<typeof openRuntime>

/** The data, and the parts that every module shares. */
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
  const watched = {
    freeBytes: parts.freeBytes ?? (() => freeBytes(directory.path)),
    logBytes: () => Bun.file(`${directory.database}-wal`).size,
    requireInPlace: () => db.guard.requireInPlace(),
  }
  const disk = new DiskWatch(watched, {
    clock,
    log,
    onLost: (error) => fail(error),
    onChange: () => notifyAll([dispatchSignal, deliverySignal, healthSignal]),
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
    days: daysOf(settings),
    store: new AttachmentStore(core, directory.attachments),
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

function notifyAll(signals: readonly Signal[]): void {
  for (const signal of signals) signal.notify()
}

function close(writer: Writer, data: Data): void {
  writer.close()
  data.close()
}
