// The composition root: the one place that knows everything. It opens the data, gives each module what
// it needs of the others, and starts and stops the whole.

import { hostname } from 'node:os'

import { createAccess } from './access/access.ts'
import { passwordFindings } from './access/passwords.ts'
import { setupAddresses, type SetupToken } from './access/setup-link.ts'
import type { CreatedKey } from './api/keys.ts'
import type { SetupLink } from './api/owner.ts'
import { Attachments } from './attachments/attachments.ts'
import type { Boxes } from './boxes/head.ts'
import type { Config } from './config.ts'
import { createDevices } from './devices.ts'
import { COMMAND_LINE, type Origin } from './domain/audit.ts'
import type { LineId } from './domain/ids.ts'
import type { Line } from './domain/line.ts'
import { groupedByBox } from './health/box-findings.ts'
import { healthWatch, ofLine, ofRelay, ofWebhook } from './health/catalogue.ts'
import { LineFindings, loopFinding } from './health/line-findings.ts'
import { QueueWatch } from './health/queue-watch.ts'
import { createSnoozes } from './health/snoozes.ts'
import { createUpdateCheck } from './hosting/update-check.ts'
import { aboutResource } from './http/dashboard-views.ts'
import { localName } from './http/hosts.ts'
import { listenEverywhere, type Listener } from './http/listener.ts'
import { createHttp, type Http, type HttpTools } from './http/server.ts'
import { lifeOf } from './http/service.ts'
import { TlsWatch } from './http/tls.ts'
import { createCredentials, createFirstKey, keyFindings } from './keys/credentials.ts'
import { LastUsed, createAuthenticate } from './keys/last-used.ts'
import { createLineActions } from './lines/line-actions.ts'
import type { CreatedKinds } from './lines/line-kind.ts'
import { LineSupervisor } from './lines/supervisor.ts'
import { listBackupResources } from './maintenance/backups.ts'
import { Heartbeat } from './maintenance/heartbeat.ts'
import { createMaintenance } from './maintenance/maintenance.ts'
import { Dispatch } from './messages/dispatch.ts'
import { createIntake } from './messages/intake.ts'
import { waitReasonOf } from './messages/line-directory.ts'
import { observeMessages, createReading } from './messages/message-service.ts'
import { PersonFollower } from './messages/person-follower.ts'
import { createSend } from './messages/send.ts'
import { failOrphans, recoverMessages } from './messages/settle.ts'
import { WaitingCallers } from './messages/waiting-callers.ts'
import { createContacts } from './people/contacts.ts'
import { SearchFollower } from './people/search-follower.ts'
import { openRuntime, type Runtime, type Parts } from './runtime.ts'
import { Charts } from './stats/charts.ts'
import { Recorder } from './stats/recorder.ts'
import { recordVersion } from './storage/about.ts'
import { listAudit } from './storage/audit.ts'
import { wakeLimited, unfinishedOf } from './storage/message-queue.ts'
import { argon2id } from './system/hash.ts'
import { isoTime } from './system/iso-time.ts'
import { addressRanges, isOwnAddress } from './system/network-address.ts'
import { runServices } from './system/service.ts'
import { VERSION } from './system/version.ts'
import { createNetwork } from './webhooks/network.ts'
import { createWebhooks } from './webhooks/webhooks.ts'
export { listenInSafeMode } from './http/safe-mode.ts'

export type App = {
  readonly http: Http
  /** Resolves when the process must not go on: the disk fails, or the database is damaged. */
  readonly fatal: Promise<unknown>
  createFirstKey(): Promise<CreatedKey | null>
  readonly dashboard: {
    /** True once a password is set. */
    isClaimed(): boolean
    /** A link that sets the password; earlier links stop working. */
    createSetupLink(): Promise<SetupLink>
  }
  /** Listens, serves nothing until `mayServe` resolves with true, recovers, runs; gives the address. */
  start(mayServe?: Promise<boolean>): Promise<string>
  /** Resolves when nothing runs any more and the data are closed. */
  stop(): Promise<void>
  /** After `fatal`: lets the refusals that were given reach their callers. Nothing is written. */
  abandon(): Promise<void>
}

