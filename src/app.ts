// The composition root: opens the data, connects all modules, and starts and stops the relay.

import { hostname } from 'node:os'

import { Access } from './access/access.ts'
import { createAlerts } from './alerts/alerts.ts'
import type { CreatedKey } from './api/keys.ts'
import type { SetupLink } from './api/owner.ts'
import { Attachments } from './attachments/attachments.ts'
import type { Boxes } from './boxes/head.ts'
import type { Config } from './config.ts'
import { createDevices } from './devices.ts'
import type { Origin } from './domain/audit.ts'
import type { LineId } from './domain/ids.ts'
import { groupedByBox } from './health/box-findings.ts'
import { healthWatch, ofLine, ofRelay, ofWebhook } from './health/catalogue.ts'
import { LineFindings, loopFinding, stoppedFindings } from './health/line-findings.ts'
import { QueueWatch } from './health/queue-watch.ts'
import { createSnoozes } from './health/snoozes.ts'
import { createUpdateCheck } from './hosting/update-check.ts'
import { hostsOf, localName } from './http/hosts.ts'
import { listenEverywhere, type Listener } from './http/listener.ts'
import type { Phase } from './http/relay.ts'
import { createHttp, type Http } from './http/server.ts'
import { TlsWatch } from './http/tls.ts'
import { createCredentials, createFirstKey, keyFindings } from './keys/credentials.ts'
import { LastUsed, createAuthenticate } from './keys/last-used.ts'
import { createLineActions } from './lines/line-actions.ts'
import { titleOf, type CreatedKinds } from './lines/line-kind.ts'
import { createSites } from './lines/sites.ts'
import { LineSupervisor } from './lines/supervisor.ts'
import { createBackups } from './maintenance/backups.ts'
import { Heartbeat } from './maintenance/heartbeat.ts'
import { ClockWatch, createTimetable } from './maintenance/maintenance.ts'
import { createRestoring } from './maintenance/restoring.ts'
import { PersonFollower } from './messages/merges.ts'
import { createMessages, observeMessages } from './messages/messages.ts'
import { ALERT_SEND } from './messages/send-target.ts'
import { createContacts } from './people/contacts.ts'
import { SearchFollower } from './people/search-follower.ts'
import { openRuntime, type Outside, type Runtime } from './runtime.ts'
import { Charts } from './stats/charts.ts'
import { Recorder } from './stats/recorder.ts'
import { recordVersion } from './storage/about.ts'
import { hasKeys } from './storage/credentials.ts'
import { wakeLimited, unfinishedOf } from './storage/message-queue.ts'
import { argon2id } from './system/hash.ts'
import { runServices, type Service } from './system/service.ts'
import { VERSION } from './system/version.ts'
import { createTimeline } from './timeline/timeline.ts'
import { createNetwork } from './webhooks/network.ts'
import type { SendReply } from './webhooks/replies.ts'
import { createWebhooks } from './webhooks/webhooks.ts'
export { listenInSafeMode } from './http/safe-mode.ts'

export type App = {
  readonly http: Http
  /** Resolves if the process must end: the disk fails, or the database is damaged. */
  readonly fatal: Promise<unknown>
  createFirstKey(): Promise<CreatedKey | null>
  /** True if the relay ever had a key. */
  hasKeys(): boolean
  readonly dashboard: {
    hasPassword(): boolean
    /** Creates a link to set the password; earlier links stop working. */
    createSetupLink(origin?: Origin): Promise<SetupLink>
  }
  /** Listens at once, but answers only "starting" until `mayServe` resolves with true. Returns the address. */
  start(mayServe?: Promise<boolean>): Promise<string>
  /** Resolves when everything has stopped and the data is closed. */
  stop(): Promise<void>
  /** Called after `fatal`: lets pending refusals reach their callers. Writes nothing. */
  abandon(): Promise<void>
}

/** The address of a relay that is only called through `http.fetch`. */
const NOT_LISTENING = 'http://localhost'
const CHECKUP_MS = 5_000
/** Longest wait of a stop for running requests; requests that wait for a send are answered at once. */
const STOP_REQUESTS_MS = 5_000
const LAST_ANSWERS_MS = 250

