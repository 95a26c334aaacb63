// What three parties say of the same messages: the relay's own file, the simulated network's ledger,
// and a receiver of webhooks. Both files are read after the relay has ended.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import type { Received } from '../support/receiver.ts'

export type StoredMessage = {
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
  readonly status: string
  readonly text: string
  readonly errorCode: string | null
  /** Whom it is to, or from. */
  readonly handle: string
}

/** How the numbers of people end of whom the network says nothing, whether it carried or not. */
export const NOBODY_KNOWS = '0194'
/** The same of a message of several parts. */
const NOBODY_KNOWS_OF_PARTS = '0199'

export type StoredEvent = {
  readonly id: string
  readonly name: string
  readonly messageId: string
  readonly deliveries: number
  readonly succeeded: number
}

export type Ledgers = {
  readonly messages: ReadonlyMap<string, StoredMessage>
  readonly events: readonly StoredEvent[]
  /** How often the network carried each message, by the message's id. */
  readonly carried: ReadonlyMap<string, number>
  readonly damage: readonly string[]
}

export const STORED_MESSAGES =
  'SELECT id, direction, status, text, error_code AS errorCode, handle FROM messages'

/** With the deliveries to webhooks in the relay's own form. */
export const STORED_EVENTS = `
  SELECT events.id, name, message_id AS messageId, count(deliveries.seq) AS deliveries,
    coalesce(sum(status = 'succeeded'), 0) AS succeeded
  FROM events LEFT JOIN deliveries ON event_seq = events.seq
    -- Those of compatible APIs don't get every event.
    AND webhook_seq IN (SELECT seq FROM webhooks WHERE format IS NULL) GROUP BY events.seq`

/** `places` are the data directories of the simulated networks: that of the relay, and those of its boxes. */
export function readLedgers(dataDir: string, places: readonly string[] = [dataDir]): Ledgers {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const messages = relay.query<StoredMessage, []>(STORED_MESSAGES).all()
  const events = relay.query<StoredEvent, []>(STORED_EVENTS).all()
  const carried = Map.groupBy(places.flatMap(carriedIn), (id) => id)
  const integrity = relay.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  return {
    messages: new Map(messages.map((message) => [message.id, message])),
    events,
    carried: new Map([...carried].map(([id, all]) => [id, all.length])),
    damage: integrity.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
  }
}

/** The messages that the relay has received so far. */
export function receivedIds(dataDir: string): readonly string[] {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const sql = "SELECT id FROM messages WHERE direction = 'inbound'"
  return relay
    .query<{ id: string }, []>(sql)
    .all()
    .map(({ id }) => id)
}

/** True once nothing waits for a webhook, also one that isn't listed. */
export function isDelivered(dataDir: string): boolean {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  return relay.query("SELECT 1 FROM deliveries WHERE status = 'pending' LIMIT 1").get() === null
}

/** The messages that one network carried; one that it carried twice is there twice. */
export function carriedIn(place: string): readonly string[] {
  using network = new Database(join(place, 'simulated.db'), { readonly: true })
  const rows = network.query<{ id: string }, []>('SELECT message_id AS id FROM carried').all()
  return rows.map(({ id }) => id)
}

/** What a client knows of one request, by the last answer it got. */
export type Told = { readonly messageId: string; readonly text: string; readonly status: string }

/**
 * Everything that the ledgers do not agree on; each list is empty when all is well. `receivers` are what
 * each webhook got: every event is to reach every one of them.
 */
export function disagreements(
  ledgers: Ledgers,
  told: readonly Told[],
  receivers: readonly (readonly Received[])[],
) {
  const { messages, events, carried } = ledgers
  const received = receivers.flat()
  const arrived = receivers.map((one) => new Set(one.map(({ id }) => id)))
  const idsByFact = Map.groupBy(received, (one) => `${one.message.id} ${one.event}`)
  const proven = [...messages.values()].filter((message) => isProven(message))
  const announced = new Set(events.map((event) => `${event.messageId} ${event.name}`))
  return {
    damaged: ledgers.damage,
    lost: told.filter((one) => messages.get(one.messageId)?.text !== one.text),
    claimedButNotCarried: proven.filter((one) => !carried.has(one.id)),
    toldSentButNotCarried: told.filter(
      (one) => ['sent', 'delivered', 'read'].includes(one.status) && !carried.has(one.messageId),
    ),
    carriedTwice: [...carried].filter(([, times]) => times > 1),
    carriedButUnknown: [...carried.keys()].filter((id) => !messages.has(id)),
    carriedButNotSaid: [...carried.keys()].filter((id) => {
      const message = messages.get(id)
      return message === undefined || !(isProven(message) || isInDoubt(message))
    }),
    withoutEvent: [...messages.values()].filter(
      (message) => !factsOf(message).every((name) => announced.has(`${message.id} ${name}`)),
    ),
    withoutDelivery: events.filter(
      ({ deliveries, succeeded }) =>
        deliveries !== receivers.length || succeeded !== receivers.length,
    ),
    notReceived: events.filter(({ id }) => !arrived.every((ids) => ids.has(id))),
    underTwoIds: [...idsByFact].filter(([, all]) => new Set(all.map((one) => one.id)).size > 1),
    unsigned: received.filter((one) => !one.isSigned),
  }
}

/**
 * Messages that ended as they need not have: the simulated network keeps a ledger, so its line knows of
 * each message that was not refused whether it left.
 */
export function unexplained({ messages }: Ledgers) {
  return {
    uncertainWithoutReason: [...messages.values()].filter(
      (message) => message.status === 'uncertain' && !isInDoubt(message),
    ),
    failedUnrefused: [...messages.values()].filter(
      ({ status, errorCode }) => status === 'failed' && !REFUSALS.includes(errorCode ?? ''),
    ),
  }
}

/** Why a line refuses a message, or a person. */
const REFUSALS: readonly string[] = [
  'line_refused',
  'not_on_imessage',
  'partly_sent',
  'canceled',
  'denied',
  'recipient_opted_out',
]

function isProven({ status }: StoredMessage): boolean {
  return ['sent', 'delivered', 'read'].includes(status)
}

function isInDoubt({ status, handle }: StoredMessage): boolean {
  const endings = [NOBODY_KNOWS, NOBODY_KNOWS_OF_PARTS]
  return status === 'uncertain' && endings.some((ending) => handle.endsWith(ending))
}

/** The events that a message must have caused by its state. */
function factsOf(message: StoredMessage): readonly string[] {
  if (message.direction === 'inbound') return ['message.received']
  switch (message.status) {
    case 'sent':
      return ['message.sent']
    case 'delivered':
      return ['message.sent', 'message.delivered']
    case 'read':
      return ['message.sent', 'message.delivered', 'message.read']
    case 'failed':
    case 'expired':
      return ['message.failed']
    default:
      return []
  }
}
