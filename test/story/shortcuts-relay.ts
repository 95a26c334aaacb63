// The whole relay with an iPhone whose shortcuts call it, over HTTP as they do.

import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Answer, type Json, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

export const NUMBER = '+12025550147'
export const FRIEND = '+15550001111'
export const ASYNC = { Prefer: 'respond-async' }

const LAN_PEER = { address: '192.168.1.30', isControl: false, liftTimeout: () => {} }
const EVENTS = ['message.received', 'message.sent', 'message.failed']
/** How long a shortcut that asks waits for a message. */
const WAIT_MS = 25_000
/** How often a driver is asked for its devices: a new bridge is a line then. */
const DISCOVERY_MS = 5_000

/** A relay with one bridge, whose line runs; no shortcut has asked yet. */
export async function startBridged(options: Parameters<typeof startRelay>[0] = {}) {
  const clock = options.clock ?? new TestClock()
  const sink = new WebhookSink(clock)
  const relay = await startRelay({ clock, post: sink.post, ...options })
  await relay.post('/api/v1/webhooks', { url: 'https://example.test/', events: EVENTS })
  const made = await relay.post('/api/v1/bridges', { phone_number: NUMBER })
  await clock.advance(DISCOVERY_MS)
  const phone = phoneOf(relay, made.body.token)
  const line = async (): Promise<Json> => {
    const lines = await relay.lines()
    return lines.find(({ phone_number }) => phone_number === NUMBER)
  }
  return {
    relay,
    sink,
    clock,
    line,
    bridge: made.body,
    phone,
    /** A shortcut asks while there is nothing for it. */
    idles: async () => {
      const asked = phone.next()
      await clock.advance(WAIT_MS)
      await asked
    },
    /** A shortcut asks, and gets what there is to send; gives the id of the message. */
    takes: async (): Promise<string> => {
      const asked = phone.next()
      await clock.advance(100)
      return (await asked).body.message.id
    },
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  }
}

/** What a form holds. */
type Fields = Readonly<Record<string, string | File>>

/** The shortcuts of an iPhone that has this token. */
export function phoneOf(relay: Pick<TestRelay, 'app'>, token: string) {
  const post = async (
    path: string,
    body: FormData | string,
    { type, signal }: { readonly type?: string; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Answer> => {
    const typed = type === undefined ? {} : { 'Content-Type': type }
    const request = new Request(`http://192.168.1.20:4665${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, ...typed },
      body,
      signal: signal ?? null,
    })
    const response = await relay.app.http.fetch(request, LAN_PEER)
    const { status, headers } = response
    return { status, headers, body: await response.json() }
  }
  const call = (path: string, body: unknown, signal?: AbortSignal) =>
    post(path, JSON.stringify(body), { type: 'application/json', signal })
  return {
    call,
    receive: (message: Record<string, unknown>) =>
      call('/bridge/v1/receive', { id: '1', from: FRIEND, text: 'hello', ...message }),
    /** The same as a form, which may bring a file as `attachment`. */
    receiveForm: (fields: Fields) => {
      const form = new FormData()
      const all = { id: '1', from: FRIEND, text: 'hello', ...fields }
      for (const [name, value] of Object.entries(all)) form.set(name, value)
      return post('/bridge/v1/receive', form)
    },
    post,
    next: (signal?: AbortSignal) => call('/bridge/v1/next', {}, signal),
    done: (id: string, more: Record<string, unknown> = {}) =>
      call('/bridge/v1/done', { id, sent: true, ...more }),
  }
}

/** The events that the webhook got, in order. */
export function eventsIn({ posts }: WebhookSink): readonly string[] {
  return posts.map(({ body }) => JSON.parse(body).event as string)
}
