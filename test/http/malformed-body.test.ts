// What a caller may get wrong in a body, and the answer to it. Queries and paths have their own file.

import { expect, test } from 'bun:test'

import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { startHttp, issuesIn, type HttpRelay, type More } from './http-relay.ts'

const SEND = '/api/v1/messages/send'
const JSON_TYPE = { 'content-type': 'application/json' }
const raw = (text: string | Uint8Array<ArrayBuffer>): More => ({ raw: text, headers: JSON_TYPE })
/** The fields of a send beside the odd ones. */
const SOME = { to: 'a', text: 'b' }
const needed = ': The request needs a JSON object as its body.'
const notObject = ': The body must be a JSON object.'
const notJson = (where: string) => `: The body is not valid JSON: ${where}.`
const unstorable = 'must not contain NUL or a lone surrogate'
const noField = 'is not a field of this request'
const sendFields = 'to, text, attachments, send_at, reply_to, service, phone_line_id'

/** As deep as it is long. */
const DEEP = `{"to":"a","text":${'['.repeat(5_000)}"\\u0041"${']'.repeat(5_000)}}`

/** Each with what is reported of it. */
const BODIES: readonly (readonly [name: string, more: More, told: string])[] = [
  ['no body', {}, needed],
  ['an empty body', raw(''), needed],
  ['a list', raw('[]'), notObject],
  ['null', raw('null'), notObject],
  ['text', raw('"x"'), notObject],
  ['half an object', raw('{"to":'), notJson('line 1, column 7: it ends too early')],
  ['two objects', raw('{}{}'), notJson('line 1, column 3: the object ends before this')],
  ['deep nesting', raw(`{"to":${'['.repeat(100_000)}`), ': The body is not valid JSON.'],
  // Refused, not followed.
  ['an escape in deep nesting', raw(DEEP), 'text: must be string, such as "Your table is ready."'],
  ['bytes', raw(new Uint8Array([0x7b, 0xff, 0x7d])), ': The body is not valid UTF-8.'],
  ['nothing in it', { body: {} }, 'to: is required; text: is required'],
  ['a misspelt field', { body: { ...SOME, phone_line: 'c' } }, `phone_line: ${noField}`],
  [
    '__proto__',
    raw('{"to":"a","text":"b","__proto__":{"x":1}}'),
    `__proto__: ${noField}, which takes ${sendFields}`,
  ],
  [
    'constructor',
    raw('{"to":"a","text":"b","constructor":1}'),
    `constructor: ${noField}, which takes ${sendFields}`,
  ],
  [
    'a number as text',
    { body: { ...SOME, text: 5 } },
    'text: must be string, such as "Your table is ready."',
  ],
  [
    'a number as line',
    { body: { ...SOME, phone_line_id: 1 } },
    'phone_line_id: has the wrong type: it must be like "line_01k5c3qv7yfxn8t2w9r4d6m0ab"',
  ],
  ['an empty text', { body: { ...SOME, text: '' } }, 'text: must not be empty'],
  [
    '20,001 code points',
    { body: { ...SOME, text: '\u{1F600}'.repeat(20_001) } },
    'text: must not have more than 20000 characters; this has 20001',
  ],
  ['NUL in a text', raw('{"to":"a","text":"b\\u0000"}'), `text: ${unstorable}`],
  ['a lone surrogate', raw('{"to":"a","text":"\\ud800"}'), `text: ${unstorable}`],
  ['one in a list', raw('{"to":"a","text":["x",{"y":"\\udc00"}]}'), `text: ${unstorable}`],
  ['NUL in a name', raw('{"to":"a","text":"b","x\\u0000":1}'), `: ${unstorable}`],
  ['NUL in an inner name', raw('{"to":"a","text":{"\\u0000":1}}'), `text: ${unstorable}`],
]

