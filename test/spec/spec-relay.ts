// The whole relay as a client meets it: the real app with the drivers that a start would have, on
// simulated lines. Only time and the network to webhooks are the test's.

import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import type { Log } from '../../src/system/log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import {
  seededRandom,
  startRelay,
  type Answer,
  type Json,
  type TestRelay,
} from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

type Options = {
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly lines?: number | undefined
  readonly log?: Log | undefined
}

export type SpecRelay = Awaited<ReturnType<typeof startSpecRelay>>

/** The number of the first simulated line, and of persons with a behaviour. */
export const LINE_NUMBER = '+12025550101'
export const READER = '+15550001111'
export const NEVER_DELIVERED = '+15550000190'
export const NOT_ON_IMESSAGE = '+15550000192'
export const SLOW = '+15550000195'
export const ECHO = '+15550000196'

export const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
export const UPPER_CASE_UUID = /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/
export const HOOK_URL = 'https://shop.example.com/hooks'

/** The events of the specification, in the order of a message's life. */
export const EVENTS = ['message.received', 'message.sent', 'message.delivered', 'message.read']

/** Starts a relay with simulated lines, one by default, and a sink for webhooks. */
export async function startSpecRelay({ lines = 1, log, environment }: Options = {}) {
  const folder = new ScratchFolder()
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const options = { lineCount: lines, delayMs: 400, ledgerPath: folder.file('simulated.db') }
  const drivers = [createSimulatedDriver({ relayClock: clock, random: seededRandom(2) }, options)]
  const parts = log === undefined ? {} : { log }
  const relay = await startRelay({ drivers, clock, post: sink.post, environment, parts })
  return {
    ...relay,
    sink,
    /** Makes a webhook that wants `events`, all of the specification if none are named. */
    async webhook(events: readonly string[] = EVENTS, url = HOOK_URL): Promise<Json> {
      return (await relay.post('/api/v1/webhooks', { url, events })).body
    },
    /** The bodies that one webhook was sent, in order. */
    posted: (url = HOOK_URL): Json[] => sink.to(url).map(({ body }) => JSON.parse(body)),
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** A request with the headers that are given and no others. */
export async function rawRequest(
  { fetch }: Pick<TestRelay, 'fetch'>,
  path: string,
  init: { readonly method?: string; readonly headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const response = await fetch(path, init)
  const text = await response.text()
  const isJson = response.headers.get('Content-Type') === 'application/json' && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  }
}

/** The headers of the key and the secret of a creation. */
export function credentials(created: Json): { 'X-API-Key': string; 'X-API-Secret': string } {
  return { 'X-API-Key': created.key, 'X-API-Secret': created.secret }
}

/** Lets time go by until the answer is there; says how long that took. */
export async function untilAnswered(
  { clock }: Pick<TestRelay, 'clock'>,
  pending: Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly afterMs: number }> {
  const start = clock.monotonic()
  const seen: { answeredAt: number | null } = { answeredAt: null }
  const noted = pending.finally(() => {
    seen.answeredAt = clock.monotonic()
  })
  for (let second = 0; second < 120 && seen.answeredAt === null; second += 1) {
    await clock.advance(1_000)
  }
  const answer = await noted
  return { answer, afterMs: (seen.answeredAt ?? start) - start }
}
