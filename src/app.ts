// The composition root: the one place that knows everything. It opens the data, gives each room what
// it needs of the others, and starts and stops the whole.

import { hostname, platform } from 'node:os'

import type { Config } from './config.ts'
import type { LineDriver } from './domain/driver.ts'
import type { LineId } from './domain/ids.ts'
import type { Line } from './domain/line.ts'
import { createDrivers } from './drivers/catalog.ts'
import { HealthCatalogue, ofRelay } from './health/catalogue.ts'
import { loopFinding, rejectedFindings } from './health/findings.ts'
import { DiskWatch } from './housekeeping/disk-watch.ts'
import { createUpkeep } from './housekeeping/upkeep.ts'
import { listenEverywhere, type Listener } from './http/listener.ts'
import { createHttp, type Http, type HttpTools } from './http/server.ts'
import { authenticate } from './keys/authenticate.ts'
import { createFirstKey } from './keys/first-key.ts'
import { createKey, listKeys, revokeKey } from './keys/keys.ts'
import { LastUsed } from './keys/last-used.ts'
import type { CreatedKeyResource } from './keys/resource.ts'
import { createLineActions } from './lines/line-actions.ts'
import { LineSupervisor } from './lines/supervisor.ts'
import { Dispatch } from './messages/dispatch.ts'
import { createIntake } from './messages/intake.ts'
import { waitReasonOf } from './messages/line-board.ts'
import { observeMessages } from './messages/measures.ts'
import { createReading } from './messages/read.ts'
import { failOrphans, recoverMessages } from './messages/recovery.ts'
import { createSend } from './messages/send.ts'
import { WaitingCallers } from './messages/waiting-callers.ts'
import { openData, type Data } from './storage/data.ts'
import { wakeLimited } from './storage/message-queue.ts'
import { newestStamp } from './storage/message-rows.ts'
import { createSettings } from './storage/settings.ts'
import { unfinishedOf } from './storage/unsettled.ts'
import { storageFull, Writer } from './storage/writer.ts'
import { addressRanges } from './system/address-range.ts'
import { Bell } from './system/bell.ts'
import { systemClock, type Clock } from './system/clock.ts'
import { freeBytes } from './system/files.ts'
import { silentLog, type Log } from './system/log.ts'
import { Metrics } from './system/metrics.ts'
import { cachedLookup, isOwnAddress, systemLookup } from './system/network-address.ts'
import { systemRandom, type Random } from './system/random.ts'
import { createSeal } from './system/seal.ts'
import { runServices } from './system/service.ts'
import { Stamps } from './system/stamps.ts'
import { VERSION } from './system/version.ts'
import { Notices } from './webhooks/notices.ts'
import { createPost, type Post } from './webhooks/post.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

/** The outermost things, which a test replaces. */
export type Parts = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly drivers: readonly LineDriver[]
  readonly post: Post
  readonly freeBytes: () => number
  /** In place of the data directory. */
  readonly data: Data
  /** False where requests come by `http.fetch` only. */
  readonly isListening: boolean
}

export type App = {
  readonly http: Http
  /** Resolves when the process must not go on: the disk fails, or the database is damaged. */
  readonly fatal: Promise<unknown>
  createFirstKey(): Promise<CreatedKeyResource | null>
  /** Recovers, listens and runs; resolves with the address. */
  start(): Promise<string>
  /** Resolves when nothing runs any more and the data are closed. */
  stop(): Promise<void>
}

/** How long drivers may look for what is wrong. */
const CHECKUP_MS = 5_000
/** How long requests that run get at a stop; sends that wait are answered at once. */
const STOP_REQUESTS_MS = 5_000

/** The whole relay, not yet started. Throws where the data cannot be opened. */
export function createApp(config: Config, parts: Partial<Parts> = {}): App {
  const ground = openGround(config, parts)
  const { log, directory } = ground
  const life: Life = { phase: 'starting', listener: null }
  const webhooks = createWebhookRoom(ground, { config, parts, life })
  const messages = createMessageRoom(ground, webhooks, { config, parts, life })
  const upkeep = createUpkeep({ ...ground, folder: config.backupFolder })
  const lastUsed = new LastUsed(ground)
  ground.health.include(async () =>
    [...ground.disk.findings(), ...upkeep.timetable.findings()].map(ofRelay),
  )
  const http = createHttp(httpTools(ground, { config, life, webhooks, messages, upkeep, lastUsed }))
  const { lines, dispatch, callers } = messages
  const services = [lastUsed, ground.disk, lines, dispatch, webhooks.loop, upkeep.timetable]
  let running: ReturnType<typeof runServices> | null = null
  return {
    http,
    fatal: ground.fatal,
    createFirstKey: () => createFirstKey(ground),
    async start() {
      const recovered = await recoverMessages(messages.tools)
      if (recovered > 0) log.warn('messages are uncertain after a crash', { count: recovered })
      const { host, port } = config
      const listening = { hostname: host, port, path: directory.controlSocket, log }
      if (parts.isListening ?? true) life.listener = listenEverywhere(http, listening)
      running = runServices(services, ground)
      await lines.whenReady()
      life.phase = 'running'
      return life.listener?.url ?? 'http://localhost'
    },
    async stop() {
      life.phase = 'stopping'
      callers.stop()
      await Promise.all([life.listener?.stop(STOP_REQUESTS_MS), running?.stop()])
      ground.close()
    },
  }
}

type Phase = ReturnType<HttpTools['health']['life']['phase']>
type Life = { phase: Phase; listener: Listener | null }

/** What this start is made of. */
type Start = { readonly config: Config; readonly parts: Partial<Parts>; readonly life: Life }

