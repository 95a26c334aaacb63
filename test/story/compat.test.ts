// The compatible APIs on the real relay: who may call them, what they take, and what becomes of a message.

import { expect, test } from 'bun:test'

import { GUIDES } from '../../src/guides/guides.ts'
import { basic, call, keyFor, type Made } from '../support/compat-calls.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ends, TEXTS_ONLY } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'

const ANNA = '+12025550147'
const BOB = '+12025550148'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('every path of a compatible API answers 404 until a key is made for it, and again once it is revoked', async () => {
  await using relay = await startScripted()
  const paths = [
    '/compat/sms/send',
    '/compat/sms/nothing',
    '/v2/send',
    '/compat/signal-cli/v2/send',
  ]
  const statuses = async () => {
    const answers = paths.map((path) => call(relay, path, {}, {}))
    return (await Promise.all(answers)).map(({ status }) => status)
  }

  const before = await statuses()
  const sms = await keyFor(relay, 'sms')
  const withSms = await statuses()
  await relay.request('DELETE', `/api/v1/keys/${sms.id}`)

  expect(before).toEqual([404, 404, 404, 404])
  expect(withSms).toEqual([401, 404, 404, 404])
  expect(await statuses()).toEqual([404, 404, 404, 404])
})

test('a key for one API works only there, and a plain key only in the API of the relay', async () => {
  await using relay = await startScripted()
  const sms = await keyFor(relay, 'sms')
  await keyFor(relay, 'signal-cli')
  const plain = { key: String(relay.key?.key), secret: String(relay.key?.secret) }
  const own = (made: Pick<Made, 'key' | 'secret'>) => ({
    'x-api-key': made.key,
    'x-api-secret': made.secret,
  })

  const answers = [
    await call(relay, '/compat/sms/send', { to: ANNA, text: 'hi' }, basic(sms)),
    await call(relay, '/compat/sms/send', { to: ANNA, text: 'hi' }, basic(plain)),
    await call(relay, '/v2/send', { recipients: [ANNA], message: 'hi' }, basic(sms)),
    await call(relay, '/api/v1/messages', undefined, own(sms)),
    await call(relay, '/mcp', { method: 'initialize' }, { ...own(sms), host: 'localhost' }),
    await call(relay, '/api/v1/messages', undefined, own(plain)),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401, 401, 401, 200])
  expect(relay.texts()).toEqual(['hi'])
})

test('an unknown API is refused with the names of those that exist', async () => {
  await using relay = await startScripted()

  const { status, body } = await relay.post('/api/v1/keys', { for: 'carrier-pigeon' })

  expect([status, body.error.code]).toEqual([400, 'invalid_request'])
  expect(JSON.stringify(body)).toContain('sms, signal-cli')
})

test('a key is made with what the other program asks for, by its own names', async () => {
  await using relay = await startScripted({
    environment: { HOOKLINE_PUBLIC_URL: 'https://relay.example' },
  })

  const sms = await keyFor(relay, 'sms')
  const signal = await keyFor(relay, 'signal-cli')

  expect(sms).toMatchObject({
    for: 'sms',
    scopes: ['messages:read', 'messages:send'],
    connect: {
      url: 'https://relay.example/compat/sms',
      authorization: `Bearer ${sms.key}:${sms.secret}`,
      basic_user: sms.key,
      basic_password: sms.secret,
    },
  })
  expect(signal.connect).toEqual({
    url: `https://${signal.key}:${signal.secret}@relay.example/compat/signal-cli`,
    number: '+12025550801',
  })
})

test.each([
  ['basic', (made: Made) => basic(made)],
  ['bearer', (made: Made) => ({ authorization: `Bearer ${made.key}:${made.secret}` })],
  ['one header', (made: Made) => ({ 'x-api-key': `${made.key}:${made.secret}` })],
  ['two headers', (made: Made) => ({ 'x-api-key': made.key, 'x-api-secret': made.secret })],
])('an SMS form sends with its credentials as %s', async (_form, headersOf) => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')

  const { status, body } = await call(
    relay,
    '/compat/sms/send',
    { to: ANNA, text: 'hi' },
    headersOf(made),
  )

  expect([status, body]).toMatchObject([200, { success: true, status: 'sent' }])
  expect(relay.device.sent.map(({ to, text }) => [to, text])).toEqual([[ANNA, 'hi']])
})

