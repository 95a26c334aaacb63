// The headers of a send, and the statuses of errors. What a send does is in test/spec.

import { expect, test } from 'bun:test'

import { RelayError, type ErrorCode } from '../../src/domain/errors.ts'
import { errorResponse } from '../../src/http/respond.ts'
import { preferredWaitMs } from '../../src/http/sending.ts'
import { startHttp } from './http-relay.ts'

const SEND = '/api/v1/messages/send'
const BODY = { to: '+12025550147', text: 'Hello' }
const PREFERENCES: readonly (readonly [string, number | null])[] = [
  ['wait=5', 5_000],
  ['wait=0', 0],
  ['Wait = 7', 7_000],
  ['wait="8"', 8_000],
  ['wait=3600', 60_000],
  ['respond-async', 0],
  ['respond-async, wait=10', 10_000],
  ['return=minimal; foo="a", wait=4', 4_000],
  ['wait=1, wait=9', 1_000],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait=soon', null],
  ['wait', null],
  ['', null],
]

for (const [preference, waitMs] of PREFERENCES) {
  test(`Prefer "${preference}" waits ${waitMs ?? 'as configured'}`, () => {
    expect(preferredWaitMs(new Headers({ prefer: preference }))).toBe(waitMs)
  })
}

test('a connection may stay silent for the wait and ten seconds', async () => {
  await using rig = await startHttp()

  await rig.call('POST', SEND, { body: BODY })
  await rig.call('POST', SEND, { body: BODY, headers: { prefer: 'wait=60' } })
  await rig.call('POST', SEND, { body: BODY, headers: { prefer: 'respond-async' } })

  expect(rig.lifted).toEqual([25, 70, 10])
})

for (const key of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
  test(`the Idempotency-Key ${JSON.stringify(key.slice(0, 8))} is refused`, async () => {
    await using rig = await startHttp()

    const response = await rig.call('POST', SEND, {
      body: BODY,
      headers: { 'idempotency-key': key },
    })

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        code: 'invalid_request',
        details: {
          issues: [
            { path: 'Idempotency-Key', message: 'must have 1 to 255 printable ASCII characters' },
          ],
        },
      },
    })
  })
}

const STATUSES: readonly (readonly [ErrorCode, number])[] = [
  ['invalid_request', 400],
  ['invalid_recipient', 400],
  ['unauthorized', 401],
  ['not_found', 404],
  ['phone_line_not_found', 404],
  ['method_not_allowed', 405],
  ['idempotency_conflict', 409],
  ['automation_paused', 409],
  ['phone_line_in_use', 409],
  ['phone_line_disabled', 409],
  ['not_uncertain', 409],
  ['webhook_inactive', 409],
  ['payload_too_large', 413],
  ['unsupported_media_type', 415],
  ['misdirected_request', 421],
  ['send_failed', 422],
  ['rate_limit_exceeded', 429],
  ['internal_error', 500],
  ['no_phone_line', 503],
  ['storage_full', 503],
  ['starting', 503],
  ['stopping', 503],
]

for (const [code, status] of STATUSES) {
  test(`spec 7: ${code} is ${status}, in the one shape`, async () => {
    const error = new RelayError(code, 'What was wrong.', {
      details: { limit: 'daily_contacts' },
      retryAfterSeconds: 30,
    })

    const response = errorResponse(error, 'req_1')

    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({
      error: { code, message: 'What was wrong.', details: { limit: 'daily_contacts' } },
    })
    expect(response.headers.get('retry-after')).toBe('30')
  })
}
