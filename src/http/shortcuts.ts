// What the shortcuts of an iPhone call: one posts what comes in, another asks what to send and says that
// it is done. Each call carries the token of its bridge.

import { Elysia } from 'elysia'

import {
  NextMessage,
  NotedReport,
  PhoneMessage,
  PhoneReport,
  StoredMessage,
} from '../api/bridges.ts'
import { NoBody } from '../api/schema.ts'
import { RelayError } from '../domain/errors.ts'
import type { Timestamp } from '../domain/ids.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { mayTake, takes } from './body.ts'
import { operation } from './operation.ts'
import { badToken, bridgeOf, contextOf } from './request-context.ts'

type NotReady = 'not_ready'

/** The lines behind the bridges, each by the id of its bridge; `not_ready` where one is not attended. */
export type Bridge = {
  receive(
    key: string,
    message: {
      readonly id: string
      readonly from: string
      readonly text: string
      readonly at: Timestamp | null
    },
  ): Promise<'stored' | 'name' | NotReady>
  next(
    key: string,
    asker: {
      readonly waitMs: number
      readonly isGood: () => boolean
      readonly signal: AbortSignal
    },
  ): Promise<
    | {
        readonly answer: 'message'
        readonly message: { readonly id: string; readonly to: string; readonly text: string }
      }
    | { readonly answer: 'nothing' }
    | { readonly answer: 'refused' }
    | NotReady
  >
  done(
    key: string,
    report: { readonly id: string; readonly isSent: boolean; readonly error: string | null },
  ): Promise<'noted' | 'unknown' | NotReady>
}

const WAIT_MS = 25_000
/** What a connection may stay silent: the wait, and 10 s for what comes after it. */
const SILENCE_SECONDS = 35
const NOT_READY_SECONDS = 5

const RECEIVE = operation({
  id: 'bridgeReceive',
  summary: 'Tell a message that came in',
  description:
    'Stored for good once this answers 200; until then the shortcut should try again with the ' +
    'same `id`.',
  tag: 'Shortcuts',
  asksFor: 'bridge_token',
  answers: { 200: StoredMessage },
  errors: ['invalid_sender'],
})

const NEXT = operation({
  id: 'bridgeNext',
  summary: 'Ask for a message to send',
  description:
    'Waits up to 25 s for one. A message is handed out once: one whose `done` does not come ' +
    'within 5 minutes is `uncertain`, and never handed out again.',
  tag: 'Shortcuts',
  asksFor: 'bridge_token',
  answers: { 200: NextMessage },
})

const DONE = operation({
  id: 'bridgeDone',
  summary: 'Say what became of a message',
  description: 'Counts whenever it comes; a repeat changes nothing.',
  tag: 'Shortcuts',
  asksFor: 'bridge_token',
  answers: { 200: NotedReport },
  errors: ['not_found'],
})

export function bridgeRoutes(bridge: Bridge) {
  return new Elysia({ prefix: '/bridge/v1' })
    .post(
      '/receive',
      async ({ request, body }) => {
        const at = parseIsoTime(body.at ?? '')
        const { id, from, text } = body
        const answer = await bridge.receive(bridgeOf(request).id, { id, from, text, at })
        if (answer === 'not_ready') throw notReady()
        if (answer === 'name') throw invalidSender()
        return { stored: true as const }
      },
      { ...takes(PhoneMessage), ...RECEIVE },
    )
    .post(
      '/next',
      async ({ request }) => {
        const { id, isGood } = bridgeOf(request)
        contextOf(request).peer.liftTimeout(SILENCE_SECONDS)
        const { signal } = request
        const answer = await bridge.next(id, { waitMs: WAIT_MS, isGood, signal })
        if (answer === 'not_ready') throw notReady()
        if (answer.answer === 'refused') throw badToken()
        if (answer.answer === 'nothing') return { message: null }
        const { message } = answer
        return { message: { id: message.id, to: message.to, text: message.text } }
      },
      { ...mayTake(NoBody), ...NEXT },
    )
    .post(
      '/done',
      async ({ request, body }) => {
        const report = { id: body.id, isSent: body.sent, error: body.error ?? null }
        const answer = await bridge.done(bridgeOf(request).id, report)
        if (answer === 'not_ready') throw notReady()
        if (answer === 'unknown') throw unknownMessage()
        return { noted: true as const }
      },
      { ...takes(PhoneReport), ...DONE },
    )
}

function notReady(): RelayError {
  const message = 'The line of this bridge is not ready. Try again in a moment.'
  return new RelayError('starting', message, { retryAfterSeconds: NOT_READY_SECONDS })
}

function invalidSender(): RelayError {
  const message =
    'The sender is a name. Delete this contact on the iPhone, so that it tells the number.'
  return new RelayError('invalid_sender', message)
}

function unknownMessage(): RelayError {
  return new RelayError('not_found', 'No message with this id was given to this bridge.')
}
