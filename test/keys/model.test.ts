// What keys may do, against an oracle: random limits and requests, decided once by the program and once by
// the tables here. `HOOKLINE_KEY_CHECKS` is the number of checks of the pure decisions.

import { expect, test } from 'bun:test'

import { type ConversationId, type LineId, type SiteId, timestamp } from '../../src/domain/ids.ts'
import {
  APPROVAL_RULES,
  NO_RULES,
  RECIPIENT_RULES,
  SCOPES,
  allowsRecipient,
  hasScope,
  mayCall,
  narrowed,
  partsAbove,
  type KeyRules,
  type PermissionPart,
  type Permissions,
  type Scope,
} from '../../src/domain/permissions.ts'
import { isNarrower, type LineLimits } from '../../src/domain/routing.ts'
import { SCALE } from '../support/scale.ts'
import { SeededRandom } from '../support/seeded-random.ts'

const CHECKS = 5_000 * SCALE

/** Lines that there are, and one that is still to come. */
const LINES = ['line_a', 'line_b', 'line_c'] as LineId[]
const ANY_LINE = [...LINES, 'line_later' as LineId]
const SITES = ['site_a', 'site_b'] as SiteId[]
/** The site of each line, or null: everything that lines that move can come to. */
const PLACES = ANY_LINE.reduce<readonly (readonly (SiteId | null)[])[]>(
  (all) => all.flatMap((places) => [null, ...SITES].map((site) => [...places, site])),
  [[]],
)
const CONVERSATIONS = ['conv_a', 'conv_b', 'conv_c'] as ConversationId[]
const ENDS = [1, 2, 3].map(timestamp)
const HANDLES = ['+12025550701', '+12025550702', '+12025550703']
/** Also one that no rule names. */
const ANYBODY = [...HANDLES, '+12025550799']
const STATES = ['stranger', 'known', 'recent'] as const
/** All that is left to a key of some conversations. */
const IN_CONVERSATIONS =
  'messages:read messages:send conversations:write attachments:read attachments:write events:read'.split(
    ' ',
  )
const WHOLE_RELAY = 'contacts:write bridges:read bridges:write audit:read'.split(' ')
const REACH: Readonly<Record<KeyRules['recipients'], readonly (typeof STATES)[number][]>> = {
  anyone: ['stranger', 'known', 'recent'],
  known: ['known', 'recent'],
  replied_within_24h: ['recent'],
  list: [],
}

// The oracle.

const may = ({ scopes, lineIds, conversationIds, rules }: Permissions, scope: Scope): boolean => {
  const given = scopes ?? SCOPES
  if (conversationIds !== null && !IN_CONVERSATIONS.includes(scope)) return false
  if (scope === 'approvals:write' && rules.approval !== 'never') return false
  const needsKnown = rules.recipients !== 'anyone' || rules.approval === 'new_contacts'
  if (/^(?:lines|bridges):write$/.test(scope) && needsKnown) return false
  return given.includes(scope) && !(lineIds !== null && WHOLE_RELAY.includes(scope))
}
const sees = ({ lineIds }: Permissions, line: string) =>
  lineIds === null || lineIds.some((id) => id === line)
const names = ({ limits }: Permissions, line: string) =>
  limits.lineIds === null || limits.lineIds.some((id) => id === line)
const isOfSite = ({ limits }: Permissions, site: string) =>
  limits.siteIds === null || limits.siteIds.some((id) => id === site)
/** Whether a limit allows a line that is in this site. */
const allows = (limit: LineLimits, line: LineId, site: SiteId | null) =>
  (limit.lineIds === null || limit.lineIds.includes(line)) &&
  (limit.siteIds === null || (site !== null && limit.siteIds.includes(site)))
/** True if there is a way to move lines so that the first sees one that the second doesn't. */
const canSeeMore = (a: LineLimits, b: LineLimits) =>
  PLACES.some((places) =>
    ANY_LINE.some((line, at) => {
      const site = places[at] ?? null
      return allows(a, line, site) && !allows(b, line, site)
    }),
  )
const talks = ({ conversationIds }: Permissions, conversation: string) =>
  conversationIds === null || conversationIds.some((id) => id === conversation)
const lasts = ({ expiresAt }: Permissions, time: number) => expiresAt === null || time < expiresAt
const reaches = (
  { recipients, allow }: KeyRules,
  handle: string,
  state: (typeof STATES)[number],
): boolean => allow.includes(handle) || REACH[recipients].includes(state)
const waits = ({ quietHours }: KeyRules, quarter: number): boolean => {
  if (quietHours === null) return false
  const [from, to] = [quietHours.from, quietHours.to].map(quarterOf)
  if (from === undefined || to === undefined) return false
  return from < to ? quarter >= from && quarter < to : quarter >= from || quarter < to
}
const quarterOf = (time: string) => Number(time.slice(0, 2)) * 4 + Number(time.slice(3)) / 15
const upTo = (limit: number | null, count: number) => limit === null || count <= limit

