// The mistakes that people make with an API, and the words by which the answer names the fix.

import { expect, test } from 'bun:test'

import { type Json } from '../support/test-relay.ts'
import { startHttp } from './http-relay.ts'

const SEND = 'POST /api/v1/messages/send'
const TO = '+12025550123'
const TEXT = 'Hi'

type Mistake = {
  readonly call: string
  readonly body?: unknown
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
  /** A part of the message. */
  readonly says: string
  readonly suggestion?: string
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'a number as people write it': {
    call: SEND,
    body: { to: '(202) 555-0123', text: TEXT },
    says: 'Did you mean +12025550123?',
    suggestion: TO,
  },
  'a number without its plus': {
    call: SEND,
    body: { to: '12025550123', text: TEXT },
    says: 'such as +12025550123',
    suggestion: TO,
  },
  'the field names of another API': {
    call: SEND,
    body: { phone: TO, message: TEXT },
    says: 'phone: is not a field of this request. Did you mean to?',
    suggestion: 'to',
  },
  'a field in camel case': {
    call: SEND,
    body: { to: TO, text: TEXT, phoneLineId: 'line_1' },
    says: 'Did you mean phone_line_id?',
    suggestion: 'phone_line_id',
  },
  'a misspelled field': {
    call: SEND,
    body: { to: TO, txet: TEXT },
    says: 'txet: is not a field of this request. Did you mean text?',
    suggestion: 'text',
  },
  'single quotes': {
    call: SEND,
    raw: `{'to':'${TO}'}`,
    says: 'line 1, column 2: names and texts need',
  },
  'a comma at the end': {
    call: SEND,
    raw: `{\n  "to": "${TO}",\n  "text": "Hi",\n}`,
    says: 'line 4, column 1: remove the comma before }.',
  },
  'a missing comma': {
    call: SEND,
    raw: `{"to":"${TO}" "text":"Hi"}`,
    says: 'line 1, column 22: a comma is missing before this.',
  },
  'a line break in a text': { call: SEND, raw: `{"to":"${TO}","text":"a\nb"}`, says: 'as \\n' },
  'a list of recipients': {
    call: SEND,
    body: { to: [TO], text: TEXT },
    says: `to: must be string, such as "+12025550147"`,
  },
  'no text': { call: SEND, body: { to: TO, text: '' }, says: 'text: must not be empty' },
  'a text that is too long': {
    call: SEND,
    body: { to: TO, text: 'x'.repeat(30_000) },
    says: 'must not have more than 20000 characters; this has 30000',
  },
  'the id of an attachment alone': {
    call: SEND,
    body: { to: TO, text: TEXT, attachments: ['att_1'] },
    says: 'attachments.0: has the wrong type: it must be like {"id":"att_',
  },
  'a time of day for people': {
    call: 'PATCH /api/v1/phone-lines/line_1',
    body: { quiet_hours: { from: '9pm', to: '08:00' } },
    says: 'quiet_hours.from: must be like "21:00"',
  },
  'a misspelled event': {
    call: 'POST /api/v1/webhooks',
    body: { url: 'https://a.example', events: ['message.recieved'] },
    says: 'Did you mean message.received?',
    suggestion: 'message.received',
  },
  'the status of another API': {
    call: 'GET /api/v1/messages?status=pending',
    says: 'Did you mean queued?',
    suggestion: 'queued',
  },
  'an event that does not exist, in a filter': {
    call: 'GET /api/v1/events?types=message.recieved',
    says: 'Did you mean message.received?',
    suggestion: 'message.received',
  },
  'pages by number': {
    call: 'GET /api/v1/messages?page=2',
    says: 'page: is not a parameter of this route. Did you mean cursor?',
    suggestion: 'cursor',
  },
  'a parameter of another route': {
    call: 'GET /api/v1/conversations?q=x',
    says: 'which takes limit, cursor, ',
  },
  'a scope of another API': {
    call: 'POST /api/v1/keys',
    body: { scopes: ['messages:write'] },
    says: 'Did you mean messages:send?',
    suggestion: 'messages:send',
  },
  'GET for POST': {
    call: 'GET /api/v1/messages/send',
    status: 405,
    says: 'This path takes POST.',
  },
  'POST to the list': {
    call: 'POST /api/v1/messages',
    body: {},
    status: 405,
    says: 'This path takes GET, HEAD. Did you mean /api/v1/messages/send?',
    suggestion: '/api/v1/messages/send',
  },
  'a path without its beginning': {
    call: 'POST /messages/send',
    status: 404,
    says: 'Did you mean /api/v1/messages/send?',
    suggestion: '/api/v1/messages/send',
  },
  'a misspelled path': {
    call: 'GET /api/v1/mesages/msg_1',
    status: 404,
    says: 'Did you mean /api/v1/messages/msg_1?',
    suggestion: '/api/v1/messages/msg_1',
  },
  'a path in capitals': {
    call: 'GET /api/v1/Phone-Lines',
    status: 404,
    says: 'Did you mean /api/v1/phone-lines?',
    suggestion: '/api/v1/phone-lines',
  },
  'a form in place of JSON': {
    call: SEND,
    raw: 'to=%2B12025550123&text=Hi',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    says: 'Send "Content-Type: application/json".',
  },
  'the secret of the key alone': {
    call: 'GET /api/v1/messages',
    headers: { 'x-api-key': '' },
    status: 401,
    says: 'X-API-Key is missing. Send the key in X-API-Key and its secret in X-API-Secret.',
  },
  'a key in the address': {
    call: 'GET /api/v1/messages?api_key=hl_live_x',
    headers: { 'x-api-key': '', 'x-api-secret': '' },
    status: 401,
    says: 'Credentials in a URL are not read.',
  },
}

for (const [name, mistake] of Object.entries(MISTAKES)) {
  test(`${name}: the answer names the fix`, async () => {
    const { call, body, raw, headers = {}, status = 400, says, suggestion } = mistake
    await using rig = await startHttp({
      environment: { HOOKLINE_SIMULATED_LINES: '1' },
      drivers: 'own',
    })
    await rig.clock.advance(1_000)
    const [method = '', path = ''] = call.split(' ')
    const type = raw === undefined ? {} : { 'content-type': 'application/json' }

    const answer = await rig.call(method, path, {
      ...(raw === undefined ? { body } : { raw }),
      headers: { ...type, ...headers },
    })

    const { error }: Json = await answer.json()
    expect(answer.status).toBe(status)
    expect(error.message).toContain(says)
    expect(error.details?.suggestion).toBe(suggestion)
    expect(error.doc_url).toBe(`/guide/errors#${error.code}`)
    expect(error.request_id).toBe(answer.headers.get('x-request-id'))
    expect(answer.headers.has('allow')).toBe(status === 405)
  })
}
