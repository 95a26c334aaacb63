// Makes src/guides/errors.md from the table of error codes.

import { ERRORS } from '../src/api/errors.ts'
import type { ErrorCode } from '../src/domain/errors.ts'

const REASONS = {
  missing: 'Neither `X-API-Key` nor `X-API-Secret` came.',
  missing_key: 'Only `X-API-Secret` came.',
  missing_secret: 'Only `X-API-Key` came.',
  wrong_header: 'The key came in `Authorization`, which only [`/mcp`](mcp#via-http) takes.',
  in_url: 'The key came in the URL, where proxies would log it.',
  swapped: 'Each header has the value of the other one.',
  malformed_key: '`X-API-Key` does not begin with `hl_live_`, or has a space or a quote in it.',
  malformed_secret:
    '`X-API-Secret` does not begin with `hl_secret_`, or has a space or a quote in it.',
  wrong: 'No key has these values. A wrong secret and an unknown key get the same answer.',
  fake_key: 'The key is one of [hookline fake](fake), and this is a real relay.',
  other_api:
    'The key and its secret are right, and the key was made for another API, such as `signal-cli`.',
  expired: 'The key and its secret are right, and the key ended at `details.ended_at`.',
  revoked: 'The key and its secret are right, and the key was revoked at `details.ended_at`.',
}

type Retry = 'no' | 'yes' | 'later'

/**
 * Whether the same request can succeed when it is sent again, and what to do. `yes`: after `Retry-After`, or a growing
 * delay. `later`: once something has changed.
 */
const ADVICE: Readonly<Record<ErrorCode, readonly [retry: Retry, what: string]>> = {
  invalid_request: ['no', 'Correct what `details.issues` lists.'],
  invalid_recipient: [
    'no',
    'Send a number in international format, or choose a line that has written to the address.',
  ],
  unauthorized: ['no', 'See [the reason](#credentials).'],
  signed_out: ['no', 'Sign in.'],
  wrong_password: [
    'no',
    'Enter it again; after five, wait as it says. Forgotten: `hookline setup-link`.',
  ],
  second_factor_needed: ['no', 'Send the code too.'],
  wrong_code: ['no', 'Wait for the next code, or use a recovery code.'],
  forbidden: ['no', 'Make a key that has the scope, or ask for less.'],
  recipient_not_allowed: [
    'no',
    "Change the key's [rules](keys#rules-for-sending): make another key.",
  ],
  password_needed: ['no', 'Enter the password.'],
  setup_link_invalid: ['no', 'Make another one: `hookline setup-link`.'],
  not_found: ['no', 'Check path and id. `details.suggestion` may name the path.'],
  phone_line_not_found: ['no', '`GET /api/v1/phone-lines` lists them.'],
  method_not_allowed: ['no', '`Allow` has the methods.'],
  idempotency_conflict: ['no', 'Use another key for another message.'],
  automation_paused: ['later', 'A person gives the conversation back.'],
  already_sent: ['no', 'Nothing, or `again: true`.'],
  recipient_opted_out: ['no', 'Nothing: [they decide](opt-outs).'],
  bridge_exists: ['no', '`hookline bridges token ID` makes a new token for it.'],
  name_taken: ['no', 'Choose another name.'],
  rollout_refused: ['later', 'Do what `message` says.'],
  phone_line_in_use: ['later', 'Disconnect its device first.'],
  site_in_use: ['later', 'Lift those limits first.'],
  phone_line_disabled: ['later', 'Turn the line on, or name none.'],
  not_queued: ['no', 'Read the message: its `status` says what became of it.'],
  not_awaiting_approval: ['no', 'Read the message: another person was first, or it expired.'],
  not_uncertain: ['no', 'Read the message: it was settled.'],
  webhook_inactive: ['later', '`hookline webhooks resume ID`.'],
  events_gone: ['no', 'Read on with `after=oldest`, and [catch up](events#away-for-too-long).'],
  attachment_not_found: ['no', 'Upload it again: unused uploads live for 24 hours.'],
  attachment_not_ready: ['yes', 'Wait for `attachment.available`.'],
  attachment_in_use: ['later', 'Wait until the message is settled.'],
  attachment_gone: ['no', 'Upload it again.'],
  attachment_needs_text: ['no', 'Add a text.'],
  attachment_fetch_failed: ['yes', 'If there is `Retry-After`; else correct the URL.'],
  variant_unavailable: ['no', 'Fetch the original.'],
  range_not_satisfiable: ['no', 'Ask for a range within the size.'],
  not_supported: ['no', 'Name a line that can: see its `capabilities`.'],
  payload_too_large: ['no', 'Send less: [limits](limits).'],
  unsupported_media_type: ['no', 'Send `Content-Type: application/json`.'],
  misdirected_request: ['no', 'Use the address of the relay, or set `--public-url`.'],
  send_failed: [
    'no',
    '[`details`, and the message](message-states#why-a-message-failed), say why.',
  ],
  invalid_sender: ['no', 'Let the shortcut send the number.'],
  rate_limit_exceeded: ['yes', 'After `Retry-After`.'],
  internal_error: ['yes', 'With the same `Idempotency-Key`. If it stays: `hookline logs`.'],
  no_phone_line: ['later', 'Add a line, or turn one on.'],
  broker_unavailable: ['later', '`hookline doctor` says what it lacks.'],
  storage_full: ['yes', 'After `Retry-After`. The owner frees space.'],
  starting: ['yes', 'After `Retry-After`.'],
  stopping: ['yes', 'After `Retry-After`, with the same `Idempotency-Key`.'],
}

/** The whole guide, in Markdown. */
export function errorsGuide(): string {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const { status, when } = ERRORS[code]
    const [retry, what] = ADVICE[code]
    return `| <a id="${code}"></a>\`${code}\` | ${status} | ${when} | ${retry} | ${what} |`
  })
  const reasons = Object.entries(REASONS).map(([reason, when]) => `| \`${reason}\` | ${when} |`)
  return `# Errors

Every error has one shape. \`code\` and the fields of \`details\` are for programs, and stay as they are. \`message\` is
for people: it says what was wrong and what would be right, and may change.

\`\`\`json
{
  "error": {
    "code": "invalid_recipient",
    "message": "to must be a phone number in international format, … Did you mean +12025550123?",
    "details": {
      "issues": [{ "path": "to", "message": "to must be …", "suggestion": "+12025550123" }],
      "suggestion": "+12025550123"
    },
    "doc_url": "/guide/errors#invalid_recipient",
    "request_id": "req_oACH00dH_1"
  }
}
\`\`\`

- \`details.suggestion\` is what you most likely meant: a number in international format, a field, an event, a status, a
  path. It is left out if that isn't certain. Nothing is accepted by it: send the request again.
- \`details.issues\` lists everything that is wrong with a body or a query. For a body that isn't JSON, \`details.line\` and
  \`details.column\` say where it stops being JSON.
- 405 comes with \`Allow\`, the methods of the path.
- \`doc_url\` is a path of your relay. \`request_id\` is the \`X-Request-Id\` of the answer: the relay's log has details
  under it (\`hookline logs\`).

## Credentials

Every 401 \`unauthorized\` of the API has \`details.reason\`:

| reason | |
|---|---|
${reasons.join('\n')}

## All codes

_Again_ says if the same request can succeed later: _yes_ after \`Retry-After\` or a growing delay, _later_ once a person has
changed something, _no_ not as it is.

| code | status | | again | what to do |
|---|---|---|---|---|
${codes.join('\n')}
`
}
