// Converts permissions of keys between requests, stored form and answers.

import type * as api from '../api/keys.ts'
import { TIME_WANTED } from '../api/schema.ts'
import type { AuditFields } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { parseRecipient } from '../domain/handle.ts'
import { parseId, type ConversationId, type Timestamp } from '../domain/ids.ts'
import {
  EVERYTHING,
  NO_RULES,
  SCOPE_GROUPS,
  expandScopes,
  partsAbove,
  ruleAgainst,
  type KeyRules,
  type Permissions,
} from '../domain/permissions.ts'
import { lineLimitFields } from '../domain/routing.ts'
import { getConversation } from '../storage/conversations.ts'
import type { FileCore } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { limitsAsked } from '../storage/sites.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'

type AskedLimits = Omit<api.KeyCreation, 'name' | 'for'>

/** If the request leaves a permission out, the key gets its maker's. Throws `forbidden` for more than its maker has. */
export function permissionsAsked({ db, ids }: FileCore, asked: AskedLimits, own: Permissions) {
  const { scopes = null, expires_at: end = null } = asked
  const { conversation_ids: conversations = null } = asked
  const limits = limitsAsked(db, asked, own.limits)
  const permissions: Permissions = {
    scopes: scopes === null ? own.scopes : expandScopes(scopes),
    lineIds: linesWithin(db, limits),
    limits,
    conversationIds:
      conversations === null ? own.conversationIds : conversationsIn(db, conversations, own),
    expiresAt: end === null ? own.expiresAt : endIn(end, ids.now(), EVERYTHING),
    rules: rulesAsked(asked.rules ?? {}, own.rules),
  }
  const above = partsAbove(permissions, own)
  if (above.length === 0) return withAllScopes(permissions, scopes)
  const message = `A key cannot give more than it has itself: ${above.join(', ')}.`
  throw new RelayError('forbidden', message, { details: { above } })
}

/** Throws if the request names a scope that would bypass the key's other limits. */
function withAllScopes(permissions: Permissions, named: AskedLimits['scopes'] | null): Permissions {
  // A scope group stands for those of its scopes that the key may have.
  const byName = (named ?? []).filter((one) => !Object.hasOwn(SCOPE_GROUPS, one))
  const issues = expandScopes(byName).flatMap((scope) => {
    const limit = ruleAgainst(permissions, scope)
    if (limit === null) return []
    return [{ path: 'scopes', message: `must not have ${scope}, which would get around ${limit}` }]
  })
  if (issues.length > 0) throw invalidRequest(...issues)
  return permissions
}

function conversationsIn(
  db: Db,
  texts: readonly string[],
  { lineIds, limits, conversationIds }: Permissions,
): readonly ConversationId[] {
  // The lookup of conversations doesn't depend on the caller.
  const viewer = { lineIds, limits, conversationIds, caller: 'owner' } as const
  const ids = texts.flatMap((text) => {
    const id = parseId('conv', text)
    return id !== null && getConversation(db, id) !== null && isSeenBy(db, viewer, id) ? id : []
  })
  if (ids.length === texts.length) return [...new Set(ids)]
  throw invalidRequest({ path: 'conversation_ids', message: 'must be ids of conversations' })
}

/** The end that a request names. Throws if it is in the past, or `forbidden` if it is later than the caller's own. */
export function endIn(text: string, now: Timestamp, own: Permissions): Timestamp {
  const end = parseIsoTime(text)
  if (end === null) throw invalidRequest({ path: 'expires_at', message: TIME_WANTED })
  if (own.expiresAt !== null && end > own.expiresAt) {
    const message = 'A key cannot give more than it has itself: expires_at.'
    throw new RelayError('forbidden', message, { details: { above: ['expires_at'] } })
  }
  if (end > now) return end
  throw invalidRequest({ path: 'expires_at', message: 'must be in the future' })
}

function rulesAsked(asked: NonNullable<AskedLimits['rules']>, own: KeyRules): KeyRules {
  if (Object.keys(asked).length === 0) return own
  const rules = mergedRules(asked, own)
  const { recipients, allow, quietHours } = rules
  if (recipients === 'anyone' && allow.length > 0) {
    const message = 'is for keys whose rules.recipients is not anyone'
    throw invalidRequest({ path: 'rules.allow', message })
  }
  if (quietHours !== null && quietHours.from === quietHours.to) {
    throw invalidRequest({ path: 'rules.quiet_hours', message: 'must not end when they begin' })
  }
  return Bun.deepEquals(rules, NO_RULES) ? NO_RULES : rules
}

function mergedRules(asked: NonNullable<AskedLimits['rules']>, own: KeyRules): KeyRules {
  return {
    recipients: asked.recipients ?? own.recipients,
    allow: asked.allow?.map(handleIn) ?? own.allow,
    sendsPerHour: asked.sends_per_hour ?? own.sendsPerHour,
    sendsPerDay: asked.sends_per_day ?? own.sendsPerDay,
    approval: asked.approval ?? own.approval,
    quietHours: asked.quiet_hours ?? own.quietHours,
  }
}

function handleIn(text: string): string {
  const recipient = parseRecipient(text)
  if (recipient !== null) return recipient.handle
  const message = 'must be phone numbers in international format, or email addresses'
  throw invalidRequest({ path: 'rules.allow', message })
}

/** The limits as fields; empty for a key without limits. */
export function limitFields(permissions: Permissions) {
  const { scopes, limits, conversationIds, expiresAt, rules } = permissions
  return {
    ...(scopes === null ? {} : { scopes }),
    ...lineLimitFields(limits),
    ...(conversationIds === null ? {} : { conversation_ids: conversationIds }),
    ...(expiresAt === null ? {} : { expires_at: isoTime(expiresAt) }),
    ...(rules === NO_RULES ? {} : { rules: rulesResource(rules) }),
  }
}

export function rulesResource(rules: KeyRules): api.KeyRules {
  return {
    recipients: rules.recipients,
    allow: rules.allow,
    sends_per_hour: rules.sendsPerHour,
    sends_per_day: rules.sendsPerDay,
    approval: rules.approval,
    quiet_hours: rules.quietHours,
  }
}

/** The limits as flat fields, which the audit trail needs. */
export function auditedLimits(permissions: Permissions): AuditFields {
  const { rules, ...limits } = limitFields(permissions)
  return { ...limits, ...(rules === undefined ? {} : { rules: JSON.stringify(rules) }) }
}
