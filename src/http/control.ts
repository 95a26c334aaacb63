// What exists on the control socket only: whoever can open it is the owner.

import { Elysia } from 'elysia'

import type { OptionRow, Phone, ScriptCall, SetupLink } from '../api/owner.ts'
import { NoBody } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import type { Clock } from '../system/clock.ts'
import { Signal } from '../system/signal.ts'
import { mayTake } from './body.ts'
import { plainCall } from './operation.ts'
import type { OwnerActions } from './owner-routes.ts'
import { contextOf, originOf } from './request-context.ts'
import { respond } from './respond.ts'

export type ControlActions = OwnerActions & {
  readonly events: EventFeed
  readonly phones: () => readonly PhoneReport[]
  /** The options of this start as they are printed: secrets are hidden. */
  readonly options: readonly OptionRow[]
  /** The last runs of the script for Messages, oldest first: what of them a trace may tell. */
  readonly scriptCalls: () => readonly ScriptCallReport[]
  /** Called by the upgrade that waits for this start; absent where none does. */
  readonly confirmHealthy?: (() => void) | undefined
}

type ScriptCallReport = Omit<ScriptCall, 'key_prefix'> & { readonly keyPrefix: string | null }

type Tools = Pick<
  ControlActions,
  'events' | 'phones' | 'options' | 'scriptCalls' | 'confirmHealthy'
> & {
  readonly version: string
  /** Whether the dashboard has a password. */
  readonly access: { hasPassword(): boolean }
  readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
  readonly clock: Clock
  /** Ends the streams. */
  readonly streamsEnd: AbortSignal
}

/** Open during the startup check, which ends with it. The path is what every version's upgrade calls. */
export const STARTUP_CHECK_PATH = '/api/v1/judgement'

export function controlRoutes(tools: Tools) {
  return new Elysia({ prefix: '/api/v1' })
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
    .get('/phones', () => ({ data: tools.phones().map(phoneResource) }))
    .get('/script-calls', () => ({
      data: tools
        .scriptCalls()
        .map(({ keyPrefix, ...call }) => ({ ...call, key_prefix: keyPrefix })),
    }))
    .post('/setup-link', ({ request }) => tools.createSetupLink(originOf(request)), mayTake(NoBody))
    .post(
      '/judgement',
      () => {
        tools.confirmHealthy?.()
        return { version: tools.version }
      },
      mayTake(NoBody),
    )
}

/** Tells every event to whoever listens, as the JSON text that webhooks get. */
export type EventFeed = {
  /** Returns what ends the subscription. */
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
  const end = new AbortController()
  const lines = eventLines(feed, clock, AbortSignal.any([signal, end.signal]))
  return new ReadableStream<string>({
    async pull(controller) {
      const next = await lines.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      end.abort()
      await lines.return(undefined)
    },
  })
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

/** A phone as its driver tells of it. */
export type PhoneReport = {
  readonly key: string
  readonly name: string | null
  readonly iosVersion: string | null
  readonly batteryPercent: number | null
  /** In the order in which they are reached. */
  readonly states: readonly { readonly state: string; readonly isReached: boolean }[]
  readonly stop: {
    readonly code: string
    readonly title: string
    readonly why: string
    readonly fix: string
  } | null
  readonly unknownScreen: string | null
}

export function phoneResource(report: PhoneReport): Phone {
  return {
    key: report.key,
    name: report.name,
    ios_version: report.iosVersion,
    battery_percent: report.batteryPercent,
    states: report.states.map(({ state, isReached }) => ({ state, is_reached: isReached })),
    stop: report.stop,
    unknown_screen: report.unknownScreen,
  }
}
