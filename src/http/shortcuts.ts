// Answers calls by the shortcuts of an iPhone, which are listed in `api/operations/shortcuts.ts`.

import { PhoneForm, PhoneMessage } from '../api/bridges.ts'
import { SHORTCUTS } from '../api/operations/shortcuts.ts'
import { RelayError } from '../domain/errors.ts'
import type { DeviceCalls } from '../lines/line-kind.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { bind, checkedAsForm } from './bind.ts'
import { badToken, bridgeOf, contextOf } from './request-context.ts'

const WAIT_MS = 25_000
/** The idle time-out: the wait, and 10 s more. */
const SILENCE_SECONDS = 35

export function shortcutBindings(bridge: DeviceCalls) {
  return [
    bind(
      SHORTCUTS.bridgeReceive,
      async ({ request, body }) => {
        const at = parseIsoTime(body.at ?? '')
        const { id, from, text, recipients } = body
        const message = { id, from, text, at, recipients, file: fileIn(body) }
        contextOf(request).peer.liftTimeout(SILENCE_SECONDS)
        const answer = await bridge.receive(bridgeOf(request).id, message)
        if (answer === 'not_ready') throw notReady()
        if (answer === 'no_sender')
          throw new RelayError('invalid_sender', 'The sender has no visible character.')
        return { stored: true as const }
      },
      checkedAsForm(PhoneMessage, PhoneForm),
    ),
    bind(SHORTCUTS.bridgeNext, async ({ request }) => {
      const { id, isGood } = bridgeOf(request)
      contextOf(request).peer.liftTimeout(SILENCE_SECONDS)
      const { signal } = request
      const answer = await bridge.next(id, { waitMs: WAIT_MS, isGood, signal })
      if (answer === 'not_ready') throw notReady()
      if (answer.answer === 'refused') throw badToken()
      if (answer.answer === 'nothing') return { message: null }
      const { message } = answer
      return { message: { id: message.id, to: message.to, text: message.text } }
    }),
    bind(SHORTCUTS.bridgeDone, async ({ request, body }) => {
      const report = { id: body.id, isSent: body.sent, error: body.error ?? null }
      const answer = await bridge.done(bridgeOf(request).id, report)
      if (answer === 'not_ready') throw notReady()
      if (answer === 'unknown') {
        throw new RelayError('not_found', 'No message with this id was given to this bridge.')
      }
      return { noted: true as const }
    }),
  ]
}

/** The file of a form; null if there is none or it is empty. */
function fileIn(body: object): File | null {
  const file = 'attachment' in body ? body.attachment : null
  return file instanceof File && file.size > 0 ? file : null
}

function notReady(): RelayError {
  const message = 'The line of this bridge is not ready. Try again in a moment.'
  return new RelayError('starting', message, { retryAfterSeconds: 5 })
}