/** The address of a relay that takes requests by `http.fetch` only. */
const NOT_LISTENING = 'http://localhost'
/** Time for drivers to report their findings. */
const CHECKUP_MS = 5_000
/** Time for running requests at a stop; waiting sends are answered at once. */
const STOP_REQUESTS_MS = 5_000
const LAST_ANSWERS_MS = 250

/** The whole relay, not yet started. Throws where the data cannot be opened. */
export function createApp(config: Config, parts: Partial<Parts> = {}): App {
  const runtime = openRuntime(config, parts)
  const life: Life = { phase: 'starting', listener: null }
  const tls = new TlsWatch(config, runtime, (pair) => life.listener?.renew(pair))
  const listed = () => messages.lines.lines()
  const { kinds, boxes, services } = createDevices(runtime, { config, parts, lines: listed })
  const start = { config, parts, life }
  const network = createNetworkModule(runtime, start)
  const attachments = createAttachmentModule(runtime, network, start)
  const webhooks = createWebhookModule(runtime, { network, attachments }, start)
  const below = { webhooks, kinds, boxes, attachments }
  const messages = createMessageModule(runtime, below, start)
  const updates = createUpdateCheck({ fetchText: network.fetchText, ...parts, ...runtime })
  const beside = { attachments, updates, folder: config.backupFolder }
  const maintenance = createMaintenance({ ...parts, ...runtime, ...beside })
  const entry = createEntry(runtime, start)
  const lastUsed = new LastUsed(runtime)
  const isWell = () => life.phase === 'running' && !runtime.disk.isLow
  const heartbeat = new Heartbeat({ ...runtime, isWell, beat: network.get })
  const watches = [maintenance.clockWatch, maintenance.timetable, heartbeat, tls]
  runtime.health.includeRelay(runtime.disk, ...watches, attachments, updates, hostWatch(parts))
  const modules = { ...below, config, life, messages, maintenance, updates, lastUsed, entry }
  const http = createHttp(httpTools(runtime, modules))
  const { lines, dispatch, callers } = messages
  const queues = createQueueWatch(runtime, { webhooks, messages, kinds })
  const own = [...runtime.services, lines, dispatch, webhooks.loop, queues, ...watches]
  const recorder = new Recorder(runtime.core, { lines, metrics: runtime.metrics })
  const inner = [recorder, lastUsed, ...createFollowers(runtime), healthWatch(runtime)]
  const loops = [...inner, ...own, ...services, ...(parts.companions ?? [])]
  let running: ReturnType<typeof runServices> | null = null
  void runtime.fatal.then(() => (life.phase = 'stopping'))
  return {
    http,
    fatal: runtime.fatal,
    createFirstKey: () => createFirstKey(runtime),
    dashboard: entry,
    async start(mayServe) {
      const at = { ...config, ...runtime, path: runtime.directory.controlSocket, tls: tls.pair }
      if (parts.isListening ?? true) life.listener = listenEverywhere(http, at)
      const url = life.listener?.url ?? NOT_LISTENING
      if (mayServe !== undefined) life.phase = 'checking'
      if ((await mayServe) === false) return url
      await Promise.all([recordVersion(runtime.core, VERSION), runtime.settings.keepFirst()])
      const count = await recoverMessages(messages.tools)
      if (count > 0) runtime.log.warn('messages are uncertain after a crash', { count })
      await entry.access.applyLockedPassword()
      running = runServices(loops, runtime)
      await lines.whenReady()
      life.phase = 'running'
      return url
    },
    async stop() {
      life.phase = 'stopping'
      callers.stop()
      await Promise.all([life.listener?.stop(STOP_REQUESTS_MS), running?.stop()])
      runtime.close()
    },
    abandon: async () => life.listener?.stop(LAST_ANSWERS_MS),
  }
}

function hostWatch({ checkHost = async () => [] }: Partial<Parts>) {
  return { findings: () => checkHost(AbortSignal.timeout(CHECKUP_MS)) }
}

type Life = { phase: ReturnType<HttpTools['health']['life']['phase']>; listener: Listener | null }

type Start = { readonly config: Config; readonly parts: Partial<Parts>; readonly life: Life }

type Network = ReturnType<typeof createNetwork>

