// Changes as server-sent events for the page. Each event has a position, from which a page that lost its
// connection resumes.

import type { DashboardSessions } from '../access/sessions.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import type { Core } from '../storage/core.ts'
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
  { changes, clock }: Core,
  { sessions }: { readonly sessions: Pick<DashboardSessions, 'isOpen' | 'endOf'> },
  streamsEnd: AbortSignal,
) {
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
      const isShown = session.memberId === null ? () => true : isOfMembers
      const watch = { changes, clock, position, isOpen, isShown }
      const open = (end: AbortSignal) => {
        const { memberId } = session
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
  /** True for changes that the session may see. */
  readonly isShown: (change: Change) => boolean
  readonly release: () => void
}

/**
 * Yields changes and heartbeats until `signal` aborts or the session ends. A page that is too far behind gets
 * `reset`, and reloads everything.
 */
async function* changeEvents(watch: Watch): AsyncGenerator<string, undefined> {
  const { changes, clock, signal, isOpen, isShown } = watch
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
      else if (changed.length > 0) yield shownEvents(changed, isShown)
      else if (!(await isNotified(wake, clock, signal))) yield STILL_HERE
    }
  } finally {
    unwatch()
    watch.release()
  }
  return undefined
}

/** The changes that the session may see; a heartbeat if there are none. */
function shownEvents(changed: readonly PublishedChange[], isShown: Watch['isShown']): string {
  const shown = changed.filter(({ change }) => isShown(change))
  return shown.length === 0 ? STILL_HERE : shown.map(changeEvent).join('')
}

/** True for changes that members may see. */
function isOfMembers({ what }: Change): boolean {
  return what === 'message' || what === 'conversation' || what === 'contact' || what === 'line'
}

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