/** One for each sentence that a send does not meet, and bodies that have no field at all. */
const OTHERS: readonly (readonly [method: string, path: string, body: object, told: string])[] = [
  ['PATCH', 'phone-lines/x', {}, ': must have at least one field'],
  ['PATCH', 'phone-lines/x', { daily_contact_limit: -1 }, 'daily_contact_limit: must be >= 0'],
  ['PATCH', 'phone-lines/x', { is_enabled: 'true' }, 'is_enabled: must be boolean'],
  ['POST', 'webhooks', { url: 'https://a.example', events: [] }, 'events: must not be empty'],
  [
    'POST',
    'webhooks',
    { url: 'https://a.example', events: ['message.sent', 'message.lost'] },
    `events.1: must be one of ${EVENT_NAMES.join(', ')}`,
  ],
  ['POST', 'messages/x/resolve', { status: 'read' }, 'status: must be one of sent, failed'],
  [
    'POST',
    'webhooks/x/replay',
    { since: 'yesterday' },
    'since: must be a time like 2026-11-21T10:00:00.000Z',
  ],
  ['POST', 'webhooks/x/test', { event: 'message.sent' }, `event: ${noField}`],
]

async function told(response: Response): Promise<string> {
  const issues = await issuesIn(response)
  return issues.map(([path, message]) => `${path}: ${message}`).join('; ')
}

test('a body that does not fit is 400, and each thing that is wrong is reported', async () => {
  await using rig = await startHttp()

  for (const [name, more, wanted] of BODIES) {
    const response = await rig.call('POST', SEND, more)
    expect([name, response.status, await told(response)]).toEqual([name, 400, wanted])
  }
  for (const [method, path, body, wanted] of OTHERS) {
    const response = await rig.call(method, `/api/v1/${path}`, { body })
    expect([path, response.status, await told(response)]).toEqual([path, 400, wanted])
  }
})

test('20,000 code points beyond the basic plane, and an escaped pair, are taken', async () => {
  await using rig = await startHttp()

  const codes = [
    await codeOf(rig, { body: { to: 'a', text: '\u{1F600}'.repeat(20_000) } }),
    await codeOf(rig, raw('{"to":"a","text":"\\ud83d\\ude00"}')),
  ]

  expect(codes).toEqual([TAKEN, TAKEN])
})

test('of many issues a few are reported, with short names', async () => {
  await using rig = await startHttp()
  const names = Array.from({ length: 40 }, (_, i) => `${'n'.repeat(5_000)}${i}`)
  const body = { ...SOME, ...Object.fromEntries(names.map((name) => [name, 1])) }

  const response = await rig.call('POST', SEND, { body })

  const issues = await issuesIn(response)
  expect(issues.length).toBe(8)
  expect(issues.every(([path]) => path.length <= 101)).toBe(true)
})

/** The body was read: `a` is nobody to whom a line can send. */
const TAKEN = 'invalid_recipient'

async function codeOf(rig: HttpRelay, more: More): Promise<string> {
  const response = await rig.call('POST', SEND, more)
  const body = (await response.json()) as { readonly error: { readonly code: string } }
  return body.error.code
}

const TYPES = {
  'application/json': TAKEN,
  'APPLICATION/JSON': TAKEN,
  'application/json; charset=utf-8': TAKEN,
  'application/json;charset="UTF-8"': TAKEN,
  'application/json; charset=latin1': 'unsupported_media_type',
  'application/jsonx': 'unsupported_media_type',
  'application/x-www-form-urlencoded': 'unsupported_media_type',
  'text/plain': 'unsupported_media_type',
  '': 'unsupported_media_type',
}

test('a body is JSON in UTF-8 by its type, and not compressed', async () => {
  await using rig = await startHttp()
  const text = '{"to":"a","text":"b"}'
  const zipped = { ...JSON_TYPE, 'content-encoding': 'gzip' }
  const codes: Record<string, string> = {}

  for (const type of Object.keys(TYPES)) {
    codes[type] = await codeOf(rig, { raw: text, headers: { 'content-type': type } })
  }
  const response = await rig.call('POST', SEND, { raw: Bun.gzipSync('{}'), headers: zipped })

  expect(codes).toEqual(TYPES)
  expect(response.status).toBe(415)
})

test('256 KiB are taken and one byte more is 413', async () => {
  await using rig = await startHttp()
  const bodyOf = (bytes: number) => raw(`{"to":"a","text":"b"${' '.repeat(bytes - 21)}}`)

  const answers = await Promise.all([
    rig.call('POST', SEND, bodyOf(262_144)),
    rig.call('POST', SEND, bodyOf(262_145)),
  ])

  expect(answers.map((answer) => answer.status)).toEqual([400, 413])
  expect(await answers[1]?.json()).toMatchObject({
    error: { code: 'payload_too_large', message: 'The body may have 256 KiB at most.' },
  })
})
