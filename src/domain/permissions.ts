// What an API key may do: its scopes, phone lines, conversations, expiry, and the rules for its sends. No key can give
// another key more than it has.

import { RelayError } from './errors.ts'
import type { ConversationId, KeyId, LineId, MemberId, Timestamp } from './ids.ts'
import type { QuietHours } from './quiet-hours.ts'
import { ALL_LINES, isSubset, type LineLimit, type LineLimits } from './routing.ts'

export const SCOPES = [
  'messages:read',
  'messages:send',
  'conversations:write',
  'attachments:read',
  'attachments:write',
  'contacts:read',
  'contacts:write',
  'lines:read',
  'lines:write',
  'webhooks:read',
  'webhooks:write',
  'webhooks:private',
  'events:read',
  'approvals:write',
  'keys:read',
  'keys:write',
  'bridges:read',
  'bridges:write',
  'health:read',
  'audit:read',
] as const
export type Scope = (typeof SCOPES)[number]

/** Shorthands in requests; answers list the scopes themselves. */
export const SCOPE_GROUPS = {
  read: [
    'messages:read',
    'attachments:read',
    'contacts:read',
    'lines:read',
    'events:read',
    'health:read',
  ],
  send: ['messages:send', 'attachments:write'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>
export type ScopeGroup = keyof typeof SCOPE_GROUPS

/** Scopes over the relay as a whole: a key limited to lines never has them. */
const OF_WHOLE_RELAY: readonly Scope[] = [
  'contacts:write',
  'bridges:read',
  'bridges:write',
  'audit:read',
]

/** The only scopes of a key that is limited to conversations. */
const OF_CONVERSATIONS: readonly Scope[] = [
  'messages:read',
  'messages:send',
  'conversations:write',
  'attachments:read',
  'attachments:write',
  'events:read',
]

/** True if a key that is limited to conversations may have the scope. */
export function isOfConversations(scope: Scope): boolean {
  return OF_CONVERSATIONS.includes(scope)
}

/** Scopes by which a key could forge a received message, and so make a recipient known. */
const FORGING: readonly Scope[] = ['lines:write', 'bridges:write']

/** From the widest to the narrowest. */
export const RECIPIENT_RULES = ['anyone', 'known', 'replied_within_24h', 'list'] as const
export const APPROVAL_RULES = ['never', 'new_contacts', 'always'] as const

export type KeyRules = {
  readonly recipients: (typeof RECIPIENT_RULES)[number]
  /** Handles allowed in addition to `recipients`. */
  readonly allow: readonly string[]
  readonly sendsPerHour: number | null
  readonly sendsPerDay: number | null
  readonly approval: (typeof APPROVAL_RULES)[number]
  readonly quietHours: QuietHours | null
}

/** The conversations that a key is limited to; null if there is no limit. */
export type ConversationLimit = readonly ConversationId[] | null

export type Permissions = {
  /** Null means all. */
  readonly scopes: readonly Scope[] | null
  /** The lines that the key may use now, after `limits`. */
  readonly lineIds: LineLimit
  /** The lines and sites that the key is limited to, as its maker named them. */
  readonly limits: LineLimits
  readonly conversationIds: ConversationLimit
  readonly expiresAt: Timestamp | null
  readonly rules: KeyRules
}

export const NO_RULES: KeyRules = {
  recipients: 'anyone',
  allow: [],
  sendsPerHour: null,
  sendsPerDay: null,
  approval: 'never',
  quietHours: null,
}

export const EVERYTHING: Permissions = {
  scopes: null,
  lineIds: null,
  limits: ALL_LINES,
  conversationIds: null,
  expiresAt: null,
  rules: NO_RULES,
}

export type KeyCaller = {
  readonly kind: 'key'
  readonly keyId: KeyId
  /** The first of the keys that this one replaces; its own id if it replaces none. Stored answers belong to it. */
  readonly lineage: KeyId
  /** The compatible API that the key was made for, and works in alone; null for the relay's own API. */
  readonly madeFor: string | null
  readonly permissions: Permissions
}

type Limits = Pick<Permissions, 'lineIds' | 'limits' | 'conversationIds' | 'rules'>

export type Caller =
  | KeyCaller
  /** The owner. A process of the owner may limit itself. */
  | { readonly kind: 'cli'; readonly permissions?: Permissions | undefined }
  /** A browser: the owner, or a member, whom the owner may have limited to sites. */
  | { readonly kind: 'dashboard'; readonly permissions?: Permissions | undefined }

/**
 * The caller as it is stored: the lineage of an API key, a member of the dashboard, or the owner (in the dashboard or
 * on the command line).
 */
export type CallerId = KeyId | MemberId | 'owner'

export function callerId(key: KeyCaller | null, memberId: MemberId | null | undefined): CallerId {
  return key?.lineage ?? memberId ?? 'owner'
}

/** The permissions of the caller: everything for an owner who has not limited the call. */
export function permissionsOf(caller: Caller): Permissions {
  return caller.permissions ?? EVERYTHING
}

/** The caller, limited to one conversation in addition to its other limits. */
export function limitedTo<C extends Caller>(caller: C, conversationId: string): C {
  const own = permissionsOf(caller)
  const id = conversationId as ConversationId // Only compared with stored ids.
  const isOwn = own.conversationIds?.includes(id) ?? true
  return { ...caller, permissions: { ...own, conversationIds: isOwn ? [id] : [] } }
}

/** True if the key has the scope, and none of its rules excludes it. */
export function hasScope(permissions: Permissions, scope: Scope): boolean {
  const { scopes } = permissions
  if (ruleAgainst(permissions, scope) !== null) return false
  return scopes === null || scopes.includes(scope)
}

/** Throws `forbidden` without the scope. */
export function requirePermission(permissions: Permissions, scope: Scope): void {
  if (hasScope(permissions, scope)) return
  throw new RelayError('forbidden', `This key does not have the scope ${scope}.`, {
    details: { required_scope: scope },
  })
}

/**
 * The rule of a key that a scope would let it get around, or null. A key never has such a scope, so its rules
 * hold.
 */
export function ruleAgainst(
  { lineIds, limits, conversationIds, rules }: Limits,
  scope: Scope,
): string | null {
  if (conversationIds !== null && !isOfConversations(scope)) return 'conversation_ids'
  if (lineIds !== null && OF_WHOLE_RELAY.includes(scope)) {
    return limits.lineIds === null ? 'site_ids' : 'phone_line_ids'
  }
  if (rules.approval !== 'never' && scope === 'approvals:write') return 'rules.approval'
  if (!FORGING.includes(scope)) return null
  if (rules.recipients !== 'anyone') return 'rules.recipients'
  return rules.approval === 'new_contacts' ? 'rules.approval' : null
}

/**
 * True if a key's sends have rules. Such a key may act only on its own messages, because others' may break the rules,
 * and may not end a person's takeover.
 */
export function hasRules({
  conversationIds,
  rules,
}: Pick<Permissions, 'conversationIds' | 'rules'>): boolean {
  if (conversationIds !== null) return true
  return JSON.stringify({ ...NO_RULES, ...rules }) !== JSON.stringify(NO_RULES)
}

/** The rights that an operation asks of a key; see its row in `api/operations`. */
export type OperationRights = { readonly scope: Scope | 'any'; readonly limits: readonly string[] }

/** True if the key may call the operation at all. Limits then decide for which things. */
export function mayCall(permissions: Permissions, { scope, limits }: OperationRights): boolean {
  if (permissions.conversationIds !== null && !limits.includes('conversations')) return false
  return scope === 'any' || hasScope(permissions, scope)
}

/** Throws `forbidden` if the key may not call the operation. */
export function requireCall(permissions: Permissions, asked: OperationRights): void {
  if (asked.scope !== 'any') requirePermission(permissions, asked.scope)
  if (!mayCall(permissions, asked)) throw beyondConversations()
}

export function beyondConversations(): RelayError {
  return new RelayError('forbidden', 'This key is limited to its conversations.', {
    details: { limit: 'conversation_ids' },
  })
}

export function scopesOf(permissions: Permissions): readonly Scope[] {
  return SCOPES.filter((scope) => hasScope(permissions, scope))
}

/** The scopes of a request, with shorthands expanded, in the order of `SCOPES`. */
export function expandScopes(asked: readonly (Scope | ScopeGroup)[]): readonly Scope[] {
  const groups: Readonly<Record<string, readonly Scope[]>> = SCOPE_GROUPS
  const named = new Set(asked.flatMap((one): readonly string[] => groups[one] ?? [one]))
  return SCOPES.filter((scope) => named.has(scope))
}

/** Replaces scopes with shorthands. */
export function collapsedScopes(scopes: readonly Scope[]): readonly (Scope | ScopeGroup)[] {
  const names = Object.keys(SCOPE_GROUPS) as ScopeGroup[] // The keys of the record.
  const groups = names.filter((name) => SCOPE_GROUPS[name].every((one) => scopes.includes(one)))
  const named = new Set<Scope>(groups.flatMap((name) => SCOPE_GROUPS[name]))
  return [...groups, ...scopes.filter((scope) => !named.has(scope))]
}

const LIMIT_FIELDS = [
  'for',
  'phone_line_ids',
  'site_ids',
  'conversation_ids',
  'expires_at',
  'rules',
] as const
type LimitField = (typeof LIMIT_FIELDS)[number]

/**
 * The fields of a request for another key with the limits of a listed one. Shorthands stand for the scopes, because a
 * request must not name a scope that the other limits exclude.
 */
export function limitsLike<K extends { readonly scopes?: readonly Scope[] }>({
  scopes,
  ...key
}: K): Pick<K, LimitField & keyof K> & { readonly scopes?: readonly (Scope | ScopeGroup)[] } {
  const fields = Object.entries(key).filter(([name]) => LIMIT_FIELDS.some((one) => one === name))
  const limits = Object.fromEntries(fields) as Pick<K, LimitField & keyof K> // Filtered by the names of its fields.
  return scopes === undefined ? limits : { ...limits, scopes: collapsedScopes(scopes) }
}

/** Narrows a limit to the line or site that a request names, if any. */
export function narrowed<T extends string = LineId>(
  limit: readonly T[] | null,
  asked: string | undefined,
): readonly T[] | null {
  if (asked === undefined) return limit
  return isSubset([asked], limit) ? [asked as T] : [] // Only compared with stored ids.
}

/** A part of permissions, named as in the API. */
export type PermissionPart =
  | 'scopes'
  | 'phone_line_ids'
  | 'site_ids'
  | 'conversation_ids'
  | 'expires_at'
  | 'rules'

/** The parts in which `asked` exceeds `own`. */
export function partsAbove(asked: Permissions, own: Permissions): readonly PermissionPart[] {
  const within: Readonly<Record<PermissionPart, boolean>> = {
    scopes: scopesOf(asked).every((scope) => hasScope(own, scope)),
    // Compares the named lines, not those usable now: lines move, and a key must never see more than its maker.
    phone_line_ids: isSubset(asked.limits.lineIds, own.limits.lineIds),
    site_ids: isSubset(asked.limits.siteIds, own.limits.siteIds),
    conversation_ids: isSubset(asked.conversationIds, own.conversationIds),
    expires_at: isAtMost(asked.expiresAt, own.expiresAt),
    rules: isAsStrict(asked.rules, own.rules),
  }
  const parts = Object.keys(within) as PermissionPart[] // The keys of the record.
  return parts.filter((part) => !within[part])
}

export function isWithin(asked: Permissions, own: Permissions): boolean {
  return partsAbove(asked, own).length === 0
}

function isAtMost(asked: number | null, own: number | null): boolean {
  return own === null || (asked !== null && asked <= own)
}

function isAsStrict(asked: KeyRules, own: KeyRules): boolean {
  const recipients = (rules: KeyRules) => RECIPIENT_RULES.indexOf(rules.recipients)
  const approval = (rules: KeyRules) => APPROVAL_RULES.indexOf(rules.approval)
  return (
    recipients(asked) >= recipients(own) &&
    (own.recipients === 'anyone' || asked.allow.every((handle) => own.allow.includes(handle))) &&
    isAtMost(asked.sendsPerHour, own.sendsPerHour) &&
    isAtMost(asked.sendsPerDay, own.sendsPerDay) &&
    approval(asked) >= approval(own) &&
    (own.quietHours === null || covers(asked.quietHours, own.quietHours))
  )
}

const DAY_MINUTES = 1_440

function covers(outer: QuietHours | null, inner: QuietHours): boolean {
  if (outer === null) return false
  const from = minutesBetween(outer.from, inner.from)
  return from + minutesBetween(inner.from, inner.to) <= minutesBetween(outer.from, outer.to)
}

function minutesBetween(from: string, to: string): number {
  return (minuteOf(to) - minuteOf(from) + DAY_MINUTES) % DAY_MINUTES
}

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

/** Facts about a recipient, by the lines that the key may use. */
export type RecipientFacts = {
  readonly handle: string
  readonly isKnown: () => boolean
  readonly hasReplied: () => boolean
}

export function allowsRecipient(rules: KeyRules, person: RecipientFacts): boolean {
  const { recipients, allow } = rules
  if (recipients === 'anyone' || allow.includes(person.handle)) return true
  if (recipients === 'known') return person.isKnown()
  return recipients === 'replied_within_24h' && person.hasReplied()
}
