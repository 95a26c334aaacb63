// The kinds of entries of the timeline: where each is stored, who may see it, and its sentence. A new kind is a row.

import { ALERTS } from '../api/operations/alerts.ts'
import { CONTACTS } from '../api/operations/contacts.ts'
import { MESSAGES } from '../api/operations/messages.ts'
import { PHONE_LINES } from '../api/operations/phone-lines.ts'
import { SERVICE } from '../api/operations/service.ts'
import { WEBHOOKS } from '../api/operations/webhooks.ts'
import type { TimelineEntry } from '../api/timeline.ts'
import { AUDIT_SENTENCES } from '../domain/audit-words.ts'
import type { ActorKind, AuditAction, ThingKind } from '../domain/audit.ts'
import { groupedNumber, type Handle } from '../domain/handle.ts'
import { parseId, timestamp } from '../domain/ids.ts'
import { countWords, durationWords, grouped, listWords } from '../domain/number-words.ts'
import type { OperationRights } from '../domain/permissions.ts'
import { includesLine, type LineLimit, type LineLimits } from '../domain/routing.ts'
import { HOUR_MS } from '../domain/time.ts'
import type { MarkDetail, MarkKind } from '../domain/timeline.ts'
import { webhookName } from '../domain/webhook-url.ts'
import { isAlertSeen } from '../storage/alerts.ts'
import { memberName } from '../storage/dashboard-access.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { nameOf } from '../storage/people.ts'
import { isOfLines, limitValue } from '../storage/statement.ts'
import { RESTORED } from '../storage/stats.ts'
import { findWebhook } from '../storage/webhooks.ts'
import { isoTime } from '../system/iso-time.ts'

/** The caller's rights, and functions that format times and reasons. */
export type Reader = {
  readonly db: Db
  /** True if the caller may call the operation. */
  readonly may: (operation: OperationRights) => boolean
  readonly lines: LineLimit
  /** The caller's limits, narrowed by the request. A webhook is shown only if its own limits are within them. */
  readonly limits: LineLimits
  /** Formats a time in the relay's time zone: "03:12". */
  readonly clock: (at: number) => string
  /** The title of a reason for being offline. */
  readonly titleOf: (reason: string) => string
}

export type Caller = Pick<Reader, 'may' | 'lines' | 'limits'>

/** The fields of an entry that aren't null, and its sentence. */
type Described = Partial<Omit<TimelineEntry, 'id' | 'at'>> & Pick<TimelineEntry, 'kind' | 'text'>

export type Row = { readonly place: number; readonly key: number }

export type Kind<R extends Row = Row> = {
  /** Table with an index over `place` and `key`. */
  readonly from: string
  /** Column of the time, in units of `unitMs`; `key` is an integer column that is unique among rows of one time. */
  readonly place: string
  readonly key: string
  readonly unitMs: number
  readonly columns: string
  readonly isShown: (row: R, reader: Reader) => boolean
  readonly describe: (row: R, reader: Reader) => Described
}

/** Ends the row's type, which only its own functions use. */
function kind<R extends object>(row: Kind<R & Row>): Kind {
  return row as unknown as Kind // Its functions only get rows of its own columns.
}

/** SQL: the start of the run before this one. */
const BEFORE =
  '(SELECT max(b.started_at) FROM relay_runs b WHERE b.started_at < relay_runs.started_at)'

