// What keys may do, against an oracle: random limits and requests, decided once by the program and once by
// the tables here. `HOOKLINE_KEY_CHECKS` is the number of checks of the pure decisions.

import { expect, test } from 'bun:test'

import type { LineId } from '../../src/domain/ids.ts'
import { timestamp } from '../../src/domain/ids.ts'
import {
  APPROVAL_RULES,
  NO_RULES,
  RECIPIENT_RULES,
  SCOPES,
  allowsRecipient,
  hasScope,
  narrowed,
  partsAbove,
  type KeyRules,
  type PermissionPart,
  type Permissions,
  type Scope,
} from '../../src/domain/permissions.ts'
import { ANNA, BOB, errorOf, idsIn, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { seededRandom, type Json } from '../support/test-relay.ts'

const CHECKS = Number(process.env['HOOKLINE_KEY_CHECKS'] ?? 20_000)

/** Lines that there are, and one that is still to come. */
const LINES = ['line_a', 'line_b', 'line_c'] as LineId[]
const ANY_LINE = [...LINES, 'line_later' as LineId]
const ENDS = [1, 2, 3].map(timestamp)
const HANDLES = [ANNA, BOB, '+12025550703']
/** Also one that no rule names. */
const ANYBODY = [...HANDLES, '+12025550799']
const STATES = ['stranger', 'known', 'recent'] as const
const WHOLE_RELAY = 'contacts:write bridges:read bridges:write audit:read'.split(' ')
const REACH: Readonly<Record<KeyRules['recipients'], readonly (typeof STATES)[number][]>> = {
  anyone: ['stranger', 'known', 'recent'],
  known: ['known', 'recent'],
  replied_within_24h: ['recent'],
  list: [],
}

// The oracle.

const may = ({ scopes, lineIds, rules }: Permissions, scope: Scope): boolean => {
  const given = scopes ?? SCOPES
  if (scope === 'approvals:write' && rules.approval !== 'never') return false
  if (/^(?:lines|bridges):write$/.test(scope) && rules.recipients !== 'anyone') return false
  return given.includes(scope) && !(lineIds !== null && WHOLE_RELAY.includes(scope))
}
const sees = ({ lineIds }: Permissions, line: string) =>
  lineIds === null || lineIds.some((id) => id === line)
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
  phone_line_ids: (a, b) => ANY_LINE.some((line) => sees(a, line) && !sees(b, line)),
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
  const source = seededRandom(seed)
  const chance = () => source.chance()
  const below = (count: number) => Math.floor(chance() * count)
  const one = <T>(all: readonly T[]): T => all[below(all.length)] as T // Within its bounds.
  const some = <T>(all: readonly T[]) => all.filter(() => chance() < 0.5)
  const maybe = <T>(make: () => T): T | null => (chance() < 0.5 ? null : make())
  return { below, one, some, maybe }
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
  return {
    scopes: maybe(() => some(SCOPES)),
    lineIds: maybe(() => [one(LINES), ...some(LINES)]),
    expiresAt: maybe(() => one(ENDS)),
    rules: maybe(() => rules) ?? NO_RULES,
  }
}

test(`${CHECKS} decisions about keys are those of the tables`, () => {
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
    const [scope, line, handle, state] = [one(SCOPES), one(ANY_LINE), one(ANYBODY), one(STATES)]
    check(hasScope(asked, scope), may(asked, scope), () => [asked, scope])
    check(narrowed(asked.lineIds, line), sees(asked, line) ? [line] : [], () => [asked, line])
    const facts = {
      handles: [handle],
      isKnown: () => state !== 'stranger',
      hasReplied: () => state === 'recent',
    }
    const isReached = reaches(asked.rules, handle, state)
    check(allowsRecipient(asked.rules, facts), isReached, () => [asked.rules, handle, state])
  }

  expect(wrong.slice(0, 3)).toEqual([])
}, 240_000)

// The same through the real relay: what each key sees and may send, asked of the API, beside what its owner
// sees of the lines that the key has.

const MINUTE_MS = 60_000
const PEOPLE = [ANNA, BOB, '+12025550703', '+12025550704']
const READS = [
  ['/messages?limit=200', 'messages:read', ({ phone_line_id }: Json) => phone_line_id],
  [
    '/messages?limit=200&updated_since=2026-01-01T00:00:00Z',
    'messages:read',
    ({ phone_line_id }: Json) => phone_line_id,
  ],
  ['/conversations?limit=200', 'messages:read', ({ phone_line_id }: Json) => phone_line_id],
  ['/phone-lines', 'lines:read', ({ id }: Json) => id],
  ['/events?limit=200', 'events:read', ({ payload }: Json) => payload.phone_line_id],
] as const

