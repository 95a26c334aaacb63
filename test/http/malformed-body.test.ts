// What a caller may get wrong in a body, and what it is told. Queries and paths have their own file.

import { expect, test } from 'bun:test'

import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { startHttp, issuesIn, type Issues, type More } from './http-relay.ts'

const SEND = '/api/v1/messages/send'
const JSON_TYPE = { 'content-type': 'application/json' }
const raw = (text: string | Uint8Array<ArrayBuffer>): More => ({ raw: text, headers: JSON_TYPE })
const unstorable = 'must not contain NUL or a lone surrogate'
const noField = 'is not a field of this request'
const badTime = 'must be a time like 2026-11-21T10:00:00.000Z'

const BODIES: readonly (readonly [name: string, more: More, issues: Issues])[] = [
  ['no body', {}, [['', 'The request needs a JSON object as its body.']]],
  ['an empty body', raw(''), [['', 'The request needs a JSON object as its body.']]],
  ['a list', raw('[]'), [['', 'The body must be a JSON object.']]],
  ['null', raw('null'), [['', 'The body must be a JSON object.']]],
  ['text', raw('"x"'), [['', 'The body must be a JSON object.']]],
  ['half an object', raw('{"to":'), [['', 'The body is not valid JSON.']]],
  ['two objects', raw('{}{}'), [['', 'The body is not valid JSON.']]],
  ['deep nesting', raw(`{"to":${'['.repeat(100_000)}`), [['', 'The body is not valid JSON.']]],
  [
    'bytes that are not UTF-8',
    raw(new Uint8Array([0x7b, 0xff, 0x7d])),
    [['', 'The body is not valid UTF-8.']],
  ],
  [
    'nothing in it',
    { body: {} },
    [
      ['to', 'is required'],
      ['text', 'is required'],
    ],
  ],
  [
    'a misspelt field',
    { body: { to: 'a', text: 'b', phone_line: 'c' } },
    [['phone_line', noField]],
  ],
  ['__proto__', raw('{"to":"a","text":"b","__proto__":{"x":1}}'), [['__proto__', noField]]],
  ['constructor', raw('{"to":"a","text":"b","constructor":1}'), [['constructor', noField]]],
  ['a number as text', { body: { to: 'a', text: 5 } }, [['text', 'must be string']]],
  [
    'a number as line',
    { body: { to: 'a', text: 'b', phone_line_id: 1 } },
    [['phone_line_id', 'has the wrong type']],
  ],
  [
    'an empty text',
    { body: { to: 'a', text: '' } },
    [['text', 'must not have fewer than 1 characters']],
  ],
  [
    '20,001 code points',
    { body: { to: 'a', text: '\u{1F600}'.repeat(20_001) } },
    [['text', 'must not have more than 20000 characters']],
  ],
  ['NUL in a text', raw('{"to":"a","text":"b\\u0000"}'), [['text', unstorable]]],
  ['a lone surrogate in a text', raw('{"to":"a","text":"\\ud800"}'), [['text', unstorable]]],
  [
    'a lone surrogate in a list',
    raw('{"to":"a","text":["x",{"y":"\\udc00"}]}'),
    [['text', unstorable]],
  ],
  ['NUL in a name', raw('{"to":"a","text":"b","x\\u0000":1}'), [['', unstorable]]],
  ['NUL in an inner name', raw('{"to":"a","text":{"\\u0000":1}}'), [['text', unstorable]]],
]

for (const [name, more, issues] of BODIES) {
  test(`a send with ${name} is 400 and says why`, async () => {
    await using rig = await startHttp()

    const response = await rig.call('POST', SEND, more)

    expect(response.status).toBe(400)
    expect(await issuesIn(response)).toEqual(issues)
  })
}

test('20,000 code points beyond the basic plane, and an escaped pair, are taken', async () => {
  await using rig = await startHttp()

  const long = await rig.call('POST', SEND, { body: { to: 'a', text: '\u{1F600}'.repeat(20_000) } })
  const pair = await rig.call('POST', SEND, raw('{"to":"a","text":"\\ud83d\\ude00"}'))

  expect(await Promise.all([long, pair].map(codeIn))).toEqual([TAKEN, TAKEN])
})

test('a body nested as deep as it is long is refused, not followed', async () => {
  await using rig = await startHttp()
  const depth = 5_000
  const text = `{"to":"a","text":${'['.repeat(depth)}"\\u0041"${']'.repeat(depth)}}`

  const response = await rig.call('POST', SEND, raw(text))

  expect(response.status).toBe(400)
})

test('of many issues a few are told, with short names', async () => {
  await using rig = await startHttp()
  const names = Array.from({ length: 40 }, (_, i) => `${'n'.repeat(5_000)}${i}`)
  const body = { to: 'a', text: 'b', ...Object.fromEntries(names.map((name) => [name, 1])) }

  const response = await rig.call('POST', SEND, { body })

  const issues = await issuesIn(response)
  expect(issues.length).toBe(8)
  expect(issues.every(([path]) => path.length <= 101)).toBe(true)
})