/** Builds the relay without starting it. Throws if the data can't be opened. */
export function createApp(config: Config, parts: Partial<Outside> = {}): App {
  const runtime = openRuntime(config, parts)
  const { core, disk, health } = runtime
  const life: Life = { phase: 'starting', listener: null }
  const tls = new TlsWatch(core, config, (pair) => life.listener?.renew(pair))
  const given = { config, parts, lines: () => messaging.lines.lines() }
  const { kinds, boxes, services } = createDevices(runtime, given)
  const start = { config, parts, life }
  const network = createNetworkModule(runtime, start)
  const attachments = createAttachmentModule(runtime, network, start)
  const sendReply: SendReply = (reply) => messaging.messages.sender.send(reply)
  const webhooks = createWebhookModule(runtime, { network, attachments, sendReply }, start)
  const below = { webhooks, kinds, boxes, attachments, network }
  const messaging = createMessageModule(runtime, below, start)
  const { lines, messages } = messaging
  const maintenance = createMaintenance(runtime, { attachments, network, webhooks }, start)
  const { updates, watches } = maintenance
  const alerts = createAlertModule(runtime, { ...below, messaging })
  const access = createEntry(runtime, start)
  const lastUsed = new LastUsed(core)
  health.includeRelay(disk, ...watches, tls, attachments, updates, alerts, hostWatch(parts))
  const modules = { ...below, ...start, messaging, maintenance, alerts, lastUsed, access }
  const http = createHttpModule(runtime, modules)
  const queues = createQueueWatch(runtime, { webhooks, messaging, kinds })
  const loops = loopsOf(runtime, modules, [queues, tls, ...services, ...(parts.companions ?? [])])
  let running: ReturnType<typeof runServices> | null = null
  void runtime.fatal.then(() => (life.phase = 'stopping'))
  return {
    http,
    fatal: runtime.fatal,
    hasKeys: () => hasKeys(core.db),
    createFirstKey: () => createFirstKey(core),
    dashboard: access,
    async start(mayServe) {
      const path = runtime.directory.controlSocket
      const at = { host: config.host, port: config.port, path, tls: tls.pair, log: core.log }
      life.listener = parts.fake?.listener ?? null
      if (parts.isListening ?? true) life.listener ??= listenEverywhere(http, at)
      const url = life.listener?.url ?? NOT_LISTENING
      if (mayServe !== undefined) life.phase = 'checking'
      if ((await mayServe) === false) return url
      await Promise.all([recordVersion(core, VERSION), core.settings.keepFirst()])
      const count = await messages.outcomes.recover()
      if (count > 0) runtime.log.warn('messages are uncertain after a crash', { count })
      await access.applyLockedPassword()
      running = runServices(loops, core)
      await lines.whenReady()
      life.phase = 'running'
      return url
    },
    async stop() {
      life.phase = 'stopping'
      messages.callers.stop()
      await Promise.all([life.listener?.stop(STOP_REQUESTS_MS), running?.stop()])
      runtime.close()
    },
    abandon: async () => life.listener?.stop(LAST_ANSWERS_MS),
  }
}

function loopsOf(
  runtime: Runtime,
  modules: Modules,
  others: readonly Service[],
): readonly Service[] {
  const { core, disk, health, healthSignal, metrics } = runtime
  const { lines, messages } = modules.messaging
  return [
    new Recorder(core, { lines, metrics }),
    modules.lastUsed,
    new SearchFollower(core, { disk }),
    new PersonFollower(core, { disk }),
    healthWatch(core, { health, healthSignal }),
    ...modules.alerts.services,
    ...runtime.services,
    lines,
    messages.dispatch,
    modules.webhooks.loop,
    ...modules.maintenance.watches,
    ...others,
  ]
}

