// The HTTP status and meaning of each error code of `domain/errors.ts`.

import { Type } from 'typebox'

import type { ErrorCode } from '../domain/errors.ts'
import { IN_DOCUMENT, enumOf, objectSchema, text, type Shape } from './schema.ts'

type Meaning = { readonly status: number; readonly when: string }

export const ERRORS: Readonly<Record<ErrorCode, Meaning>> = {
  invalid_request: { status: 400, when: 'The body, the query or a header is invalid.' },
  invalid_recipient: { status: 400, when: 'The line cannot send to `to`.' },
  unauthorized: {
    status: 401,
    when: 'The credentials are missing, wrong, revoked or expired: `X-API-Key` and `X-API-Secret`, or the token of a bridge.',
  },
  signed_out: { status: 401, when: 'This browser is not signed in to the dashboard.' },
  wrong_password: { status: 401, when: 'The dashboard password is incorrect.' },
  second_factor_needed: {
    status: 401,
    when: 'The sign-in needs the code of an authenticator app.',
  },
  wrong_code: { status: 401, when: 'The code is wrong, or was used already.' },
  forbidden: {
    status: 403,
    when: 'The key lacks the scope in `details.required_scope`, or asks for more than it has itself.',
  },
  recipient_not_allowed: { status: 403, when: 'The rules of the key exclude this recipient.' },
  password_needed: { status: 403, when: 'The password was not entered within the last hour.' },
  setup_link_invalid: { status: 403, when: 'The setup link was used, replaced or has expired.' },
  not_found: { status: 404, when: 'There is nothing with this path or id.' },
  phone_line_not_found: { status: 404, when: '`phone_line_id` names no line.' },
  method_not_allowed: { status: 405, when: 'The path exists, with another method.' },
  idempotency_conflict: { status: 409, when: 'The `Idempotency-Key` was used with other values.' },
  automation_paused: {
    status: 409,
    when: 'A person has taken over this conversation, and the sender is an agent or a key of some conversations, or the setting `enforce_automation_pause` is on. Or two programs answered each other in it.',
  },
  already_sent: {
    status: 409,
    when: 'An agent has sent this message already; `details.message_id` says which one it is.',
  },
  recipient_opted_out: {
    status: 409,
    when: 'The recipient wants no more messages, and the setting `opt_out` is `enforce`.',
  },
  bridge_exists: { status: 409, when: 'The number already has a bridge.' },
  name_taken: { status: 409, when: 'The name is in use already.' },
  rollout_refused: { status: 409, when: 'The boxes cannot be upgraded like this.' },
  phone_line_in_use: { status: 409, when: 'The line cannot be deleted.' },
  site_in_use: {
    status: 409,
    when: 'A key, webhook or member is limited to the site: `details.used_by` names them.',
  },
  phone_line_disabled: { status: 409, when: '`phone_line_id` names a line that is turned off.' },
  not_queued: { status: 409, when: 'The message was handed over to the device, or has ended.' },
  not_awaiting_approval: { status: 409, when: 'Nobody has to decide on the message any more.' },
  not_uncertain: { status: 409, when: 'The message is not `uncertain`.' },
  webhook_inactive: { status: 409, when: 'The webhook is not active.' },
  events_gone: {
    status: 410,
    when: 'Events after `after` may be deleted already; `details.oldest` is the oldest one kept.',
  },
  attachment_not_found: { status: 404, when: 'There is no attachment with this id.' },
  attachment_not_ready: { status: 409, when: "The attachment's file has not arrived yet." },
  attachment_in_use: { status: 409, when: 'A message with the attachment is under way.' },
  attachment_gone: { status: 410, when: 'The file was deleted, or is not in the data directory.' },
  attachment_needs_text: {
    status: 400,
    when: 'The first message to a new contact has attachments and no text: Apple drops those.',
  },
  attachment_fetch_failed: {
    status: 422,
    when: "An attachment's `url` could not be fetched; nothing was accepted.",
  },
  variant_unavailable: { status: 422, when: 'This machine cannot make the variant.' },
  range_not_satisfiable: { status: 416, when: 'The `Range` lies outside of the file.' },
  not_supported: {
    status: 422,
    when: 'No line that may take it can do this; `details.capability` says what is missing.',
  },
  payload_too_large: {
    status: 413,
    when: 'The body has more than 256 KiB, or a file more than the setting allows.',
  },
  unsupported_media_type: { status: 415, when: 'The body is not `application/json`.' },
  misdirected_request: { status: 421, when: 'The `Host` is not one of this relay.' },
  send_failed: { status: 422, when: 'The line permanently refused the message.' },
  invalid_sender: { status: 422, when: 'The sender has no visible character.' },
  rate_limit_exceeded: { status: 429, when: 'A limit is reached: `details.limit` says which.' },
  internal_error: {
    status: 500,
    when: 'An error in the relay; its log has details under the request id.',
  },
  no_phone_line: { status: 503, when: 'The relay has no enabled line.' },
  broker_unavailable: { status: 503, when: 'The broker that connects boxes does not run.' },
  storage_full: { status: 503, when: "The relay's disk, or the room for attachments, is full." },
  starting: { status: 503, when: "The relay is starting, or a bridge's line is." },
  stopping: { status: 503, when: 'The relay is stopping.' },
}

