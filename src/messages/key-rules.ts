// Checks and counts the send rules of keys, in the transaction that accepts a message, so that neither a restart nor
// concurrent requests get around them.

import type { ContactHold } from '../domain/contact-limit.ts'
import { RelayError } from '../domain/errors.ts'
import { homeOfNumber, personOf, type Handle } from '../domain/handle.ts'
import { timestamp, type ConversationId, type MessageId, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Approval } from '../domain/message-extras.ts'
import {
  allowsRecipient,
  type KeyRules,
  type RecipientFacts,
  type KeyCaller,
} from '../domain/permissions.ts'
import type { LineLimit } from '../domain/routing.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import { getConversation } from '../storage/conversations.ts'
import { countSend, keysWithRules, sendOfKey } from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { findGroup } from '../storage/groups.ts'
import { hasWrittenInSince, hasWrittenSince, isKnownOn } from '../storage/line-limits.ts'
import type { Histories, Target } from './send-target.ts'

type Send = {
  readonly key: KeyCaller
  readonly target: Target
  readonly histories: Histories
}

/** Throws `recipient_not_allowed` or `rate_limit_exceeded` if the key's rules forbid a send. */
export function requireByRules(db: Db, send: Send, now: Timestamp): void {
  const { rules } = send.key.permissions
  if (rules.recipients !== 'anyone') requireRecipients(db, send, now)
  if (!isCounted(rules)) return
  for (const { id, rules } of keysWithRules(db, send.key.keyId)) {
    for (const { name, most, lengthMs } of limitsOf(rules)) {
      const at = sendOfKey(db, id, { since: now - lengthMs, place: most - 1 })
      if (at !== null) throw limitReached({ name, most, retryMs: at + lengthMs - now })
    }
  }
}

/** A group gets a message only if the rules allow each of its members, and so never if the relay knows none. */
function requireRecipients(db: Db, send: Send, now: Timestamp): void {
  const { rules } = send.key.permissions
  const { recipients, allow } = rules
  const people = peopleOf(db, send, now)
  const allowed = people.filter((person) => allowsRecipient(rules, person)).length
  if (people.length > 0 && allowed === people.length) return
  const others = recipients !== 'list' && allow.length > 0 ? ' and those in rules.allow' : ''
  const message = `The rules of this key allow only these recipients: ${recipients}${others}.`
  if (send.target.recipient.kind !== 'group') {
    throw new RelayError('recipient_not_allowed', message, { details: { recipients } })
  }
  const why =
    people.length === 0
      ? "The relay doesn't know the members of this group, so it can't check them."
      : `In a group, each member must be one; ${allowed} of ${people.length} are.`
  const fix = 'Use a key with the others in rules.allow, or one of this group by conversation_ids.'
  const details = { recipients, members: people.length, allowed_members: allowed }
  throw new RelayError('recipient_not_allowed', `${message} ${why} ${fix}`, { details })
}

/** Counts an accepted message for its key and for the keys that it derives from. */
export function countByRules(tx: Tx, key: KeyCaller, messageId: MessageId, now: Timestamp): void {
  if (!isCounted(key.permissions.rules)) return
  for (const { id, rules } of keysWithRules(tx, key.keyId)) {
    if (isCounted(rules)) countSend(tx, id, { messageId, at: now, before: now - DAY_MS })
  }
}

type Newness = {
  readonly recipient: Target['recipient']
  readonly line: Pick<Line, 'id'>
  readonly contactHold: ContactHold
}

/** The approval that the key's message needs; null if none. */
export function newApproval(
  db: Db,
  { keyId, permissions }: KeyCaller,
  to: Newness,
): Approval | null {
  const { approval } = permissions.rules
  if (approval === 'never' || (approval === 'new_contacts' && !hasNewContact(db, to))) return null
  const open = { resolvedBy: null, resolvedAt: null, reason: null, originalText: null }
  return { state: 'pending', requestedBy: keyId, ...open }
}

/**
 * True for a new contact, which has a contact hold. A group counts as new if a member isn't a known contact of its
 * line, or if its members aren't known.
 */
function hasNewContact(db: Db, { recipient, line, contactHold }: Newness): boolean {
  if (recipient.kind !== 'group') return contactHold !== 'none'
  const { conversationId: id } = recipient
  const members = membersOf(db, id)
  return members.length === 0 || !members.every(isKnownMember(db, id, [line.id]))
}

function isCounted({ sendsPerHour, sendsPerDay }: KeyRules): boolean {
  return sendsPerHour !== null || sendsPerDay !== null
}

function limitsOf({ sendsPerHour, sendsPerDay }: KeyRules) {
  const limits = [
    { name: 'key_day', most: sendsPerDay, lengthMs: DAY_MS },
    { name: 'key_hour', most: sendsPerHour, lengthMs: HOUR_MS },
  ]
  return limits.flatMap(({ most, ...limit }) => (most === null ? [] : { ...limit, most }))
}

function limitReached(limit: {
  readonly name: string
  readonly most: number
  readonly retryMs: number
}): RelayError {
  const { name, most, retryMs } = limit
  const span = name === 'key_hour' ? 'an hour' : '24 hours'
  return new RelayError('rate_limit_exceeded', `This key may send ${most} messages in ${span}.`, {
    details: { limit: name, most },
    retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1_000)),
  })
}

/** The people who would get the message. Facts are looked up only if the rules need them. */
function peopleOf(
  db: Db,
  { key, target: { recipient }, histories }: Send,
  now: Timestamp,
): readonly RecipientFacts[] {
  const limit = key.permissions.lineIds
  const since = timestamp(now - DAY_MS)
  if (recipient.kind === 'group') {
    const { conversationId: id } = recipient
    const isKnown = isKnownMember(db, id, limit)
    return membersOf(db, id).map((handle) => ({
      handle,
      isKnown: () => isKnown(handle),
      hasReplied: () =>
        hasWrittenSince(db, { limit, handle }, since) ||
        hasWrittenInSince(db, { id, handle }, since),
    }))
  }
  const { handle } = recipient
  const isKnown = () => [...histories.values()].includes(true) || isKnownOn(db, limit, handle)
  return [{ handle, isKnown, hasReplied: () => hasWrittenSince(db, { limit, handle }, since) }]
}

function isKnownMember(db: Db, id: ConversationId, limit: LineLimit) {
  return (handle: Handle) =>
    isKnownOn(db, limit, handle) || hasWrittenInSince(db, { id, handle }, timestamp(0))
}

function membersOf(db: Db, conversationId: ConversationId): readonly Handle[] {
  const home = homeOfNumber(getConversation(db, conversationId)?.phoneNumber ?? '')
  const { participants = [] } = findGroup(db, conversationId) ?? {}
  // Groups from an earlier version may still have members as the device spells them.
  return participants.map((handle) => personOf(handle, home))
}