function createNetworkModule({ wallClock, settings }: Runtime, { parts, life }: Start): Network {
  const ownPort = () => life.listener?.port
  return createNetwork(wallClock, { settings, ownPort, post: parts.post })
}

/** Files that travel with messages. */
function createAttachmentModule(
  { core, store, secretKey, disk }: Runtime,
  { download }: Network,
  { config, parts: { findTool }, life }: Start,
): Attachments {
  const url = serverUrl(config, life)
  return new Attachments(core, { store, secretKey, disk, download, findTool, serverUrl: url })
}

function createWebhookModule(
  { core, seal, metrics, disk, deliverySignal, health }: Runtime,
  { network, attachments }: { readonly network: Network; readonly attachments: Attachments },
  { config, life }: Start,
) {
  const webhooks = createWebhooks(core, {
    post: network.post,
    rules: network.rules,
    seal,
    metrics,
    disk,
    signal: deliverySignal,
    scheduleMs: config.webhookRetryScheduleMs,
    downloadUrl: (id, since) => attachments.downloadUrl(id, since),
    origin: () => life.listener?.localUrl ?? NOT_LISTENING,
  })
  health.include(async () => webhooks.queues.findings().map(ofWebhook))
  return webhooks
}

/** The address of the relay as its callers know it. */
function serverUrl({ publicUrl, port }: Config, life: Life): () => string {
  return () => publicUrl ?? life.listener?.localUrl ?? `http://127.0.0.1:${port}`
}

function createMessageModule(
  runtime: Runtime,
  { webhooks, kinds, boxes, attachments }: Below,
  { config, life }: Start,
) {
  const { db, days, clock, writer, settings, disk, dispatchSignal, health } = runtime
  const lines: LineSupervisor = new LineSupervisor(runtime.core, {
    kinds: kinds.kinds,
    drivers: boxes.drivers,
    boxes,
    messages: {
      intake: (line, event) => intake(line, event),
      loadUnfinished: (line) => unfinishedOf(db, line.id, { age: clock, files: runtime.store }),
    },
  })
  lines.onChange((id) => {
    dispatchSignal.notify()
    runtime.healthSignal.notify()
    runtime.changes.publish([{ what: 'line', id }])
  })
  const waitReason = (lineId: LineId) => waitReasonOf(lines, lineId, !disk.isLow)
  const callers = new WaitingCallers({ clock, writer, waitReason })
  const tools = {
    ...runtime,
    publish: webhooks.publish,
    sentenceOf: kinds.sentenceOf,
    callers,
    waitReason,
    directory: lines,
    defaultWaitMs: config.sendWaitMs,
    announcesDeviceMessages: () => settings.get('announce_device_messages'),
    mayLeave: () => life.phase !== 'stopping' && !disk.isLow,
    onLoop: (line: Line) => health.report(loopFinding(line)),
    requireAccepting: () => disk.requireRoom(),
    attachments,
  }
  const intake = createIntake(tools)
  health.include(async () => {
    return groupedByBox(await lines.checkup(AbortSignal.timeout(CHECKUP_MS)), (box) =>
      boxes.nameOf(box),
    )
  })
  health.include(async () => kinds.findings().map((finding) => ofLine(finding, lines.lines())))
  observeMessages(runtime.metrics, tools)
  const dispatch = new Dispatch(tools)
  const onDeleted = () => failOrphans(tools)
  const onLimits = (id: LineId) =>
    writer.write((tx) => wakeLimited(tx, id, clock.now())).then(() => dispatchSignal.notify())
  return {
    tools,
    lines,
    callers,
    dispatch,
    send: createSend(tools),
    reading: createReading(tools),
    lineActions: createLineActions(runtime.core, { days, lines, onLimits, onDeleted }),
  }
}

/** Loops that bring stored data up to date, in slices beside the relay. */
function createFollowers(runtime: Runtime) {
  const { core, disk } = runtime
  return [new SearchFollower(core, { disk }), new PersonFollower(core, { disk })]
}