function createMaintenance(
  { core, directory, disk, backupWorker: worker, dispatchSignal, healthSignal }: Runtime,
  { network, attachments, webhooks }: Pick<Base, 'network' | 'attachments' | 'webhooks'>,
  { config, parts, life }: Start,
) {
  const { releaseKey = null, restore = () => {}, restored = null } = parts
  const updates = createUpdateCheck(core, { releaseKey, fetchText: network.fetchText })
  const backups = createBackups(core, { directory, folder: config.backupFolder, worker, disk })
  const restoring = createRestoring(core, { directory, worker, disk, restore, restored })
  const jobs = [backups.job, restoring.job, updates.job]
  const onChange = () => [dispatchSignal, healthSignal].forEach((signal) => signal.notify())
  const isWell = () => life.phase === 'running' && !disk.isLow
  const clockWatch = new ClockWatch(core, { onChange })
  const timetable = createTimetable(core, { attachments, jobs, webhooks: webhooks.actions })
  const heartbeat = new Heartbeat(core, { isWell, beat: network.get })
  return { updates, backups, restoring, watches: [clockWatch, timetable, heartbeat] }
}

function hostWatch({ checkHost = async () => [] }: Partial<Outside>) {
  return { findings: () => checkHost(AbortSignal.timeout(CHECKUP_MS)) }
}

type Life = { phase: Phase; listener: Listener | null }

type Start = { readonly config: Config; readonly parts: Partial<Outside>; readonly life: Life }
type Network = ReturnType<typeof createNetwork>

function createNetworkModule({ wallClock, settings }: Runtime, { parts, life }: Start): Network {
  const ownPort = () => life.listener?.port
  return createNetwork(wallClock, { settings, ownPort, outside: parts })
}

function createAttachmentModule(
  { core, store, secretKey, disk }: Runtime,
  { download }: Network,
  start: Start,
): Attachments {
  const deps = { store, secretKey, disk, download, serverUrl: serverUrl(start) }
  return new Attachments(core, { ...deps, findTool: start.parts.findTool })
}

type PostsAndReplies = Pick<Base, 'network' | 'attachments'> & { readonly sendReply: SendReply }

function createWebhookModule(
  { core, seal, metrics, disk, deliverySignal, health }: Runtime,
  { network, attachments, sendReply }: PostsAndReplies,
  { config, parts, life }: Start,
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
    serverUrl: serverUrl({ config, parts, life }),
    sendReply,
    fake: parts.fake,
  })
  health.include(async () => webhooks.queues.findings().map(ofWebhook))
  return webhooks
}

/** The relay's address for its callers. */
function serverUrl({ config: { publicUrl, port }, parts, life }: Start): () => string {
  const local = () => life.listener?.localUrl ?? `http://127.0.0.1:${port}`
  return parts.fake?.url ?? (() => publicUrl ?? local())
}

function createMessageModule(
  runtime: Runtime,
  { webhooks, kinds, boxes, attachments }: Base,
  { config, parts, life }: Start,
) {
  const { core, db, days, clock, writer, disk, dispatchSignal, health } = runtime
  const lines: LineSupervisor = new LineSupervisor(core, {
    kinds: kinds.kinds,
    drivers: boxes.drivers,
    boxes,
    messages: {
      intake: (line, event) => intake.take(line, event),
      loadUnfinished: (line) => unfinishedOf(db, line.id, { age: clock, files: runtime.store }),
    },
  })
  lines.onChange((id) => {
    dispatchSignal.notify()
    runtime.healthSignal.notify()
    runtime.changes.publish([{ what: 'line', id }])
  })
  const messages = createMessages(core, {
    directory: lines,
    publish: webhooks.publish,
    sentenceOf: kinds.sentenceOf,
    store: runtime.store,
    attachments,
    disk,
    dispatchSignal,
    isStopping: () => life.phase === 'stopping',
    onLoop: (line) => health.report(loopFinding(line)),
    callerClock: parts.fake?.callerClock,
    waitMs: config.sendWaitMs,
  })
  const { intake, outcomes } = messages
  health.include(async () => {
    return groupedByBox(await lines.checkup(AbortSignal.timeout(CHECKUP_MS)), (box) =>
      boxes.nameOf(box),
    )
  })
  health.include(async () => kinds.findings().map((finding) => ofLine(finding, lines.lines())))
  observeMessages(runtime.metrics, db, lines)
  const onDeleted = () => outcomes.failOrphans()
  const onLimits = (id: LineId) =>
    writer.write((tx) => wakeLimited(tx, id, clock.now())).then(() => dispatchSignal.notify())
  const sites = createSites(core, { onMoved: webhooks.actions.linesMoved, onLimits })
  const lineActions = createLineActions(core, { days, lines, sites, onLimits, onDeleted })
  return { lines, lineActions, sites, messages }
}