/** Of entries with the same time, the first kind in this list comes first. */
export const KINDS: readonly Kind[] = [
  kind<StateRow>({
    from: 'line_states INDEXED BY line_states_by_time',
    place: 'at',
    key: 'line_seq',
    unitMs: 1,
    columns: `reason, (SELECT id FROM lines WHERE seq = line_seq) AS lineId,
      (SELECT coalesce(label, phone_number) FROM lines WHERE seq = line_seq) AS name,
      coalesce((SELECT min(n.at) FROM line_states n WHERE n.line_seq = line_states.line_seq
        AND n.at > line_states.at), (SELECT deleted_at FROM lines WHERE seq = line_seq)) AS endsAt,
      (SELECT reason FROM line_states n WHERE n.line_seq = line_states.line_seq
        AND n.at > line_states.at ORDER BY n.at LIMIT 1) AS next`,
    isShown: (row, { may, lines }) =>
      isOff(row) && may(PHONE_LINES.listPhoneLines) && includesLine(lines, row.lineId ?? ''),
    describe: describeState,
  }),
  kind<RunRow>({
    from: 'relay_runs',
    place: 'started_at',
    key: 'started_at',
    unitMs: 1,
    columns: `(SELECT max(alive_at) FROM relay_runs p WHERE p.started_at = ${BEFORE}) AS aliveAt,
      (SELECT stopped_at FROM relay_runs p WHERE p.started_at = ${BEFORE}) AS stoppedAt`,
    isShown: () => true,
    describe: describeRun,
  }),
  kind<CountRow>({
    from: 'timeline_hours',
    place: 'hour',
    key: 'line_seq',
    unitMs: HOUR_MS,
    columns: `failed, expired, uncertain, confirmed, changes, others,
      (SELECT id FROM lines WHERE seq = line_seq) AS lineId,
      (SELECT coalesce(label, phone_number) FROM lines WHERE seq = line_seq) AS name`,
    isShown: ({ lineId }, { may, lines }) =>
      lineId === null
        ? lines === null && may(SERVICE.listAudit)
        : includesLine(lines, lineId) && may(MESSAGES.listMessages),
    describe: describeCount,
  }),
  kind<MarkRow>({
    from: 'timeline INDEXED BY timeline_by_time',
    place: 'at',
    key: 'seq',
    unitMs: 1,
    columns: 'kind, line_id AS lineId, about, detail',
    isShown: (row, reader) => MARKS[row.kind].isShown(row, reader),
    describe: (row, reader) => MARKS[row.kind].describe(row, JSON.parse(row.detail), reader),
  }),
  kind<AuditRow>({
    from: 'audit INDEXED BY audit_by_age',
    place: 'at',
    key: 'seq',
    unitMs: 1,
    columns: `action, count, actor_kind AS actorKind, actor_id AS actorId, about_kind AS aboutKind,
      about_id AS aboutId`,
    // Opt-outs have their own kind of entry, because most come from messages and aren't in the audit trail.
    isShown: ({ action, aboutKind, aboutId }, { may, lines }) =>
      !action.startsWith('opt_out.') &&
      may(SERVICE.listAudit) &&
      (lines === null || (aboutKind === 'line' && includesLine(lines, aboutId ?? ''))),
    describe: describeChange,
  }),
]

type StateRow = {
  readonly reason: string | null
  readonly lineId: string | null
  readonly name: string | null
  readonly endsAt: number | null
  readonly next: string | null
}

/** A line that is starting, as at each start of the relay, isn't shown for a minute. */
const STARTING_MS = 60_000

/** True if the row is a period in which its line was off. */
function isOff({ place, reason, endsAt }: StateRow & Row): boolean {
  if (reason === null || reason === RESTORED) return false
  return reason !== 'starting' || endsAt === null || endsAt - place >= STARTING_MS
}

function describeState(row: StateRow & Row, { titleOf, clock }: Reader): Described {
  const { place, reason, lineId, endsAt, next } = row
  const name = groupedNumber(row.name ?? 'A line')
  const why = `: ${titleOf(reason ?? '')}.`
  const fields = { kind: 'line.off', phone_line_id: lineId, reason } as const
  if (endsAt === null) return { ...fields, text: `${name} went off and is still off${why}` }
  const until = isoTime(timestamp(endsAt))
  if (next === RESTORED) {
    const then = `What came after ${clock(endsAt)} isn't known, because a backup was restored.`
    return { ...fields, until, text: `${name} went off${why} ${then}` }
  }
  return { ...fields, until, text: `${name} was off for ${durationWords(endsAt - place)}${why}` }
}

type RunRow = { readonly aliveAt: number | null; readonly stoppedAt: number | null }