/** The path of the code's row in the guide of this relay. */
export function guideOf(code: ErrorCode): string {
  return `/guide/errors#${code}`
}

/** Errors of every operation that takes a body. */
export const BODY_ERRORS = ['payload_too_large', 'unsupported_media_type'] as const

/** Errors that only the dashboard and the command line get. */
const OWNERS_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'signed_out',
  'wrong_password',
  'second_factor_needed',
  'wrong_code',
  'password_needed',
  'setup_link_invalid',
  'name_taken',
  'rollout_refused',
  'broker_unavailable',
])
const PUBLIC_CODES = Object.entries(ERRORS).filter(([code]) => !OWNERS_CODES.has(code))
const MEANINGS = PUBLIC_CODES.map(
  ([code, { status, when }]) => `- \`${code}\` (${status}): ${when}`,
)

export const ErrorAnswer = objectSchema('ErrorAnswer', {
  error: objectSchema('ErrorDetail', {
    code: enumOf(
      'ErrorCode',
      PUBLIC_CODES.map(([code]) => code),
      ['For programs.', ...MEANINGS].join('\n'),
    ),
    message: text('For people: what was wrong and what would be right.'),
    details: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description:
          'More for programs, depending on the code. `suggestion` is the value, name or path that was ' +
          'most likely meant.',
      }),
    ),
    doc_url: Type.Optional(
      Type.String({
        description: "The code's place in this relay's guide.",
        example: '/guide/errors#not_found',
        [IN_DOCUMENT]: { format: 'uri-reference' },
      }),
    ),
    request_id: Type.Optional(text("The relay's log has details under it.", 'req_oACH00dH_1')),
  }),
})
export type ErrorAnswer = Shape<typeof ErrorAnswer>

/** One answer for each status, with every code that can come with it. */
export function errorAnswers(codes: readonly ErrorCode[]) {
  const known = Object.keys(ERRORS).filter((code) => codes.some((one) => one === code))
  const byStatus = Object.groupBy(known as ErrorCode[], (code) => ERRORS[code].status) // Keys of `ERRORS`.
  const answers = Object.entries(byStatus).map(([status, codes = []]) => [
    status,
    {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join(' '),
      content: {
        'application/json': {
          schema: ErrorAnswer,
          examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
        },
      },
    },
  ])
  return Object.fromEntries(answers)
}

function exampleOf(code: ErrorCode) {
  const message = code === 'unauthorized' ? 'Invalid or missing API credentials' : ERRORS[code].when
  return { value: { error: { code, message } } }
}
