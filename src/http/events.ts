// Reads of the event log: in pages, by long polling, and as a stream. The reader names the position to start
// from, so no event is lost between two calls.

import type { EventList } from '../api/events.ts'
import type { QueryOf } from '../api/operation.ts'
import { EVENTS } from '../api/operations/events.ts'
import { invalidRequest } from '../domain/errors.ts'
import { EVENT_NAMES, LATEST, OLDEST } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import type { EventFilter } from '../storage/events.ts'
import { isoTime } from '../system/iso-time.ts'
import type { EventBatch, EventLog } from '../webhooks/event-log.ts'
import { bind } from './bind.ts'
import { CallerSlots } from './caller-slots.ts'
import { permissionsNow } from './current-permissions.ts'
import type { Relay } from './relay.ts'
import {
  callerIdOf,
  callerOf,
  contextOf,
  conversationsOf,
  linesAsked,
  unauthorized,
} from './request-context.ts'
import { respondTo, streamOf } from './respond.ts'
import { SILENCE_SECONDS, preferredWaitMs } from './sending.ts'
import { wordMeant } from './suggestions.ts'

/** The most readers that may wait at the same time. */
export const READERS = { ofAll: 100, ofOne: 10, retryAfterSeconds: 10 }
/** Keeps silent connections open: the relay lifts Bun's time-out, but can't lift the time-outs of proxies. */
export const HEARTBEAT_MS = 15_000
/** The most time that a reader of the stream may take for one piece. */
const STALLED_MS = 60_000
/** The most events in one piece of the stream. */
const PIECE_MAX = 20

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Without this, nginx buffers events for minutes.
  'x-accel-buffering': 'no',
}

export function eventBindings(core: Core, sources: EventSources, streamsEnd: AbortSignal) {
  const readers = new EventReaders(core, sources, streamsEnd)
  return [
    bind(EVENTS.listEvents, ({ request, query }) => readers.list(request, query)),
    bind(EVENTS.streamEvents, ({ request, query }) => readers.stream(request, query)),
  ]
}

type EventSources = Pick<Relay, 'access' | 'authenticate' | 'eventLog'>
type Choice = QueryOf<typeof EVENTS.streamEvents>

class EventReaders {
  readonly #core: Core
  readonly #sources: EventSources
  readonly #streamsEnd: AbortSignal
  readonly #slots = new CallerSlots(READERS)

  constructor(core: Core, sources: EventSources, streamsEnd: AbortSignal) {
    this.#core = core
    this.#sources = sources
    this.#streamsEnd = streamsEnd
  }

  async list(
    request: Request,
    { limit, ...choice }: QueryOf<typeof EVENTS.listEvents>,
  ): Promise<EventList> {
    const { eventLog } = this.#sources
    const waitMs = preferredWaitMs(request.headers) ?? 0
    const after = eventLog.positionOf(choice.after ?? OLDEST)
    const filter = this.#filterOf(request, choice)
    const reading = { after, filter, limit, silenceMs: waitMs }
    const signal = AbortSignal.any([request.signal, this.#streamsEnd])
    const release = waitMs > 0 ? this.#takeSlot(request, signal) : () => {}
    if (waitMs > 0) contextOf(request).peer.liftTimeout(waitMs / 1_000 + SILENCE_SECONDS)
    try {
      for await (const { events, position, hasMore } of eventLog.follow(reading, signal)) {
        const data = events.map(({ id, createdAt, body }) => {
          return { id, created_at: isoTime(createdAt), payload: JSON.parse(body) }
        })
        return { data, has_more: hasMore, next_cursor: position }
      }
      if (filter() === null) throw unauthorized()
      return { data: [], has_more: false, next_cursor: eventLog.afterOf(after) }
    } finally {
      release()
    }
  }

  stream(request: Request, choice: Choice): Response {
    const { eventLog } = this.#sources
    // A browser that reconnects by itself still uses the old URL.
    const after = request.headers.get('last-event-id') ?? choice.after ?? LATEST
    const filter = this.#filterOf(request, choice)
    const reading = {
      after: eventLog.positionOf(after),
      filter,
      silenceMs: HEARTBEAT_MS,
      limit: PIECE_MAX,
    }
    contextOf(request).peer.liftTimeout(0)
    const texts = (end: AbortSignal) =>
      this.#texts(reading, { end, release: this.#takeSlot(request, end) })
    const signal = AbortSignal.any([request.signal, this.#streamsEnd])
    const stall = { clock: this.#core.clock, ms: STALLED_MS }
    const body = request.method === 'GET' ? streamOf(texts, signal, 0, stall) : null
    return respondTo(request, body, { headers: STREAM_HEADERS })
  }

  async *#texts(
    reading: Parameters<EventLog['follow']>[0],
    { end, release }: { readonly end: AbortSignal; readonly release: () => void },
  ): AsyncGenerator<string, undefined> {
    const { eventLog } = this.#sources
    try {
      yield opening(eventLog.afterOf(reading.after))
      for await (const batch of eventLog.follow(reading, end)) yield pieceOf(batch)
    } finally {
      release()
    }
    return undefined
  }

  /** The command line always gets a slot, even if programs hold all of them. */
  #takeSlot(request: Request, end: AbortSignal): () => void {
    return this.#slots.take(callerIdOf(request), end, callerOf(request).kind === 'cli')
  }

  /** The requested events that the caller may read now; null if its key was revoked since the reader started. */
  #filterOf(request: Request, choice: Choice): () => EventFilter | null {
    const names = namesIn(choice.types)
    const conversationIds = conversationsOf(request)
    return () => {
      const permissions = permissionsNow(request, this.#sources)
      if (permissions === null) return null
      return { names, lineIds: linesAsked(this.#core.db, permissions, choice), conversationIds }
    }
  }
}

function namesIn(types: string | undefined): EventFilter['names'] {
  if (types === undefined) return null
  const given = types.split(',')
  const names = EVENT_NAMES.filter((name) => given.includes(name))
  if (names.length === new Set(given).size) return names
  const message = `must be some of ${EVENT_NAMES.join(', ')}, separated by commas`
  const unknown = given.find((name) => !names.some((known) => known === name))
  const suggestion = unknown === undefined ? undefined : wordMeant(unknown, EVENT_NAMES)
  throw invalidRequest({ path: 'types', message, suggestion })
}

/** Sends the position before the first event, so that a reader who loses the connection resumes there. */
function opening(position: string): string {
  return `retry: 1000\nid: ${position}\n\n`
}

function pieceOf({ events, position }: EventBatch): string {
  if (events.length > 0)
    return events
      .map(({ id, name, body }) => `id: ${id}\nevent: ${name}\ndata: ${body}\n\n`)
      .join('')
  return `: still here\nid: ${position}\n\n`
}
