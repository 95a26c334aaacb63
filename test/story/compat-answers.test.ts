// What clients of compatible APIs are answered: errors in their own form, and outcomes that make nobody send twice.

import { expect, test } from 'bun:test'

import { sidOf } from '../../src/compat/twilio/ids.ts'
import { basic, call, keyFor, type Made } from '../support/compat-calls.ts'
import { eventually } from '../support/eventually.ts'
import { HOUR_MS, makeKey } from '../support/limited-keys.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, ends, TEXTS_ONLY } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { accountOn, ask } from '../support/twilio-calls.ts'

const ANNA = '+12025550147'
const BOB = '+12025550148'
const REFUSED = ends({ outcome: 'not_sent', reason: 'no_imessage', blame: 'message' })

async function answersOf(relay: ScriptedRelay, root: string, made: Made) {
  const send = `${root}/${root.endsWith('sms') ? 'send' : 'v2/send'}`
  const asked: readonly (readonly [string, RequestInit])[] = [
    [`${root}/nothing`, { method: 'POST', headers: { accept: 'text/html' } }],
    [root, { method: 'GET', headers: basic(made) }],
    [send, { method: 'DELETE', headers: basic(made) }],
    [send, { method: 'POST', headers: { ...basic(made), origin: 'https://other.example' } }],
    [send, { method: 'POST', headers: {} }],
    [send, { method: 'POST', headers: basic(made), body: '{' }],
    [send, { method: 'POST', headers: basic(made), body: '{}' }],
  ]
  const responses = await Promise.all(asked.map(([path, init]) => relay.fetch(path, init)))
  const bodies = await Promise.all(responses.map((response): Promise<Json> => response.json()))
  return { responses, bodies }
}

const STATUSES = [404, 404, 405, 403, 401, 400, 400]

test('every error of an SMS gateway is in the form that its clients read, also without a route', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')

  const { responses, bodies } = await answersOf(relay, '/compat/sms', made)

  expect(responses.map(({ status }) => status)).toEqual(STATUSES)
  expect(responses[2]?.headers.get('allow')).toBe('POST')
  for (const { code, error, message, ...others } of bodies) {
    expect(others).toEqual({ success: false, status: 'failed' })
    expect([typeof code, typeof error, message]).toEqual(['string', 'string', error])
  }
})

test('every error of signal-cli is in the form that its clients read, also without a route', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'signal-cli')

  const { responses, bodies } = await answersOf(relay, '/compat/signal-cli', made)

  expect(responses.map(({ status }) => status)).toEqual(STATUSES)
  for (const { error, ...others } of bodies) expect([typeof error, others]).toEqual(['string', {}])
})

test('one person in two spellings is one recipient', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')
  const to = [ANNA, '(202) 555-0147', '202-555-0147']

  const { body } = await call(relay, '/compat/sms/send', { to, text: 'hi' }, basic(made))
  await relay.clock.advance(60_000)

  expect(body.messages).toHaveLength(1)
  expect(relay.texts()).toEqual(['hi'])
})

test('a request with one refused recipient is no failure, because its client would send to all again', async () => {
  await using relay = await startScripted({ capacity: 2 })
  const made = await keyFor(relay, 'sms')
  relay.device.script = (message, ...rest) =>
    (message.to === (ANNA as never) ? REFUSED : accepts)(message, ...rest)
  const send = (path: string, to: readonly string[]) =>
    call(relay, path, { to, text: 'hi' }, basic(made))

  const both = await send('/compat/sms/send', [ANNA, BOB])
  const gate = await send('/compat/sms/message', [ANNA, BOB])
  const none = await send('/compat/sms/message', [ANNA])

  expect(both.body).toMatchObject({ success: true, status: 'sent', message: expect.any(String) })
  expect(both.body.messages.map(({ status }: Json) => status)).toEqual(['failed', 'sent'])
  expect([gate.body.state, none.body.state]).toEqual(['Sent', 'Failed'])
})

test('a message that waits for approval was accepted, and one that was denied or expired has failed', async () => {
  await using relay = await startScripted()
  const rules = { approval: 'always' }
  const made = await keyFor(relay, 'sms', { rules })
  const signal = await keyFor(relay, 'signal-cli', { rules })
  const path = '/compat/sms/message'
  const send = async () => (await call(relay, path, { to: ANNA, text: 'hi' }, basic(made))).body
  const stateOf = async ({ id }: Json) =>
    (await call(relay, `${path}/${id}`, undefined, basic(made))).body.state
  const body = { recipients: [ANNA], message: 'hi' }

  const [denied, expired] = [await send(), await send()]
  const plain = await call(relay, '/compat/sms/send', { to: ANNA, text: 'hi' }, basic(made))
  const bySignal = await call(relay, '/v2/send', body, basic(signal))
  await relay.post(`/api/v1/messages/${denied.id}/deny`, {})
  const states = [await stateOf(denied), await stateOf(expired)]
  await relay.clock.advance(25 * HOUR_MS)

  expect([denied.state, expired.state]).toEqual(['Pending', 'Pending'])
  expect(plain.body).toMatchObject({ success: true, status: 'queued' })
  expect(bySignal.status).toBe(201)
  expect(states).toEqual(['Failed', 'Pending'])
  expect(await stateOf(expired)).toBe('Failed')
  expect(relay.texts()).toEqual([])
})

