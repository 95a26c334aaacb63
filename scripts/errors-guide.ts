// Writes src/guides/errors.md from the table of error codes.

import { ERRORS } from '../src/api/errors.ts'

export const ERRORS_GUIDE = `${import.meta.dir}/../src/guides/errors.md`

const REASONS = {
  missing: 'Neither `X-API-Key` nor `X-API-Secret` came.',
  missing_key: 'Only `X-API-Secret` came.',
  missing_secret: 'Only `X-API-Key` came.',
  wrong_header: 'The key came in `Authorization`, which only [`/mcp`](mcp#by-http) takes.',
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

/** The whole guide, in Markdown. */
export function errorsGuide(): string {
  const codes = Object.entries(ERRORS).map(
    ([code, { status, when }]) => `| <a id="${code}"></a>\`${code}\` | ${status} | ${when} |`,
  )
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

| code | status | |
|---|---|---|
${codes.join('\n')}
`
}

if (import.meta.main) await Bun.write(ERRORS_GUIDE, errorsGuide())