type Held = {
  readonly permissions: Permissions
  readonly call: Awaited<ReturnType<typeof makeKey>>['call']
  /** The key that made it. */
  readonly maker: Held | null
  readonly sentAt: number[]
}

/** The first refusal that holds. */
const statusOf = (good: number, refusals: readonly (readonly [number, boolean])[]): number =>
  refusals.find(([, isIt]) => isIt)?.[0] ?? good

/** The key and those that it comes from. */
const familyOf = (key: Held): readonly Held[] =>
  key.maker === null ? [key] : [key, ...familyOf(key.maker)]

/** The limits as a request names them; a part that is left out is as its maker has it. */
function bodyOf({ scopes, lineIds, expiresAt, rules }: Permissions) {
  const { recipients, allow, approval } = rules
  const counts = { sends_per_hour: rules.sendsPerHour, sends_per_day: rules.sendsPerDay }
  return {
    ...(scopes !== null && scopes.length > 0 && { scopes }),
    ...(lineIds !== null && { phone_line_ids: lineIds }),
    ...(expiresAt !== null && { expires_at: new Date(expiresAt).toISOString() }),
    ...(rules !== NO_RULES && { rules: { recipients, allow, approval, ...counts } }),
  }
}

/** Permissions of a key that the maker gives, as the request leaves them. */
function given(asked: Permissions, own: Permissions): Permissions {
  const { rules } = asked
  return {
    scopes: asked.scopes === null || asked.scopes.length === 0 ? own.scopes : asked.scopes,
    lineIds: asked.lineIds ?? own.lineIds,
    expiresAt: asked.expiresAt ?? own.expiresAt,
    rules:
      rules === NO_RULES
        ? own.rules
        : {
            ...rules,
            sendsPerHour: rules.sendsPerHour ?? own.rules.sendsPerHour,
            sendsPerDay: rules.sendsPerDay ?? own.rules.sendsPerDay,
            quietHours: own.rules.quietHours,
          },
  }
}