function createQueueWatch(
  runtime: Runtime,
  { webhooks, messaging, kinds }: Pick<Modules, 'webhooks' | 'messaging' | 'kinds'>,
): QueueWatch {
  const { core, days, disk, health, healthSignal } = runtime
  const { lines } = messaging
  const ofLines = new LineFindings(core, { lines, days, sentenceOf: kinds.sentenceOf })
  const queues = new QueueWatch(core, { healthSignal, disk, lines, webhooks: webhooks.queues })
  health.include(async () => [...ofLines.list(), ...queues.findings()])
  return queues
}

function createAlertModule(
  { core, health, seal }: Runtime,
  { webhooks, network, messaging }: Base & Pick<Modules, 'messaging'>,
) {
  const { lines, messages } = messaging
  return createAlerts(core, {
    health,
    lines: () => lines.lines(),
    publish: webhooks.publish,
    subscribers: webhooks.subscribers,
    onLineChange: (listener) => lines.onChange(listener),
    accept: (text, also) => messages.sender.accept({ ...ALERT_SEND, ...text }, also),
    post: network.postOwn,
    seal,
  })
}

function createEntry({ core, health, seal }: Runtime, { config, parts, life }: Start): Access {
  const access = new Access(core, {
    passwordHash: parts.passwordHash ?? argon2id,
    lockedPassword: config.adminPassword,
    seal,
    addresses: () => ({
      publicUrl: config.publicUrl,
      listeningUrl: life.listener?.url ?? NOT_LISTENING,
      localName: localName(hostname()),
    }),
  })
  health.include(async () => [...access.findings(), ...keyFindings(core)].map(ofRelay))
  health.include(async () => stoppedFindings(core))
  return access
}

type Base = {
  readonly kinds: CreatedKinds
  readonly boxes: Boxes
  readonly webhooks: ReturnType<typeof createWebhooks>
  readonly attachments: Attachments
  readonly network: Network
}

type Modules = Base &
  Start & {
    readonly messaging: ReturnType<typeof createMessageModule>
    readonly maintenance: ReturnType<typeof createMaintenance>
    readonly alerts: ReturnType<typeof createAlerts>
    readonly lastUsed: LastUsed
    readonly access: Access
  }

function createHttpModule(runtime: Runtime, modules: Modules): Http {
  const { core, days, disk, doubtSignal, health, healthSignal, metrics, options, recent } = runtime
  const { access, config, life, parts, kinds, boxes, webhooks, attachments } = modules
  const { lines, lineActions, sites, messages } = modules.messaging
  const { lastUsed, maintenance } = modules
  return createHttp(core, {
    alerts: modules.alerts.actions,
    access,
    address: () => life.listener?.url ?? NOT_LISTENING,
    attachments,
    authenticate: createAuthenticate(core, { lastUsed }),
    backups: maintenance.backups,
    boxes: boxes.actions,
    charts: new Charts(core, { lines }),
    config,
    confirmHealthy: runtime.confirmHealthy,
    contacts: createContacts(core),
    credentials: createCredentials(core, {
      lastUsed,
      seal: runtime.seal,
      webhooks: webhooks.actions,
      cancelMessage: (tx, id, origin) => messages.decisions.cancelIn(tx, id, origin),
    }),
    days,
    disk,
    doubtSignal,
    eventLog: webhooks.eventLog,
    fakeBindings: parts.fake?.bindings ?? null,
    health,
    hosts: { ...hostsOf(config), ...parts.fake?.hosts },
    kinds,
    life,
    lines: lineActions,
    metrics,
    options,
    conversationChanges: messages.conversationChanges,
    decisions: messages.decisions,
    optOuts: messages.optOuts,
    reading: messages.reading,
    recent,
    restoring: maintenance.restoring,
    routing: messages.routing,
    sender: messages.sender,
    serverUrl: serverUrl({ config, parts, life }),
    sites,
    setSnooze: createSnoozes(core, { health, healthSignal }),
    timeline: createTimeline(core, { titleOf: (reason) => titleOf(kinds.kinds, reason) }),
    updates: maintenance.updates,
    webhooks: webhooks.actions,
  })
}
