// Changes as server-sent events. Each has a position, from which a page that lost its connection resumes.

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

/** Delay after which a browser that lost the stream reconnects. */
const RETRY_MS = 1_000
const OPEN_PAGES = { limit: 'event_readers', noun: 'pages', doing: 'are open' }
/** Pages that are open at the same time. Those of members take none of the owner's. */
const PAGES_OF_OWNER = { ofAll: 100, ofOne: 100, retryAfterSeconds: 10, of: OPEN_PAGES }
const PAGES_OF_MEMBERS = { ofAll: 100, ofOne: 10, retryAfterSeconds: 10, of: OPEN_PAGES }

const STILL_HERE = ': still here\n\n'

export function dashboardEventBindings(
  { changes, clock }: Core,
  /** A stream ends with its session. */
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
      // A browser that reconnects by itself sends its position here; its URL is still the old one.
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
  /** Position of the watcher; null before its first read. */
  readonly position: string | null
  /** False once the session has expired, which is checked before each heartbeat. */
  readonly isOpen: () => boolean
  /** Changes that the watcher may know of. */
  readonly isShown: (change: Change) => boolean
  readonly release: () => void
}

/**
 * Changes, and heartbeats. A reader that falls behind the changes that are kept gets `reset`, and reloads
 * everything. Ends when `signal` aborts.
 */
async function* changeEvents(watch: Watch): AsyncGenerator<string, undefined> {
  const { changes, clock, signal, isOpen, isShown } = watch
  const wake = new Signal()
  const unwatch = changes.watch(wake)
  try {
    let position = watch.position ?? changes.position
    yield `retry: ${RETRY_MS}\n\n${watch.position === null ? event('position', position, {}) : ''}`
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

/** The changes that the watcher may know of; a heartbeat if there are none. */
function shownEvents(changed: readonly PublishedChange[], isShown: Watch['isShown']): string {
  const shown = changed.filter(({ change }) => isShown(change))
  return shown.length === 0 ? STILL_HERE : shown.map(changeEvent).join('')
}

/** True for changes of what members read. */
function isOfMembers({ what }: Change): boolean {
  return what === 'message' || what === 'conversation' || what === 'contact' || what === 'line'
}

/** False after a silence, when a heartbeat is due. */
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