function describeRun({ place, aliveAt, stoppedAt }: RunRow & Row, { db }: Reader): Described {
  const kind = 'relay.started'
  const gapMs = place - (aliveAt ?? place)
  const restored = `SELECT 1 FROM timeline INDEXED BY timeline_by_time
     WHERE at >= $aliveAt AND at <= $place AND kind = 'restored' LIMIT 1`
  // After a restore the time before is unknown, and a clock that was set back leaves overlapping runs.
  if (gapMs <= 0 || db.row(restored, { aliveAt, place }) !== null)
    return { kind, text: 'Hookline started.' }
  const gap = durationWords(gapMs)
  if (stoppedAt !== null) return { kind, text: `Hookline started, ${gap} after it was stopped.` }
  const why = 'it crashed, or its machine slept, lost power or set its clock'
  return { kind, text: `Hookline started, about ${gap} after it was interrupted: ${why}.` }
}

type CountRow = Readonly<
  Record<'failed' | 'expired' | 'uncertain' | 'confirmed' | 'changes' | 'others', number>
> & { readonly lineId: string | null; readonly name: string | null }

function describeCount(row: CountRow & Row, { clock }: Reader): Described {
  const { place, failed, expired, uncertain, confirmed, lineId } = row
  const end = place + HOUR_MS
  const until = isoTime(timestamp(end))
  const within = `Between ${clock(place)} and ${clock(end)}`
  if (lineId === null) {
    const count = countWords(row.changes + row.others, 'older entry')
    return { kind: 'entries.deleted', until, text: `${within}: ${count}, not listed anymore.` }
  }
  const facts = [
    [failed, 'failed'],
    [expired, 'expired'],
    [uncertain, 'became uncertain'],
    [confirmed, 'turned out to be sent after all'],
  ] as const
  const words = facts.flatMap(([count, what]) => (count === 0 ? [] : [`${grouped(count)} ${what}`]))
  return {
    kind: 'messages.unsent',
    until,
    text: `${within}, messages of ${groupedNumber(row.name ?? 'a line')}: ${listWords(words)}.`,
    phone_line_id: lineId,
    counts: { failed, expired, uncertain, confirmed },
  }
}

type MarkRow = {
  readonly kind: MarkKind
  readonly lineId: string | null
  readonly about: string | null
  readonly detail: string
}

type MarkWords = {
  readonly isShown: (row: MarkRow & Row, reader: Reader) => boolean
  readonly describe: (row: MarkRow & Row, detail: MarkDetail, reader: Reader) => Described
}

const OF_WEBHOOK = ({ about }: MarkRow, { db, may, lines, limits }: Reader): boolean =>
  may(WEBHOOKS.listWebhooks) &&
  (lines === null ||
    isSeenBy(db, { lineIds: lines, limits, conversationIds: null, caller: 'owner' }, about ?? ''))

function webhookMark(words: (detail: MarkDetail, place: number) => string): MarkWords {
  return {
    isShown: OF_WEBHOOK,
    describe: ({ kind, about, place }, detail) => ({
      kind,
      text: `Webhook ${detail.name ?? ''} ${words(detail, place)}.`,
      webhook_id: about,
      reason: detail.reason ?? null,
    }),
  }
}

function optOutMark(words: string): MarkWords {
  return {
    isShown: ({ lineId, about }, { db, may, lines }) =>
      may(CONTACTS.listOptOuts) &&
      (lines === null || includesLine(lines, lineId ?? '') || hasWritten(db, about, lines)),
    describe: ({ kind, lineId, about }, { source = '' }, { db }) => {
      const handle = (about ?? '') as Handle // As `mark` stored it.
      const how = HANDS[source] ?? `by the word ${source}`
      const name = nameOf(db, handle) ?? groupedNumber(handle)
      return { kind, text: `${name} ${words}, ${how}.`, phone_line_id: lineId, handle }
    },
  }
}

const HANDS: Readonly<Record<string, string>> = {
  api: 'by a program',
  cli: 'on the command line',
  dashboard: 'in the dashboard',
}

const HAS_WRITTEN = `SELECT 1 FROM conversations c
   WHERE c.handle = $about AND c.last_seq > 0 AND ${isOfLines('c.line_id')} LIMIT 1`

function hasWritten(db: Db, about: string | null, lines: LineLimit): boolean {
  return db.row(HAS_WRITTEN, { about, lineIds: limitValue(lines) }) !== null
}

function alertMark(words: (detail: MarkDetail, place: number) => string): MarkWords {
  return {
    isShown: ({ about }, reader) =>
      reader.may(ALERTS.listAlerts) && isAlertSeen(reader.db, reader, about ?? ''),
    describe: ({ kind, lineId, place }, detail) => ({
      kind,
      text: `${words(detail, place)}: ${detail.name ?? ''}.`,
      phone_line_id: lineId,
    }),
  }
}

