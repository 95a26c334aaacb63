// Routes for the shortcuts of an iPhone: one posts incoming messages, another asks for messages to send and
// reports their outcome. Each call carries the token of its bridge.

import { Elysia } from 'elysia'

import {
  NextMessage,
  NotedReport,
  PhoneForm,
  PhoneMessage,
  PhoneReport,
  StoredMessage,
} from '../api/bridges.ts'
import { NoBody } from '../api/schema.ts'
import { RelayError } from '../domain/errors.ts'
import type { DeviceCalls } from '../lines/line-kind.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { mayTake, takes, takesForm } from './body.ts'
import { operation } from './operation.ts'
import { badToken, bridgeOf, contextOf } from './request-context.ts'

const WAIT_MS = 25_000
/** Idle time of a connection: the wait, and 10 s more. */
const SILENCE_SECONDS = 35
const NOT_READY_SECONDS = 5

const RECEIVE = operation('Shortcuts', {
  id: 'bridgeReceive',
  summary: 'Report an incoming message',
  description:
    'Stored once this answers 200; until then the shortcut should retry with the same `id`. As a ' +
    'form it may bring a file. The same `id` with another sender, text or file is another message. ' +
    'The same sender, text, file and `at` under another `id` within five seconds is an automation ' +
    'that ran twice: it is counted in `not_relayed` and stored once.',
  asksFor: 'bridge_token',
  answers: { 200: StoredMessage },
  errors: ['invalid_sender'],
})

const NEXT = operation('Shortcuts', {
  id: 'bridgeNext',
  summary: 'Ask for a message to send',
  description:
    'Waits up to 25 s. Each message is handed out once: without its `done` within 5 minutes it is ' +
    '`uncertain`, and never handed out again.',
  asksFor: 'bridge_token',
  answers: { 200: NextMessage },
})

const DONE = operation('Shortcuts', {
  id: 'bridgeDone',
  summary: 'Report the outcome of a message',
  description:
    'Counts whenever it arrives. The first one counts: repeating it changes nothing, and another outcome is logged.',
  asksFor: 'bridge_token',
  answers: { 200: NotedReport },
  errors: ['not_found'],
})

export function bridgeRoutes(bridge: DeviceCalls) {
  return new Elysia({ prefix: '/bridge/v1' })
    .post(
      '/receive',
      async ({ request, body }) => {
        const at = parseIsoTime(body.at ?? '')
        const { id, from, text, recipients } = body
        const message = { id, from, text, at, recipients, file: fileIn(body) }
        contextOf(request).peer.liftTimeout(SILENCE_SECONDS)
        const answer = await bridge.receive(bridgeOf(request).id, message)
        if (answer === 'not_ready') throw notReady()
        if (answer === 'no_sender') throw invalidSender()
        return { stored: true as const }
      },
      { ...takesForm(PhoneMessage, PhoneForm), ...RECEIVE },
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
        if (answer === 'unknown') {
          throw new RelayError('not_found', 'No message with this id was given to this bridge.')
        }
        return { noted: true as const }
      },
      { ...takes(PhoneReport), ...DONE },
    )
}

/** The file of a form; null where there is none, or nothing in it. */
function fileIn(body: object): File | null {
  const file = 'attachment' in body ? body.attachment : null
  return file instanceof File && file.size > 0 ? file : null
}

function notReady(): RelayError {
  const message = 'The line of this bridge is not ready. Try again in a moment.'
  return new RelayError('starting', message, { retryAfterSeconds: NOT_READY_SECONDS })
}

function invalidSender(): RelayError {
  return new RelayError('invalid_sender', 'The sender has no visible character.')
}