test('hundreds of calls by random keys are answered as the tables say', async () => {
  await using relay = await openShop()
  const lines = (await idsOf(relay)) as LineId[]
  const random = chances(Number(process.env['HOOKLINE_KEY_SEED'] ?? 2))
  const { below, one, some, maybe } = random
  const inbound = async (device: number, handle: string, hoursAgo: number) => {
    const at = (relay.clock.now() - hoursAgo * 60 * MINUTE_MS) as never
    const guid = `in-${device}-${handle}`
    await relay.devices[device]?.receive({ guid, handle: handle as never, at })
  }
  await inbound(0, ANNA, 0)
  await inbound(1, BOB, 30)
  await inbound(2, PEOPLE[2] ?? '', 0)
  /** Lines that have written with a person; a recent reply is one of the last 24 hours. */
  const known = new Map(
    PEOPLE.map((handle, place) => [handle, new Set(place < 3 ? [lines[place]] : [])]),
  )
  const recent = new Map<string, LineId | undefined>([
    [ANNA, lines[0]],
    [PEOPLE[2] ?? '', lines[2]],
  ])
  const stateFor = ({ lineIds }: Permissions, handle: string) => {
    const own = (line: LineId | undefined) =>
      line !== undefined && (lineIds ?? lines).includes(line)
    if (own(recent.get(handle))) return 'recent'
    return [...(known.get(handle) ?? [])].some(own) ? 'known' : 'stranger'
  }
  const isExpired = ({ permissions }: Held) => !lasts(permissions, relay.clock.now())
  const isFull = ({ permissions: { rules }, sentAt }: Held) => {
    const since = (ms: number) => sentAt.filter((at) => at > relay.clock.now() - ms).length
    const [hour, day] = [since(60 * MINUTE_MS), since(24 * 60 * MINUTE_MS)]
    return !upTo(rules.sendsPerHour, hour + 1) || !upTo(rules.sendsPerDay, day + 1)
  }
  const everything: Permissions = { scopes: null, lineIds: null, expiresAt: null, rules: NO_RULES }
  const keys: Held[] = []
  const seen = new Map<string, number>()
  const expectAnswer = (
    what: string,
    { status, body }: { status: number; body: Json },
    wanted: number,
  ) => {
    seen.set(`${what} ${wanted}`, (seen.get(`${what} ${wanted}`) ?? 0) + 1)
    expect([what, ...errorOf({ status, body }).slice(0, 1)]).toEqual([what, wanted])
  }

  const make = async () => {
    const maker = keys.length > 3 ? maybe(() => one(keys)) : null
    const own = maker?.permissions ?? everything
    const expiresAt = maybe(() => timestamp(relay.clock.now() + (1 + below(9)) * 30 * MINUTE_MS))
    const asked = {
      ...limitsIn(random),
      lineIds: maybe(() => [one(lines), ...some(lines)]),
      expiresAt,
    }
    const permissions = given(asked, own)
    const child = maker === null ? undefined : { headers: headersOf.get(maker) ?? {} }
    const made = await makeKey(relay, bodyOf(asked), child)
    const isForeign = asked.lineIds?.some((id) => !sees(own, id)) ?? false
    const isOdd = permissions.rules.recipients === 'anyone' && permissions.rules.allow.length > 0
    const wanted = statusOf(201, [
      [401, maker !== null && isExpired(maker)],
      [403, !may(own, 'keys:write')],
      [400, isForeign || isOdd],
      [403, Object.values(BEYOND).some((beyond) => beyond(permissions, own))],
    ])
    expectAnswer('POST /keys', { status: made.status, body: made.made }, wanted)
    if (made.status !== 201) return
    const held: Held = { permissions, call: made.call, maker, sentAt: [] }
    headersOf.set(held, made.headers)
    keys.push(held)
  }
  const headersOf = new Map<Held, object>()

  const read = async (key: Held) => {
    const [path, scope, lineOf] = one(READS)
    const answer = await key.call('GET', path)
    const wanted = statusOf(200, [
      [401, isExpired(key)],
      [403, !may(key.permissions, scope)],
    ])
    expectAnswer(`GET ${path}`, answer, wanted)
    if (wanted !== 200) return
    const all = await relay.get(`/api/v1${path}`)
    const own = { data: all.data.filter((each: Json) => sees(key.permissions, lineOf(each))) }
    expect(idsIn(answer.body)).toEqual(idsIn(own))
    const [thing] = all.data.toSorted(() => below(3) - 1)
    if (!/^\/(?:messages|conversations)/.test(path) || thing === undefined) return
    const single = await key.call('GET', `${path.slice(0, path.indexOf('?'))}/${thing.id}`)
    expectAnswer('GET one', single, sees(key.permissions, lineOf(thing)) ? 200 : 404)
  }

  const send = async (key: Held) => {
    const [to, line] = [one(PEOPLE), maybe(() => one(lines))]
    const { permissions } = key
    const more = line === null ? {} : { phone_line_id: line }
    const answer = await key.call('POST', '/messages/send', { to, text: `${below(1e9)}`, ...more })
    const isReached = reaches(permissions.rules, to, stateFor(permissions, to))
    // A message may wait for approval.
    const isHeld = permissions.rules.approval !== 'never' && answer.status === 202
    const wanted = statusOf(isHeld ? 202 : 200, [
      [401, isExpired(key)],
      [403, !may(permissions, 'messages:send')],
      [403, !isReached],
      [429, familyOf(key).some(isFull)],
      [404, line !== null && !sees(permissions, line)],
    ])
    expectAnswer('send', answer, wanted)
    if (wanted > 202) return
    expect(sees(permissions, answer.body.phone_line_id)).toBe(true)
    if (!isHeld) known.get(to)?.add(answer.body.phone_line_id)
    for (const each of familyOf(key)) each.sentAt.push(relay.clock.now())
  }

  for (let step = 0; step < 450; step += 1) {
    if (step < 6 || below(6) === 0) await make()
    const key = one(keys)
    await (below(2) === 0 ? read(key) : send(key))
    if (below(4) === 0) await relay.clock.advance(2 * MINUTE_MS)
  }

  // Every outcome came about.
  const outcomes = [
    'POST /keys 201',
    'POST /keys 403',
    'POST /keys 400',
    'send 200',
    'send 403',
    'send 429',
    'send 404',
    'send 401',
    'GET one 404',
  ]
  expect(outcomes.filter((outcome) => !seen.has(outcome))).toEqual([])
}, 180_000)