test('a number is an id of a request, and an empty text is none', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')
  const send = (id: unknown) =>
    call(relay, '/compat/sms/send', { id, to: ANNA, text: 'hi' }, basic(made))

  const answers = [await send(7), await send(7), await send(''), await send('')]
  const ids = answers.map(({ body }) => body.id)

  expect(ids[1]).toBe(ids[0])
  expect(new Set(ids).size).toBe(3)
})

test('an id that is no id of a sent message is not found', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'sms')
  await relay.device.receive({ guid: 'a', handle: ANNA as never })
  const { data } = await relay.get('/api/v1/messages?type=all')
  const ids = ['.,', '..,x', ',', '%252e', '%2F..', 'nothing', data[0].id]
  const ask = (id: string) => call(relay, `/compat/sms/message/${id}`, undefined, basic(made))

  const answers = await Promise.all(ids.map(ask))

  expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 404))
})

test('files that are no texts are refused, and a repeated request means the files that it brought before', async () => {
  using folder = new ScratchFolder()
  const capabilities = { ...TEXTS_ONLY, attachments: true }
  await using relay = await startScripted({ folder: folder.path, capabilities })
  const made = await keyFor(relay, 'signal-cli')
  const send = (files: unknown, key: string) => {
    const body = { recipients: [ANNA], message: 'hi', base64_attachments: files }
    return call(relay, '/v2/send', body, { ...basic(made), 'idempotency-key': key })
  }
  const soup = 'data:text/plain;filename=menu.txt;base64,c291cA=='

  const refused = [await send([{ toString: 1 }], 'a'), await send([''], 'b'), await send(7, 'c')]
  const [first, again] = [await send([soup, soup], 'd'), await send([soup, soup], 'd')]
  const other = await send(['c3RldyE='], 'd')

  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400])
  expect([first.status, again.status, other.status]).toEqual([201, 201, 409])
  expect(again.body).toEqual(first.body)
  expect(relay.texts()).toEqual(['hi'])
})

test('a message of which a part arrived has not failed, because its client would send all of it again', async () => {
  using folder = new ScratchFolder()
  const capabilities = { ...TEXTS_ONLY, attachments: true }
  await using relay = await startScripted({ folder: folder.path, capabilities })
  const made = await keyFor(relay, 'signal-cli')
  const twilio = await accountOn(relay)
  relay.device.script = ({ attachments = [] }, ...rest) => {
    const sent = attachments.map(({ id }) => id)
    return ends({ outcome: 'partly_sent', reason: 'send_timed_out', sent })({} as never, ...rest)
  }
  const body = { recipients: [ANNA], message: 'hi', base64_attachments: ['c291cA=='] }

  const sent = await call(relay, '/v2/send', body, basic(made))
  const [{ id }] = sent.body.messages
  const own = await relay.message(id)
  const seen = await ask(relay, twilio, `/Messages/${sidOf('SM', id)}.json`)

  expect([own.status, own.error.code]).toEqual(['failed', 'partly_sent'])
  expect([sent.status, sent.body.messages]).toEqual([
    201,
    [{ id, recipient: ANNA, status: 'uncertain' }],
  ])
  expect(seen.body).toMatchObject({ status: 'sending', error_code: null })
})

test('a send whose file has no place now is refused with the time after which to try again', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'signal-cli')
  const held = Promise.withResolvers<void>()
  const open = () =>
    new ReadableStream({ pull: (stream) => held.promise.then(() => stream.close()) })
  const keys = await Promise.all([1, 2, 3, 4].map(() => makeKey(relay, {})))
  const uploads = keys.flatMap(({ headers }) =>
    Array.from({ length: 16 }, () =>
      relay.fetch('/api/v1/attachments?filename=a.txt', { method: 'POST', headers, body: open() }),
    ),
  )
  await eventually('every place is taken', async () => {
    const more = await relay.request('POST', '/api/v1/attachments?filename=b.txt', 'x')
    return more.status === 429 ? true : null
  })

  const body = { recipients: [ANNA], message: 'The menu', base64_attachments: ['aGVsbG8='] }
  const refused = await relay.fetch('/v2/send', {
    method: 'POST',
    headers: { ...basic(made), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  held.resolve()
  await Promise.all(uploads)

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  expect(relay.texts()).toEqual([])
})