test.each([
  [
    'JSON',
    JSON.stringify({ recipient: ANNA, body: 'Ready.', sender: 'Shop', unknown: { a: 1 } }),
    {},
  ],
  ['a form', `phone=${encodeURIComponent(ANNA)}&message=Ready.&from=Shop`, FORM],
  [
    'JSON with a nested text',
    JSON.stringify({ phoneNumbers: [ANNA], textMessage: { text: 'Ready.' } }),
    {},
  ],
  ['a number of the country', JSON.stringify({ to: '(202) 555-0147', text: 'Ready.' }), {}],
])('an SMS form may send %s', async (_what, text, headers) => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')

  const { status } = await call(relay, '/compat/sms/api/v1/sms/send', text, {
    ...basic(made),
    ...headers,
  })

  expect(status).toBe(200)
  expect(relay.device.sent.map(({ to, text: sent }) => [to, sent])).toEqual([[ANNA, 'Ready.']])
})

test('several recipients are accepted together, or none of them', async () => {
  await using relay = await startScripted({ capacity: 4 })
  const made = await keyFor(relay, 'sms')
  const toAll = (to: string) => call(relay, '/compat/sms/send', { to, text: 'hi' }, basic(made))

  const both = await toAll(`${ANNA}, ${BOB}`)
  const none = await toAll(`${ANNA};12`)

  expect(both.body.messages.map((message: Json) => [message.to, message.status])).toEqual([
    [ANNA, 'sent'],
    [BOB, 'sent'],
  ])
  expect([none.status, none.body.success, none.body.status]).toEqual([400, false, 'failed'])
  expect(relay.device.sent).toHaveLength(2)
})

test('a refusal by the line is a failure that the form reads, and an unknown outcome is not', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')
  relay.device.script = ends({ outcome: 'not_sent', reason: 'no_imessage', blame: 'message' })
  const failed = await call(relay, '/compat/sms/send', { to: ANNA, text: 'one' }, basic(made))
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  const asked = call(relay, '/compat/sms/message', { to: BOB, text: 'two' }, basic(made))
  await relay.clock.advance(600_000)
  const unknown = await asked
  const later = await call(relay, `/compat/sms/message/${unknown.body.id}`, undefined, basic(made))

  expect(failed.body).toMatchObject({ success: false, status: 'failed' })
  expect(failed.body.message).toBeString()
  expect([unknown.status, unknown.body.state, later.body.state]).toEqual([
    202,
    'Processed',
    'Processed',
  ])
})

test("the client's own id makes two equal requests one message", async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')
  const send = (id: string) =>
    call(relay, '/compat/sms/send', { id, to: [ANNA, BOB], text: 'hi' }, basic(made))

  const [first, again, other] = [await send('1'), await send('1'), await send('2')]

  expect(again.body.id).toBe(first.body.id)
  expect(other.body.id).not.toBe(first.body.id)
  await relay.clock.advance(60_000)
  expect(relay.device.sent).toHaveLength(4)
})