function relayMark(text: string): MarkWords {
  return {
    isShown: (_row, { lines, may }) => lines === null && may(SERVICE.listAudit),
    describe: ({ kind }) => ({ kind, text }),
  }
}

const MARKS: Readonly<Record<MarkKind, MarkWords>> = {
  'webhook.failing': webhookMark(() => 'began to fail'),
  'webhook.working': webhookMark(({ since, waiting = 0 }, place) => {
    const after = since === undefined || since >= place ? '' : durationAfter(place - since)
    return `works again${after}; ${countWords(waiting, 'delivery')} waited`
  }),
  'webhook.turned_off': webhookMark(
    ({ reason = '' }) => `was turned off: ${OFF_WORDS[reason] ?? reason.replaceAll('_', ' ')}`,
  ),
  opt_out: optOutMark('opted out'),
  opt_in: optOutMark('opted in again'),
  'backup.made': relayMark('The daily backup was made.'),
  'backup.failed': relayMark('The daily backup failed.'),
  'alert.raised': alertMark(() => 'An alert was raised'),
  'alert.resolved': alertMark(({ since = 0 }, place) => `Over${durationAfter(place - since)}`),
  restored: {
    isShown: () => true,
    describe: ({ kind, place }, { since = place }, { clock }) => ({
      kind,
      text: `A backup was restored. What happened after ${clock(since)} isn't known.`,
    }),
  },
}

const durationAfter = (ms: number) => ` after ${durationWords(ms)}`

const OFF_WORDS: Readonly<Record<string, string>> = {
  gone: 'its receiver returned 410 Gone twice',
  failing: 'every delivery failed for five days',
  secret_unreadable: 'its signing secret cannot be read',
}

type AuditRow = {
  readonly action: AuditAction
  readonly count: number
  readonly actorKind: ActorKind
  readonly actorId: string | null
  readonly aboutKind: ThingKind
  readonly aboutId: string | null
}

function describeChange(row: AuditRow & Row, { db }: Reader): Described {
  const { action, count, actorKind, actorId, aboutKind, aboutId } = row
  const named = AUDIT_SENTENCES[action]?.(thingName(db, aboutKind, aboutId) ?? '') ?? action
  const what = named.replaceAll(/ +/g, ' ').trim() + (count === 1 ? '' : ` ${grouped(count)} times`)
  const idOf = (kind: ThingKind) => (aboutKind === kind ? aboutId : null)
  return {
    kind: 'change',
    text: `${what}, ${actorWords(db, actorKind, actorId)}.`,
    action,
    phone_line_id: idOf('line'),
    webhook_id: idOf('webhook'),
    message_id: idOf('message'),
  }
}

function actorWords(db: Db, kind: ActorKind, id: string | null): string {
  if (kind === 'key') return `by the key ${thingName(db, 'key', id) ?? 'of a program'}`
  if (kind === 'member') return `by ${memberName(db, id ?? '') ?? 'a person who answers'}`
  if (kind === 'relay') return 'by Hookline itself'
  return kind === 'cli' ? 'on the command line' : 'by the owner in the dashboard'
}

const NAMED: Partial<Readonly<Record<ThingKind, string>>> = {
  key: 'SELECT name FROM credentials WHERE id = $id',
  bridge: 'SELECT coalesce(name, phone_number) AS name FROM credentials WHERE id = $id',
  line: 'SELECT coalesce(label, phone_number) AS name FROM lines WHERE id = $id',
  box: 'SELECT name FROM boxes WHERE id = $id',
}

/** The name of a thing; null if it no longer has one. Settings and backups are named by their id. */
function thingName(db: Db, kind: ThingKind, id: string | null): string | null {
  if (kind === 'setting' || kind === 'backup') return id
  if (kind === 'webhook') {
    const known = parseId('wh', id ?? '')
    const webhook = known && findWebhook(db, known)
    return webhook && webhookName(webhook)
  }
  const sql = NAMED[kind]
  return sql === undefined ? null : (db.row<{ name: string | null }>(sql, { id })?.name ?? null)
}