/** The body was read: `a` is nobody to whom a line can send. */
const TAKEN = 'invalid_recipient'

async function codeIn(response: Response): Promise<string> {
  const body = (await response.json()) as { readonly error: { readonly code: string } }
  return body.error.code
}

const TYPES: readonly (readonly [type: string, code: string])[] = [
  ['application/json', TAKEN],
  ['APPLICATION/JSON', TAKEN],
  ['application/json; charset=utf-8', TAKEN],
  ['application/json;charset="UTF-8"', TAKEN],
  ['application/json; charset=latin1', 'unsupported_media_type'],
  ['application/jsonx', 'unsupported_media_type'],
  ['application/x-www-form-urlencoded', 'unsupported_media_type'],
  ['text/plain', 'unsupported_media_type'],
  ['', 'unsupported_media_type'],
]

for (const [type, code] of TYPES) {
  test(`a body of type "${type}" is ${code}`, async () => {
    await using rig = await startHttp()
    const text = '{"to":"a","text":"b"}'

    const response = await rig.call('POST', SEND, { raw: text, headers: { 'content-type': type } })

    expect(await codeIn(response)).toBe(code)
  })
}

test('a compressed body is 415', async () => {
  await using rig = await startHttp()
  const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }

  const response = await rig.call('POST', SEND, { raw: Bun.gzipSync('{}'), headers })

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
  expect(await answers[1]?.json()).toEqual({
    error: { code: 'payload_too_large', message: 'The body may have 256 KiB at most.' },
  })
})

const OTHERS: readonly (readonly [method: string, path: string, body: unknown, issues: Issues])[] =
  [
    ['PATCH', '/api/v1/phone-lines/x', {}, [['', 'must have at least one field']]],
    [
      'PATCH',
      '/api/v1/phone-lines/x',
      { daily_contact_limit: -1 },
      [['daily_contact_limit', 'must be >= 0']],
    ],
    [
      'PATCH',
      '/api/v1/phone-lines/x',
      { daily_contact_limit: 100_001 },
      [['daily_contact_limit', 'must be <= 100000']],
    ],
    [
      'PATCH',
      '/api/v1/phone-lines/x',
      { daily_contact_limit: '5' },
      [['daily_contact_limit', 'must be integer']],
    ],
    ['PATCH', '/api/v1/phone-lines/x', { is_enabled: 'true' }, [['is_enabled', 'must be boolean']]],
    ['PATCH', '/api/v1/phone-lines/x', { phone_number: '+1' }, [['phone_number', noField]]],
    ['PATCH', '/api/v1/conversations/x', {}, [['automation_paused', 'is required']]],
    [
      'PATCH',
      '/api/v1/conversations/x',
      { automation_paused: 'true' },
      [['automation_paused', 'must be boolean']],
    ],
    [
      'PATCH',
      '/api/v1/conversations/x',
      { automation_paused: null },
      [['automation_paused', 'must be boolean']],
    ],
    [
      'PATCH',
      '/api/v1/conversations/x',
      { automation_paused: true, handle: '+1' },
      [['handle', noField]],
    ],
    ['PUT', '/api/v1/webhooks/x', {}, [['', 'must have at least one field']]],
    ['PUT', '/api/v1/webhooks/x', { is_active: null }, [['is_active', 'must be boolean']]],
    ['POST', '/api/v1/webhooks', { url: 'https://a.example' }, [['events', 'is required']]],
    [
      'POST',
      '/api/v1/webhooks',
      { url: 'https://a.example', events: [] },
      [['events', 'must not have fewer than 1 items']],
    ],
    [
      'POST',
      '/api/v1/webhooks',
      { url: 'https://a.example', events: ['message.sent', 'message.lost'] },
      [['events.1', `must be one of ${EVENT_NAMES.join(', ')}`]],
    ],
    [
      'POST',
      '/api/v1/webhooks',
      { url: 'https://a.example', events: ['message.sent'], secret: 'x' },
      [['secret', noField]],
    ],
    [
      'POST',
      '/api/v1/keys',
      { name: 'n'.repeat(101) },
      [['name', 'must not have more than 100 characters']],
    ],
    [
      'POST',
      '/api/v1/messages/x/resolve',
      { status: 'read' },
      [['status', 'must be one of sent, failed']],
    ],
    ['POST', '/api/v1/webhooks/x/replay', { since: 'yesterday' }, [['since', badTime]]],
    ['POST', '/api/v1/webhooks/x/test', { event: 'message.sent' }, [['event', noField]]],
  ]

for (const [method, path, body, issues] of OTHERS) {
  test(`${method} ${path} with ${JSON.stringify(body).slice(0, 60)} is 400 and says why`, async () => {
    await using rig = await startHttp()

    const response = await rig.call(method, path, { body })

    expect(response.status).toBe(400)
    expect(await issuesIn(response)).toEqual(issues)
  })
}