type Ground = ReturnType<typeof openGround>

/** The data, and the small things that every room needs. */
function openGround(config: Config, parts: Partial<Parts>) {
  const { clock = systemClock, random = systemRandom, log = silentLog } = parts
  const data = parts.data ?? openData(config, { clock, random, log, version: VERSION })
  const { db, directory } = data
  const bell = new Bell()
  const notices = new Notices()
  const disk = new DiskWatch({
    clock,
    log,
    freeBytes: parts.freeBytes ?? (() => freeBytes(directory.path)),
    onChange: () => {
      bell.ring()
      notices.bell.ring()
    },
  })
  const fatal = Promise.withResolvers<unknown>()
  const writer = new Writer(db, fatal.resolve, () => disk.check())
  const stamps = new Stamps(clock, random, newestStamp(db))
  return {
    clock,
    random,
    log,
    db,
    directory,
    bell,
    notices,
    disk,
    writer,
    stamps,
    metrics: new Metrics(),
    health: new HealthCatalogue(stamps),
    seal: createSeal(data.secretKey, random),
    settings: createSettings({ db, writer, stamps, locked: config.lockedSettings }),
    fatal: fatal.promise,
    close() {
      writer.close()
      data.close()
    },
  }
}

/** Where webhooks may go, and how they get there. */
function createWebhookRoom(ground: Ground, { config, parts, life }: Start) {
  const { settings, disk, clock } = ground
  const rules = {
    policy: () => settings.get('webhook_targets'),
    isOwnListener: (address: string, port: number) =>
      port === life.listener?.port && isOwnAddress(address),
  }
  const lookup = cachedLookup(systemLookup, clock)
  const room = createWebhooks({
    ...ground,
    rules,
    post: parts.post ?? createPost({ clock, lookup, rules, platform: platform() }),
    userAgent: `Hookline/${VERSION}`,
    scheduleMs: config.webhookRetryScheduleMs,
    canDeliver: () => !disk.isLow,
  })
  ground.health.include(async () => room.loop.findings().map(ofRelay))
  return room
}

type WebhookRoom = ReturnType<typeof createWebhookRoom>

function createMessageRoom(
  ground: Ground,
  { publish }: WebhookRoom,
  { config, parts, life }: Start,
) {
  const { db, clock, random, writer, stamps, settings, disk, bell, directory, health } = ground
  const drivers =
    parts.drivers ??
    createDrivers(
      { ...config, simulatedLedgerPath: directory.simulatedDatabase },
      { clock, random },
    )
  const lines: LineSupervisor = new LineSupervisor({
    ...ground,
    drivers,
    intake: (line, event) => intake(line, event),
    loadAttended: (line) => unfinishedOf(db, line.id, stamps.now()),
  })
  lines.onChange(() => bell.ring())
  const waitReason = (lineId: LineId) => waitReasonOf(lines, lineId, !disk.isLow)
  const callers = new WaitingCallers({ clock, writer, waitReason })
  const tools = {
    ...ground,
    publish,
    callers,
    waitReason,
    board: lines,
    defaultWaitMs: config.sendWaitMs,
    announcesDeviceMessages: () => settings.get('announce_device_messages'),
    mayLeave: () => life.phase !== 'stopping' && !disk.isLow,
    onLoop: (line: Line) => health.report(loopFinding(line)),
    requireAccepting: () => {
      if (disk.isLow) throw storageFull()
    },
  }
  const intake = createIntake(tools)
  health.include(() => lines.checkup(AbortSignal.timeout(CHECKUP_MS)))
  health.include(async () => rejectedFindings(db))
  observeMessages(ground.metrics, tools)
  return {
    tools,
    lines,
    callers,
    dispatch: new Dispatch(tools),
    send: createSend(tools),
    reading: createReading(tools),
    lineActions: createLineActions({
      ...ground,
      lines,
      onLimit: (id) =>
        writer.write((tx) => wakeLimited(tx, id, stamps.now())).then(() => bell.ring()),
      onDeleted: () => failOrphans(tools),
    }),
  }
}

type Rooms = {
  readonly config: Config
  readonly life: Life
  readonly webhooks: WebhookRoom
  readonly messages: ReturnType<typeof createMessageRoom>
  readonly upkeep: ReturnType<typeof createUpkeep>
  readonly lastUsed: LastUsed
}

/** What the API does, told in its own words. */
function httpTools(ground: Ground, rooms: Rooms): HttpTools {
  const { db, metrics, settings } = ground
  const { config, life, webhooks, messages, upkeep, lastUsed } = rooms
  const { reading } = messages
  return {
    ...ground,
    version: VERSION,
    defaultWaitMs: config.sendWaitMs,
    hosts: { hostname: hostname(), publicUrl: config.publicUrl, isOwnAddress },
    isTrustedProxy: addressRanges(config.trustedProxies),
    authenticate: (key, secret) => authenticate({ db, lastUsed }, key, secret),
    keys: {
      create: (request) => createKey(ground, request),
      list: (page) => listKeys({ db, lastUsed }, page),
      revoke: (id) => revokeKey(ground, id),
    },
    lines: messages.lineActions,
    messages: { ...reading.messages, send: messages.send },
    conversations: reading.conversations,
    webhooks: webhooks.actions,
    health: {
      life: { phase: () => life.phase, isReady: () => life.phase === 'running' },
      metrics,
      isMetricsOpen: () => settings.get('open_metrics'),
      findings: () => ground.health.list(),
    },
    control: { events: webhooks.feed, settings, backUp: upkeep.backUp },
  }
}
