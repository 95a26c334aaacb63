// What the relay's file, Messages and a receiver of webhooks say of the same messages of a Mac line.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import type { CarriedText } from '../support/mac/messages-behaviours.ts'
import type { Received } from '../support/receiver.ts'
import {
  STORED_EVENTS,
  STORED_MESSAGES,
  type Ledgers,
  type StoredEvent,
  type StoredMessage,
  type Told,
} from './ledgers.ts'

/** The ledgers, with Messages in place of the simulated network: no text is sent to two people. */
export function readMacLedgers(dataDir: string, letters: readonly CarriedText[]): Ledgers {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const messages = relay.query<StoredMessage, []>(STORED_MESSAGES).all()
  const events = relay.query<StoredEvent, []>(STORED_EVENTS).all()
  const integrity = relay.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  const outbound = messages.filter(isOutbound)
  const idOf = ({ text }: CarriedText) => outbound.find((one) => one.text === text)?.id ?? text
  const carried = [...Map.groupBy(letters, idOf)].map(([id, all]) => [id, all.length] as const)
  return {
    messages: new Map(messages.map((message) => [message.id, message])),
    events,
    carried: new Map(carried),
    damage: integrity.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
  }
}

/** The texts of each person in the order in which a receiver heard of them first. */
export function announcedBy(received: readonly Received[]): Record<string, readonly string[]> {
  const inbound = received.filter(({ event }) => event === 'message.received')
  const texts = [...Map.groupBy(inbound, ({ message }) => message.handle)].map(
    ([handle, all]) => [handle, [...new Set(all.map(({ message }) => message.text))]] as const,
  )
  return Object.fromEntries(texts)
}

/** Messages of the line that no client asked for: rows of ours that it took for typed ones. */
export function notAskedFor(
  { messages }: Ledgers,
  told: readonly Told[],
): readonly StoredMessage[] {
  const asked = new Set(told.map(({ messageId }) => messageId))
  return [...messages.values()].filter((message) => isOutbound(message) && !asked.has(message.id))
}

/** Events of what did not happen to their messages, as these are in the end. */
export function untrueEvents({ messages, events }: Ledgers): readonly string[] {
  return events
    .map(({ name, messageId }) => `${name} of a message that is ${messages.get(messageId)?.status}`)
    .filter((told) => !TRUE_EVENTS.has(told))
}

const TRUE_EVENTS = new Set(
  [
    ['message.received', 'received'],
    ['message.sent', 'read'],
    ['message.delivered', 'read'],
    ['message.read', 'read'],
    ['message.failed', 'failed'],
  ].map(([name, status]) => `${name} of a message that is ${status}`),
)

function isOutbound({ direction }: StoredMessage): boolean {
  return direction === 'outbound'
}
