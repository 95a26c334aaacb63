// Routes of the control socket only, which nobody but the owner can open.

import { Elysia } from 'elysia'

import type { OptionRow, SetupLink } from '../api/owner.ts'
import { NoBody } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import type { Reports } from '../lines/line-kind.ts'
import type { Clock } from '../system/clock.ts'
import { Signal } from '../system/signal.ts'
import { mayTake } from './body.ts'
import { plainCall } from './operation.ts'
import type { OwnerActions } from './owner-routes.ts'
import { contextOf, originOf } from './request-context.ts'
import { respond, streamOf } from './respond.ts'

export type ControlActions = OwnerActions & {
  readonly events: EventFeed
  /** Rows of the kinds of lines, by the last part of their path. */
  readonly reports: Reports
  /** The options of this start as they are printed: secrets are hidden. */
  readonly options: readonly OptionRow[]
  /** Called by the upgrade that waits for this start; absent where none does. */
  readonly confirmHealthy?: (() => void) | undefined
}

type Tools = Pick<ControlActions, 'events' | 'reports' | 'options' | 'confirmHealthy'> & {
  readonly version: string
  /** True where the dashboard has a password. */
  readonly access: { hasPassword(): boolean }
  readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
  readonly clock: Clock
  readonly streamsEnd: AbortSignal
}

/** Open during the startup check, which ends with it. The path is what every version's upgrade calls. */
export const STARTUP_CHECK_PATH = '/api/v1/judgement'

export function controlRoutes(tools: Tools) {
  const app = new Elysia({ prefix: '/api/v1' })
    .onBeforeHandle(plainCall)
    .get('/events', ({ request }) => {
      const { peer, requestId } = contextOf(request)
      peer.liftTimeout(0)
      const signal = AbortSignal.any([request.signal, tools.streamsEnd])
      const stream = eventStream(tools.events, tools.clock, signal)
      const headers = { 'content-type': 'application/x-ndjson' }
      return respond(stream, { status: 200, requestId, headers })
    })
    .get('/about', () => ({ version: tools.version, is_claimed: tools.access.hasPassword() }))
    .get('/options', () => ({ data: tools.options }))
    .post('/setup-link', ({ request }) => tools.createSetupLink(originOf(request)), mayTake(NoBody))
    .post(
      '/judgement',
      () => {
        tools.confirmHealthy?.()
        return { version: tools.version }
      },
      mayTake(NoBody),
    )
  for (const [name, read] of Object.entries(tools.reports)) {
    app.get(`/${name}`, () => ({ data: read() }))
  }
  return app
}

/** Every event, as the JSON text that webhooks get. */
export type EventFeed = {
  /** Returns a function that ends the subscription. */
  subscribe(listener: (event: string) => void): () => void
}

const HEARTBEAT_MS = 15_000
const WAITING_MAX = 1_000

/**
 * Events as they happen, one line of JSON each, and an empty line every 15 seconds of silence. A
 * reader that falls 1,000 events behind is cut off. Ends when `signal` aborts.
 */
export function eventStream(
  feed: EventFeed,
  clock: Clock,
  signal: AbortSignal,
): ReadableStream<string> {
  return streamOf((end) => eventLines(feed, clock, end), signal)
}

async function* eventLines(
  feed: EventFeed,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  const waiting: string[] = []
  const wake = new Signal()
  const stop = feed.subscribe((event) => {
    if (waiting.length <= WAITING_MAX) waiting.push(`${event}\n`)
    wake.notify()
  })
  try {
    // The first line opens the answer: without a byte the reader would wait for its headers.
    yield '\n'
    while (!signal.aborted && waiting.length <= WAITING_MAX) {
      if (waiting.length === 0) await wake.wait(clock, HEARTBEAT_MS, signal)
      yield waiting.length === 0 ? '\n' : waiting.splice(0).join('')
    }
  } finally {
    stop()
  }
  return undefined
}
