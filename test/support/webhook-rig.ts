// The whole room of webhooks on a test clock: real SQLite, a sink in place of the network.

import { DEFAULT_RETRY_SCHEDULE_MS } from '../../src/config.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { RelayError } from '../../src/domain/errors.ts'
import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type ConversationId, type LineId } from '../../src/domain/ids.ts'
import type { Message } from '../../src/domain/message.ts'
import type { EventName } from '../../src/domain/webhook.ts'
import { createAudit } from '../../src/storage/audit.ts'
import type { Core } from '../../src/storage/core.ts'
import { openDatabase, type Db } from '../../src/storage/database.ts'
import { createSettings } from '../../src/storage/settings.ts'
import { Writer } from '../../src/storage/writer.ts'
import { ChangeFeed } from '../../src/system/change-feed.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { sha256 } from '../../src/system/hash.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { Metrics } from '../../src/system/metrics.ts'
import type { Random } from '../../src/system/random.ts'
import { createSeal } from '../../src/system/seal.ts'
import { Signal } from '../../src/system/signal.ts'
import type { TargetRules } from '../../src/webhooks/targets.ts'
import { createWebhooks } from '../../src/webhooks/webhooks.ts'
import { recordingLog } from './recording-log.ts'
import { storeLine, storeMessages, type StoredMessage } from './stored-rows.ts'
import { settle, TEST_START, TestClock } from './test-clock.ts'
import { WebhookSink } from './webhook-sink.ts'

const ANY_PRIVATE: TargetRules = {
  policy: () => 'any-private',
  isOwnListener: (_address, port) => port === 4665,
}

type Options = {
  readonly db?: Db | undefined
  readonly clock?: TestClock | undefined
  readonly scheduleMs?: readonly number[] | undefined
  readonly secretKey?: Uint8Array | undefined
  readonly isRunning?: boolean | undefined
}

export type Rig = Awaited<ReturnType<typeof startRig>>

export const OWNER = COMMAND_LINE
const LINE = 'line_a' as LineId

export async function startRig(options: Options = {}) {
  const testClock = options.clock ?? new TestClock()
  const clock = new ConfirmedClock(testClock, null)
  const db = options.db ?? openDatabase(':memory:', { version: 'test' }).db
  storeLine(db.sqlite)
  const random = countingRandom()
  const fatal: unknown[] = []
  const writer = new Writer(db, (error) => fatal.push(error))
  const ids = new LogicalClock(clock, random, 0)
  const seal = createSeal(options.secretKey ?? new Uint8Array(32).fill(7), random)
  const sink = new WebhookSink(testClock)
  const metrics = new Metrics()
  const { log, lines: logged } = recordingLog()
  const audit = createAudit({ writer, ids, log: silentLog })
  const settings = createSettings({ db, writer, ids, audit, locked: {} })
  const changes = new ChangeFeed({ clock, random })
  const core: Core = { db, writer, clock, ids, log, random, settings, changes, audit }
  const disk = { isLow: false }
  const {
    actions: subscriptions,
    eventLog,
    queues,
    loop,
    publish,
  } = createWebhooks(core, {
    post: sink.post,
    rules: ANY_PRIVATE,
    seal,
    metrics,
    disk,
    signal: new Signal(),
    scheduleMs: options.scheduleMs ?? DEFAULT_RETRY_SCHEDULE_MS,
    downloadUrl: () => 'https://relay.example/a/token',
    origin: String,
    serverUrl: () => 'https://relay.example',
    sendReply: async () => {},
  })
  const stop = new AbortController()
  const running = options.isRunning === false ? Promise.resolve() : loop.run(stop.signal)
  await settle()
  let messages = 0
  return {
    core,
    db,
    writer,
    ids,
    seal,
    eventLog,
    clock: testClock,
    age: clock,
    sink,
    publishIn: publish,
    queues,
    loop,
    metrics,
    logged,
    subscriptions,
    disk,
    stopSignal: stop,
    running,
    /** A webhook at `url` that wants every event. */
    async webhook(url = 'https://receiver.example/a', events: readonly EventName[] = ALL) {
      const created = await subscriptions.create({ url, events }, OWNER)
      await settle()
      return created
    },
    /** Stores a new message, publishes an event of it, and lets it go out. */
    async event(conversation = 'a', name: EventName = 'message.received'): Promise<Message> {
      const message = messageOf((messages += 1), { conversation, at: clock.now(), ids })
      await writer.write((tx) => {
        storeMessages(tx.sqlite, [storedOf(message)])
        publish(tx, name, message)
      })
      await settle()
      return message
    },
    async publish(name: EventName, message: Message): Promise<void> {
      await writer.write((tx) => publish(tx, name, message))
      await settle()
    },
    deliveries(webhookId: string) {
      return subscriptions.listDeliveries(webhookId, {}, { limit: 200, cursor: null }).data
    },
    delivery(id: string | undefined) {
      return subscriptions.getDelivery(id ?? '', { isTrusted: true })
    },
    async stop(): Promise<void> {
      stop.abort()
      await running
    },
    /** Stops it; receivers that hang run into their time-outs. */
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort()
      await testClock.advance(10_000)
      await running
    },
  }
}

/** Everything since the beginning of the test. */
export const EVERYTHING = {
  since: timestamp(TEST_START),
  includesEarlier: true,
  events: null,
  lineId: null,
  isDryRun: false,
} as const

export const ALL: readonly EventName[] = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]

export function messageOf(
  seq: number,
  given: { readonly conversation: string; readonly at: number; readonly ids: LogicalClock },
): Message {
  const now = timestamp(given.at)
  return {
    seq,
    id: given.ids.id('msg'),
    lineId: LINE,
    conversationId: `conv_${given.conversation.padStart(26, '0')}` as ConversationId,
    phoneNumber: '+12025550101',
    handle: deviceHandle('+12025550147'),
    direction: 'inbound',
    status: 'received',
    service: 'iMessage',
    text: `Message ${seq}`,
    guid: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42',
    isGroup: false,
    extras: null,
    platformGuid: null,
    source: 'device',
    queuedReason: null,
    error: null,
    createdAt: now,
    updatedAt: now,
    sentAt: now,
    deliveredAt: null,
    readAt: null,
  }
}

function storedOf(message: Message): StoredMessage {
  const { id, status, direction, text, guid, conversationId: conversation } = message
  return { id, status, direction, text, guid, conversation }
}

/** The code that a call is refused with, or `none`. */
export async function codeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act()
    return 'none'
  } catch (error) {
    return error instanceof RelayError ? error.code : String(error)
  }
}

/** Bytes that differ at every call, and no jitter. */
function countingRandom(): Random {
  let count = 0
  return {
    bytes: (length) => {
      count += 1
      return sha256(`chance ${count}`).slice(0, length)
    },
    chance: () => 0,
  }
}