/** A deed that the first may do and the second may not. */
const BEYOND: Readonly<Record<PermissionPart, (a: Permissions, b: Permissions) => boolean>> = {
  scopes: (a, b) => SCOPES.some((scope) => may(a, scope) && !may(b, scope)),
  phone_line_ids: (a, b) => ANY_LINE.some((line) => names(a, line) && !names(b, line)),
  site_ids: (a, b) =>
    [...SITES, 'site_later'].some((site) => isOfSite(a, site) && !isOfSite(b, site)),
  conversation_ids: (a, b) =>
    [...CONVERSATIONS, 'conv_later'].some((id) => talks(a, id) && !talks(b, id)),
  expires_at: (a, b) => [0, b.expiresAt ?? 0].some((time) => lasts(a, time) && !lasts(b, time)),
  rules: ({ rules: a }, { rules: b }) =>
    ANYBODY.some((handle) =>
      STATES.some((state) => reaches(a, handle, state) && !reaches(b, handle, state)),
    ) ||
    [1, 2, 3, 4].some((n) => upTo(a.sendsPerHour, n) && !upTo(b.sendsPerHour, n)) ||
    [1, 2, 3, 4].some((n) => upTo(a.sendsPerDay, n) && !upTo(b.sendsPerDay, n)) ||
    APPROVAL_RULES.indexOf(a.approval) < APPROVAL_RULES.indexOf(b.approval) ||
    QUARTERS.some((quarter) => !waits(a, quarter) && waits(b, quarter)),
}
const QUARTERS = Array.from({ length: 96 }, (_, quarter) => quarter)

// Random limits, mostly few.

function chances(seed: number) {
  const source = new SeededRandom(seed)
  const some = <T>(all: readonly T[]) => all.filter(() => source.chance() < 0.5)
  const maybe = <T>(make: () => T): T | null => (source.chance() < 0.5 ? null : make())
  const below = (limit: number) => source.below(limit)
  return { below, one: <T>(all: readonly T[]): T => source.of(all), some, maybe }
}

type Chances = ReturnType<typeof chances>

function timeIn({ below }: Chances): string {
  const [hour, minute] = [below(24), below(4) * 15]
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

function limitsIn(random: Chances): Permissions {
  const { one, some, maybe } = random
  const recipients = one(RECIPIENT_RULES)
  const [from, to] = [timeIn(random), timeIn(random)]
  const rules: KeyRules = {
    recipients,
    allow: recipients === 'anyone' ? [] : some(HANDLES),
    sendsPerHour: maybe(() => one([1, 2, 3])),
    sendsPerDay: maybe(() => one([1, 2, 3])),
    approval: one(APPROVAL_RULES),
    quietHours: from === to ? null : maybe(() => ({ from, to })),
  }
  const limits: LineLimits = {
    lineIds: maybe(() => [one(LINES), ...some(LINES)]),
    siteIds: maybe(() => [one(SITES), ...some(SITES)]),
  }
  const places = one(PLACES)
  const now = ANY_LINE.filter((line, at) => allows(limits, line, places[at] ?? null))
  const isAll = limits.lineIds === null && limits.siteIds === null
  return {
    scopes: maybe(() => some(SCOPES)),
    limits,
    lineIds: isAll ? null : now,
    conversationIds: maybe(() => [one(CONVERSATIONS), ...some(CONVERSATIONS)]),
    expiresAt: maybe(() => one(ENDS)),
    rules: maybe(() => rules) ?? NO_RULES,
  }
}

test(
  `${CHECKS} decisions about keys are those of the tables`,
  () => {
    const random = chances(Number(process.env['HOOKLINE_KEY_SEED'] ?? 1))
    const { one } = random
    const wrong: unknown[] = []
    const count = { checks: 0 }
    const check = (decided: unknown, wanted: unknown, about: () => unknown) => {
      count.checks += 1
      if (!Bun.deepEquals(decided, wanted)) wrong.push([decided, wanted, about()])
    }
    while (count.checks < CHECKS) {
      const [asked, own] = [limitsIn(random), limitsIn(random)]
      const merged = one([own, { ...own, rules: asked.rules }, { ...asked, rules: own.rules }])
      const parts = Object.keys(BEYOND) as PermissionPart[] // The keys of the record.
      const above = parts.filter((part) => BEYOND[part](merged, own))
      check(partsAbove(merged, own), above, () => [merged, own])
      check(partsAbove(asked, asked), [], () => asked)
      const isMore = canSeeMore(asked.limits, own.limits)
      check(!isNarrower(asked.limits, own.limits), isMore, () => [asked.limits, own.limits])
      const [scope, line, handle, state] = [one(SCOPES), one(ANY_LINE), one(ANYBODY), one(STATES)]
      check(hasScope(asked, scope), may(asked, scope), () => [asked, scope])
      const limits = one([[], ['lines'], ['conversations'], ['lines', 'conversations']])
      const needed = one([scope, 'any'] as const)
      const isOpen = asked.conversationIds === null || limits.includes('conversations')
      const maybeCalls = isOpen && (needed === 'any' || may(asked, scope))
      check(mayCall(asked, { scope: needed, limits }), maybeCalls, () => [asked, needed, limits])
      check(narrowed(asked.lineIds, line), sees(asked, line) ? [line] : [], () => [asked, line])
      const facts = {
        handle,
        isKnown: () => state !== 'stranger',
        hasReplied: () => state === 'recent',
      }
      const isReached = reaches(asked.rules, handle, state)
      check(allowsRecipient(asked.rules, facts), isReached, () => [asked.rules, handle, state])
    }

    expect(wrong.slice(0, 3)).toEqual([])
  },
  240_000 * SCALE,
)