/** Findings about messages and deliveries, for the health catalogue. */
function createQueueWatch(
  runtime: Runtime,
  { webhooks, messages, kinds }: Pick<Modules, 'webhooks' | 'messages' | 'kinds'>,
): QueueWatch {
  const lines = () => messages.lines.lines()
  const ofLines = new LineFindings({
    ...runtime,
    lines,
    sentenceOf: kinds.sentenceOf,
    practiceKinds: messages.lines.practiceKinds,
  })
  const troubledWebhooks = () => new Set(webhooks.queues.findings().map(({ key }) => key))
  const queues = new QueueWatch({ ...runtime, lines, troubledWebhooks })
  runtime.health.include(async () => [...ofLines.list(), ...queues.findings()])
  return queues
}

/** Sign-in to the dashboard, and the setup link of its owner. */
function createEntry(runtime: Runtime, { config, parts, life }: Start) {
  const { passwordHash = argon2id } = parts
  const lockedPassword = config.adminPassword
  const access = createAccess({ ...runtime, passwordHash, lockedPassword })
  const findings = () => [...passwordFindings(lockedPassword), ...keyFindings(runtime)]
  runtime.health.include(async () => findings().map(ofRelay))
  const linkOf = ({ expiresAt, ...link }: SetupToken): SetupLink => {
    const { url, lanUrl } = setupAddresses(link, {
      publicUrl: config.publicUrl,
      listeningUrl: life.listener?.url ?? NOT_LISTENING,
      localName: localName(hostname()),
    })
    return { url, lan_url: lanUrl, expires_at: isoTime(expiresAt) }
  }
  const createSetupLink = async (origin: Origin = COMMAND_LINE) =>
    linkOf(await access.createSetupToken(origin))
  return { access, linkOf, createSetupLink, isClaimed: () => access.hasPassword() }
}

type Below = {
  readonly kinds: CreatedKinds
  readonly boxes: Boxes
  readonly webhooks: ReturnType<typeof createWebhooks>
  readonly attachments: Attachments
}

type Modules = Below & {
  readonly config: Config
  readonly life: Life
  readonly messages: ReturnType<typeof createMessageModule>
  readonly maintenance: ReturnType<typeof createMaintenance>
  readonly updates: ReturnType<typeof createUpdateCheck>
  readonly lastUsed: LastUsed
  readonly entry: ReturnType<typeof createEntry>
}

/** The API's actions, in its own terms. */
function httpTools(runtime: Runtime, modules: Modules): HttpTools {
  const { db, metrics, settings } = runtime
  const { config, life, kinds, boxes, webhooks, attachments, messages } = modules
  const { maintenance, updates, lastUsed, entry } = modules
  return {
    ...runtime,
    version: VERSION,
    defaultWaitMs: config.sendWaitMs,
    hosts: { hostname: hostname(), publicUrl: config.publicUrl, isOwnAddress },
    serverUrl: serverUrl(config, life),
    isTrustedProxy: addressRanges(config.trustedProxies),
    authenticate: createAuthenticate({ ...runtime, lastUsed }),
    ...createCredentials({ ...runtime, lastUsed }),
    bridge: kinds.calls,
    kinds: kinds.kinds,
    actions: kinds.actions,
    sentenceOf: kinds.sentenceOf,
    lines: messages.lineActions,
    messages: { ...messages.reading.messages, send: messages.send },
    conversations: messages.reading.conversations,
    contacts: createContacts(runtime),
    ...messages.reading.beside,
    webhooks: webhooks.actions,
    eventLog: webhooks.eventLog,
    attachments,
    health: {
      life: lifeOf(life, runtime.disk),
      metrics,
      isMetricsOpen: () => settings.get('open_metrics'),
      findings: () => runtime.health.list(),
    },
    control: {
      reports: kinds.reports,
      settings,
      options: runtime.options,
      ...maintenance,
      ...updates,
      recentLog: () => runtime.recent.read(),
      confirmHealthy: runtime.confirmHealthy,
    },
    restoring: maintenance.restoring,
    listAudit: (filter, page) => listAudit(db, filter, page),
    boxes: boxes.actions,
    setSnooze: createSnoozes(runtime),
    listBackups: () => listBackupResources(runtime.directory),
    charts: new Charts(runtime.core, { lines: messages.lines }),
    about: () =>
      aboutResource({
        ...config,
        version: VERSION,
        address: life.listener?.url ?? NOT_LISTENING,
        ...kinds,
      }),
    ...entry,
  }
}
