// Maps the relay's errors to Twilio's numbers, for answers to requests and for failed messages.

import type { CompatAnswer, CompatError } from '../compat-api.ts'

type Fault = readonly [status: number, code: number]

const FAULTS: Readonly<Record<string, Fault>> = {
  invalid_recipient: [400, 21211],
  recipient_not_allowed: [400, 21408],
  recipient_opted_out: [400, 21610],
  phone_line_not_found: [400, 21606],
  phone_line_disabled: [400, 21606],
  no_phone_line: [503, 20503],
  attachment_fetch_failed: [400, 21620],
  attachment_needs_text: [400, 21602],
  not_queued: [409, 30409],
}

/** By the field of the relay's own API that is invalid. */
const FIELDS: Readonly<Record<string, Fault>> = {
  to: [400, 21211],
  text: [400, 21617],
  url: [400, 21609],
  send_at: [400, 35114],
  attachments: [400, 21620],
}

/** Numbers that aren't 20000 plus the status. */
const STATUSES: Readonly<Record<number, number>> = { 400: 20001, 401: 20003, 405: 20004 }

/** Numbers of failures by the relay's code; 30008 is "unknown error". */
const FAILURES: Readonly<Record<string, number>> = {
  not_on_imessage: 30006,
  recipient_rejected: 30003,
  recipient_opted_out: 21610,
  expired: 30036,
}

export function refusal(error: CompatError): CompatAnswer {
  const { status: native, code: word, message, path } = error
  const ofField = word === 'invalid_request' ? FIELDS[path.split('/')[0] ?? ''] : undefined
  const [status, code] = FAULTS[word] ?? ofField ?? [native, STATUSES[native] ?? 20_000 + native]
  return fault(status, code, message)
}

/** An error in the shape of Twilio's API. */
export function fault(status: number, code: number, message: string): CompatAnswer {
  return { status, body: { code, message, more_info: '/guide/compatible-apis#twilio', status } }
}

export function failureCode(code: string): number {
  return FAILURES[code] ?? 30_008
}
