// Checks and counts the send rules of keys, in the transaction that accepts a message, so that neither a restart nor
// concurrent requests get around them.

import type { ContactHold } from '../domain/contact-limit.ts'
import { RelayError } from '../domain/errors.ts'
import { homeOfNumber, personOf } from '../domain/handle.ts'
import { timestamp, type MessageId, type Timestamp } from '../domain/ids.ts'
import type { Approval } from '../domain/message-extras.ts'
import {
  allowsRecipient,
  type KeyRules,
  type RecipientFacts,
  type KeyCaller,
} from '../domain/permissions.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import { getConversation } from '../storage/conversations.ts'
import { countSend, keysWithRules, sendOfKey } from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { findGroup } from '../storage/groups.ts'
import { hasGroupWrittenSince, hasWrittenSince, isKnownOn } from '../storage/line-limits.ts'
import type { Histories, Target } from './send-target.ts'

type Send = {
  readonly key: KeyCaller
  readonly target: Target
  readonly histories: Histories
}

/** Throws `recipient_not_allowed` or `rate_limit_exceeded` if the key's rules forbid a send. */
export function requireByRules(db: Db, { key, target, histories }: Send, now: Timestamp): void {
  const { rules } = key.permissions
  if (!allowsRecipient(rules, factsOf(db, { key, target, histories }, now))) {
    const message = `The rules of this key allow only these recipients: ${rules.recipients}.`
    throw new RelayError('recipient_not_allowed', message, {
      details: { recipients: rules.recipients },
    })
  }
  if (!isCounted(rules)) return
  for (const { id, rules } of keysWithRules(db, key.keyId)) {
    for (const { name, most, lengthMs } of limitsOf(rules)) {
      const at = sendOfKey(db, id, { since: now - lengthMs, place: most - 1 })
      if (at !== null) throw limitReached({ name, most, retryMs: at + lengthMs - now })
    }
  }
}

/** Counts an accepted message for its key and for the keys that it derives from. */
export function countByRules(tx: Tx, key: KeyCaller, messageId: MessageId, now: Timestamp): void {
  if (!isCounted(key.permissions.rules)) return
  for (const { id, rules } of keysWithRules(tx, key.keyId)) {
    if (isCounted(rules)) countSend(tx, id, { messageId, at: now, before: now - DAY_MS })
  }
}

/** The approval that the key's message needs; null if none. Known contacts have no contact hold. */
export function newApproval(
  { keyId, permissions }: KeyCaller,
  contactHold: ContactHold,
): Approval | null {
  const { approval } = permissions.rules
  if (approval === 'never' || (approval === 'new_contacts' && contactHold === 'none')) return null
  const open = { resolvedBy: null, resolvedAt: null, reason: null, originalText: null }
  return { state: 'pending', requestedBy: keyId, ...open }
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

/** Facts are looked up only if the rules need them. */
function factsOf(db: Db, { key, target, histories }: Send, now: Timestamp): RecipientFacts {
  const { recipient } = target
  const limit = key.permissions.lineIds
  const since = timestamp(now - DAY_MS)
  if (recipient.kind === 'group') {
    const { conversationId } = recipient
    const home = homeOfNumber(getConversation(db, conversationId)?.phoneNumber ?? '')
    const { participants = [] } = findGroup(db, conversationId) ?? {}
    return {
      // Groups from an earlier version may still have members as the device spells them.
      handles: participants.map((handle) => personOf(handle, home)),
      isKnown: () => true,
      hasReplied: () => hasGroupWrittenSince(db, conversationId, since),
    }
  }
  const { handle } = recipient
  return {
    handles: [handle],
    isKnown: () => [...histories.values()].includes(true) || isKnownOn(db, limit, handle),
    hasReplied: () => hasWrittenSince(db, { limit, handle }, since),
  }
}
