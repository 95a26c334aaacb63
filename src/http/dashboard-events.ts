// Changes as server-sent events for the page. Each event has a position, from which a page that lost its
// connection resumes.

import type { DashboardSessions } from '../access/sessions.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import type { MemberId } from '../domain/ids.ts'
import type { Permissions } from '../domain/permissions.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { findPerson } from '../storage/people.ts'
import type { Change, ChangeFeed, PublishedChange } from '../system/change-feed.ts'
import type { Clock } from '../system/clock.ts'
import { Signal } from '../system/signal.ts'
import { bind } from './bind.ts'
import { CallerSlots } from './caller-slots.ts'
import { HEARTBEAT_MS, STREAM_HEADERS } from './events.ts'
import { contextOf, sessionOf } from './request-context.ts'
import { respondTo, streamOf } from './respond.ts'

const OPEN_PAGES = { limit: 'event_readers', noun: 'pages', doing: 'are open' }
/** The most pages that may be open at the same time. Pages of members don't count against the owner's. */
const PAGES_OF_OWNER = { ofAll: 100, ofOne: 100, retryAfterSeconds: 10, of: OPEN_PAGES }
const PAGES_OF_MEMBERS = { ofAll: 100, ofOne: 10, retryAfterSeconds: 10, of: OPEN_PAGES }

const STILL_HERE = ': still here\n\n'

export function dashboardEventBindings(
  { db, changes, clock }: Core,
  given: {
    readonly sessions: Pick<DashboardSessions, 'isOpen' | 'endOf'>
    readonly members: { permissionsOf(id: MemberId): Permissions }
  },
  streamsEnd: AbortSignal,
) {
  const { sessions, members } = given
  const ownersSlots = new CallerSlots(PAGES_OF_OWNER)
  const membersSlots = new CallerSlots(PAGES_OF_MEMBERS)
  return [
    bind(DASHBOARD.watchChanges, ({ request, query: { after } }) => {
      const { peer } = contextOf(request)
      const session = sessionOf(request)
      const sessionEnd = sessions.endOf(session)
      const isOpen = () => sessions.isOpen(session)
      const signal = AbortSignal.any([request.signal, streamsEnd, sessionEnd])
      // A browser that reconnects by itself sends its position in this header; its URL is still the old one.
      const position = request.headers.get('last-event-id') ?? after ?? null
      peer.liftTimeout(0)
      const isAsked = request.method === 'GET'
      const { memberId } = session
      const shown = (changed: readonly PublishedChange[]) =>
        memberId === null
          ? textOf(changed)
          : shownTo(db, { memberId, ...members.permissionsOf(memberId) }, changed)
      const watch = { changes, clock, position, isOpen, shown }
      const open = (end: AbortSignal) => {
        const release =
          memberId === null ? ownersSlots.take('owner', end) : membersSlots.take(memberId, end)
        return changeEvents({ ...watch, signal: end, release })
      }
      const body = isAsked ? streamOf(open, signal, 0) : null
      return respondTo(request, body, { headers: STREAM_HEADERS })
    }),
  ]
}

type Watch = {
  readonly changes: ChangeFeed
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The last position that the page has; null if it is new. */
  readonly position: string | null
  /** False once the session has expired; checked before each heartbeat. */
  readonly isOpen: () => boolean
  /** The changes that the session may see now, as text. */
  readonly shown: (changed: readonly PublishedChange[]) => string
  readonly release: () => void
}

/**
 * Yields changes and heartbeats until `signal` aborts or the session ends. A page that is too far behind gets
 * `reset`, and reloads everything.
 */
async function* changeEvents(watch: Watch): AsyncGenerator<string, undefined> {
  const { changes, clock, signal, isOpen, shown } = watch
  const wake = new Signal()
  const unwatch = changes.watch(wake)
  try {
    let position = watch.position ?? changes.position
    // Browsers wait for `retry` milliseconds before they reconnect.
    yield `retry: 1000\n\n${watch.position === null ? event('position', position, {}) : ''}`
    while (!signal.aborted && isOpen()) {
      const changed = changes.since(position)
      position = changed === null ? changes.position : (changed.at(-1)?.position ?? position)
      if (changed === null) yield event('reset', position, {})
      else if (changed.length > 0) yield shown(changed)
      else if (!(await isNotified(wake, clock, signal))) yield STILL_HERE
    }
  } finally {
    unwatch()
    watch.release()
  }
  return undefined
}

/** The changes as text; a heartbeat if there are none. */
function textOf(changed: readonly PublishedChange[]): string {
  return changed.length === 0 ? STILL_HERE : changed.map(changeEvent).join('')
}

type LimitedMember = Permissions & { readonly memberId: MemberId }

/** The changes that a member may see. Once a line has moved to another site, the member's page reads all again. */
function shownTo(db: Db, member: LimitedMember, changed: readonly PublishedChange[]): string {
  const last = changed.at(-1)
  if (last !== undefined && changed.some(({ change }) => change.what === 'site')) {
    return event('reset', last.position, {})
  }
  return textOf(changed.filter(({ change }) => isOfMember(db, member, change)))
}

function isOfMember(db: Db, { limits, memberId }: LimitedMember, change: Change): boolean {
  const { what, id, conversationId } = change
  if (!SEEN_BY_MEMBERS.some((one) => one === what)) return false
  if (limits.siteIds === null) return true
  const lineIds = linesWithin(db, limits)
  if (what === 'contact') return findPerson(db, id, lineIds) !== null
  const viewer = { lineIds, limits, conversationIds: null, caller: memberId }
  return isSeenBy(db, viewer, conversationId ?? id)
}

const SEEN_BY_MEMBERS = ['message', 'conversation', 'contact', 'line'] as const

/** False if there was no change for so long that a heartbeat is due. */
async function isNotified(wake: Signal, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const from = clock.monotonic()
  await wake.wait(clock, HEARTBEAT_MS, signal)
  return signal.aborted || clock.monotonic() - from < HEARTBEAT_MS
}

function changeEvent({ change, position }: PublishedChange): string {
  const { what, id, conversationId } = change
  const where = conversationId === undefined ? {} : { conversation_id: conversationId }
  return event('change', position, { what, id, ...where })
}

function event(name: string, position: string, data: Readonly<Record<string, string>>): string {
  return `event: ${name}\nid: ${position}\ndata: ${JSON.stringify(data)}\n\n`
}
