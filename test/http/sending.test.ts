import { expect, test } from 'bun:test'

import { RelayError, type ErrorCode } from '../../src/domain/errors.ts'
import type { MessageActions } from '../../src/http/messages.ts'
import type { SendAnswer } from '../../src/messages/send.ts'
import { LINE_ID, MESSAGE, createRig, type Rig } from './http-rig.ts'

const SEND = '/api/v1/messages/send'
const BODY = { to: '+12025550147', text: 'Hello' }
const SENT: SendAnswer = {
  kind: 'sent',
  isReplay: false,
  body: JSON.stringify(MESSAGE),
  messageId: MESSAGE.id,
  reason: null,
}

type Request = Parameters<MessageActions['send']>[0]

function rigThatAnswers(answer: SendAnswer): Rig {
  return createRig({ messages: { ...NO_READING, send: () => Promise.resolve(answer) } })
}

const NO_READING = {
  list: () => ({ data: [], has_more: false, next_cursor: null }),
  get: () => MESSAGE,
  resolve: () => Promise.resolve(MESSAGE),
}

/** What the message room was asked when `headers` came with a send. */
async function askedWith(headers: Readonly<Record<string, string>>): Promise<Request | undefined> {
  const rig = createRig()
  await rig.call('POST', SEND, { body: BODY, headers })
  return rig.asked[0]?.[1] as Request | undefined // The stand-in's first argument.
}

test('spec 4.4, 2.3: a message that the line took is 200 with the message, word for word', async () => {
  const rig = rigThatAnswers(SENT)

  const response = await rig.call('POST', SEND, { body: BODY })

  expect(response.status).toBe(200)
  expect(await response.text()).toBe(JSON.stringify(MESSAGE))
  expect(response.headers.get('idempotency-replayed')).toBeNull()
})

test('spec 4.4: a line is named, or left out, or null as if left out', async () => {
  const rig = createRig()

  await rig.call('POST', SEND, { body: { ...BODY, phone_line_id: LINE_ID } })
  await rig.call('POST', SEND, { body: BODY })
  await rig.call('POST', SEND, { body: { ...BODY, phone_line_id: null } })

  const asked = rig.asked.map(([, request]) => (request as Request).lineId)
  expect(asked).toEqual([LINE_ID, null, null])
})

test('a message that waits or is under way is 202', async () => {
  const rig = rigThatAnswers({ ...SENT, kind: 'accepted' })

  const response = await rig.call('POST', SEND, { body: BODY })

  expect(response.status).toBe(202)
  expect(await response.json()).toEqual(MESSAGE)
})

test('a message that the line refused for good is 422 and names it', async () => {
  const rig = rigThatAnswers({ ...SENT, kind: 'send_failed', reason: 'not_on_imessage' })

  const response = await rig.call('POST', SEND, { body: BODY })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    error: {
      code: 'send_failed',
      message: 'The recipient is not on iMessage.',
      details: { message_id: MESSAGE.id, reason: 'not_on_imessage' },
    },
  })
})

test('a first answer that is given again says so', async () => {
  const again = rigThatAnswers({ ...SENT, isReplay: true })
  const refusedAgain = rigThatAnswers({ ...SENT, kind: 'send_failed', isReplay: true })

  const answers = await Promise.all([
    again.call('POST', SEND, { body: BODY }),
    refusedAgain.call('POST', SEND, { body: BODY }),
  ])

  const told = answers.map((answer) => answer.headers.get('idempotency-replayed'))
  expect(told).toEqual(['true', 'true'])
})

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
  test(`Prefer "${preference}" waits ${waitMs ?? 'as configured'}`, async () => {
    const asked = await askedWith({ prefer: preference })

    expect(asked?.waitMs).toBe(waitMs)
  })
}

test('a connection may stay silent for the wait and ten seconds', async () => {
  const rig = createRig({ defaultWaitMs: 15_000 })

  await rig.call('POST', SEND, { body: BODY })
  await rig.call('POST', SEND, { body: BODY, headers: { prefer: 'wait=60' } })
  await rig.call('POST', SEND, { body: BODY, headers: { prefer: 'respond-async' } })

  expect(rig.lifted).toEqual([25, 70, 10])
})

test('an Idempotency-Key goes with the send', async () => {
  const asked = await askedWith({ 'idempotency-key': 'order 1042 ~' })

  expect(asked?.idempotencyKey).toBe('order 1042 ~')
})

for (const key of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
  test(`the Idempotency-Key ${JSON.stringify(key.slice(0, 8))} is refused`, async () => {
    const rig = createRig()

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
    expect(rig.asked).toEqual([])
  })
}

test('whoever asks is the source: a key is the API, the socket the command line', async () => {
  const rig = createRig()

  await rig.call('POST', SEND, { body: BODY })
  await rig.control('POST', SEND, { body: BODY })

  const sources = rig.asked.map(([, request]) => (request as Request).source)
  expect(sources).toEqual(['api', 'cli'])
})

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
    const rig = createRig({ messages: { ...NO_READING, send: () => Promise.reject(error) } })

    const response = await rig.call('POST', SEND, { body: BODY })

    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({
      error: { code, message: 'What was wrong.', details: { limit: 'daily_contacts' } },
    })
    expect(response.headers.get('retry-after')).toBe('30')
  })
}