test('rules, opt-outs and limits of lines hold as for any key', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const [first] = await relay.lines()
  const made = await keyFor(relay, 'signal-cli', {
    phone_line_ids: [first.id],
    rules: { recipients: 'list', allow: [ANNA] },
  })
  const send = (to: string, number?: string) =>
    call(relay, '/v2/send', { recipients: [to], message: 'hi', number }, basic(made))

  const answers = [
    await send(ANNA, '+12025550801'),
    await send(BOB),
    await send(ANNA, '+12025550802'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([201, 403, 404])
  expect(answers[1]?.body.error).toBeString()
  expect(answers[2]?.body.error).toContain('+12025550801')
})

test("signal-cli's clients send files in base64, as one message for each recipient", async () => {
  await using relay = await startScripted({ capacity: 2 })
  const made = await keyFor(relay, 'signal-cli')
  const about = await call(relay, '/v1/about', undefined, basic(made))

  const { status, body } = await call(
    relay,
    '/compat/signal-cli/v2/send',
    { recipients: [ANNA, BOB], message: 'hi', number: '+12025550801', text_mode: 'styled' },
    basic(made),
  )

  expect(about.body.versions).toContain('v2')
  expect([status, Number(body.timestamp)]).toEqual([201, expect.any(Number)])
  expect(relay.device.sent.map(({ to }) => to)).toEqual([ANNA, BOB] as never[])
})

test('a file needs no text beside it, unless it is the first message to a person', async () => {
  using folder = new ScratchFolder()
  await using relay = await startScripted({
    folder: folder.path,
    capabilities: { ...TEXTS_ONLY, attachments: true },
  })
  const made = await keyFor(relay, 'signal-cli')
  const send = (message: string) => {
    const base64_attachments = ['data:text/plain;filename=menu.txt;base64,c291cA==']
    return call(relay, '/v2/send', { recipients: [ANNA], message, base64_attachments }, basic(made))
  }

  const answers = [await send(''), await send('The menu'), await send('')]

  expect(answers.map(({ status }) => status)).toEqual([400, 201, 201])
  expect(answers[0]?.body.error).toContain('needs a text')
})

test('a program without a field for the recipient names it in the URL, as alerts of Grafana do', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')
  const alert = {
    receiver: 'Owner',
    status: 'firing',
    alerts: [],
    title: '[FIRING:1]',
    message: 'Disk full',
  }

  const sent = await call(relay, '/compat/sms/send?to=%2B12025550147', alert, basic(made))
  const both = await call(
    relay,
    '/compat/sms/send?to=%2B12025550147',
    { to: BOB, text: 'hi' },
    basic(made),
  )

  expect([sent.status, both.status]).toEqual([200, 200])
  expect([sent.body.messages[0].to, both.body.messages[0].to]).toEqual([ANNA, BOB])
  expect(relay.texts()).toEqual(['Disk full', 'hi'])
})

test('the format of a webhook is chosen when it is made, and stays', async () => {
  await using relay = await startScripted()
  const wanted = { url: 'http://127.0.0.1:9/hook', events: ['message.received'] }

  const made = await relay.post('/api/v1/webhooks', { ...wanted, format: 'sms' })
  const path = `/api/v1/webhooks/${made.body.id}`
  const changed = await relay.request('PUT', path, { format: 'signal-cli' })
  const renamed = await relay.request('PUT', path, { description: 'Shop' })
  const plain = await relay.post('/api/v1/webhooks', wanted)

  expect([made.status, made.body.format]).toEqual([201, 'sms'])
  expect([changed.status, changed.body.error.code]).toEqual([400, 'invalid_request'])
  expect(changed.body.error.message).toContain('format')
  expect([renamed.status, renamed.body.format]).toEqual([200, 'sms'])
  expect('format' in plain.body).toBeFalse()
})

test("Apprise sends by the API itself with the guide's URL", async () => {
  await using relay = await startScripted()
  const guide = GUIDES.find(({ name }) => name === 'compatible-apis')?.text ?? ''
  const [line = ''] = /^json:.*$/m.exec(guide) ?? []
  const { key, secret } = { key: String(relay.key?.key), secret: String(relay.key?.secret) }
  const url = line.replace('KEY', key).replace('SECRET', secret)

  const { path, headers, body } = byApprise(url, { title: 'Backup', message: 'It failed' })
  const { status } = await call(relay, path, body, headers)

  expect(status).toBe(200)
  expect(relay.texts()).toEqual(['It failed'])
})

/** The request that Apprise makes of a `json://` URL: `+` is a header, `:` renames a field, adds it, or drops it. */
function byApprise(url: string, text: { readonly title: string; readonly message: string }) {
  const [path = '', query = ''] = url.replace(/^json:\/\/[^/]+/, '').split('?')
  const body: Record<string, unknown> = { version: '1.0', attachments: [], type: 'info', ...text }
  const headers: Record<string, string> = {}
  for (const pair of query.split('&')) {
    const [, kind = '', name = '', value = ''] = /^([+:])([^=]*)=(.*)$/.exec(pair) ?? []
    const given = decodeURIComponent(value)
    if (kind === '+') headers[name] = given
    else if (!(name in body)) body[name] = given
    else {
      if (given !== '') body[given] = body[name]
      delete body[name]
    }
  }
  return { path, headers: { ...headers, 'content-type': 'application/json' }, body }
}
