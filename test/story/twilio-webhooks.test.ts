// Twilio's webhooks on the real relay: callbacks of messages, received messages, and replies in TwiML.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { HOUR_MS } from '../support/limited-keys.ts'
import { ends } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { accountOn, ask, create, twiml, type Account } from '../support/twilio-calls.ts'
import { parametersOf, signatureFor } from '../support/twilio-signature.ts'

const ANNA = '+12025550147'
const BOB = '+12025550148'
const LINE = '+12025550801'
const CALLBACK = 'https://shop.example/status'
const INBOUND = 'https://shop.example/sms'

async function receive(relay: ScriptedRelay, text = 'hello', guid = text): Promise<void> {
  await relay.device.receive({ guid, handle: ANNA as never, text })
  await relay.clock.advance(5_000)
}

/** Waits until so many deliveries to the webhook have succeeded: the parser of replies is loaded when it is needed. */
async function delivered(relay: ScriptedRelay, webhook: Json, count: number): Promise<void> {
  const path = `/api/v1/webhooks/${webhook.id}/deliveries?limit=200`
  await eventually(`${count} deliveries`, async () => {
    await relay.clock.advance(1_000)
    const { data } = await relay.get(path)
    const attempts = data
      .filter(({ status }: Json) => status === 'succeeded')
      .map(({ attempt_count: made }: Json) => made)
    return attempts.reduce((sum: number, made: number) => sum + made, 0) >= count || null
  })
  await relay.clock.advance(60_000)
}

const inbound = (keyId?: string) => ({
  url: INBOUND,
  events: ['message.received'],
  format: 'twilio',
  ...(keyId === undefined ? {} : { key_id: keyId }),
})

const addInbound = (relay: ScriptedRelay, more: object = {}) =>
  relay.post('/api/v1/webhooks', { ...inbound(), ...more })

test('a callback gets each step of its message, signed with the token, at its own address', async () => {
  await using relay = await startScripted()
  const account = await accountOn(relay)
  const one = await create(relay, account, {
    To: ANNA,
    Body: 'a',
    StatusCallback: `${CALLBACK}?n=1`,
  })
  const two = await create(relay, account, {
    To: BOB,
    Body: 'b',
    StatusCallback: `${CALLBACK}?n=2`,
  })
  await create(relay, account, { To: BOB, Body: 'without' })
  await relay.clock.advance(60_000)

  const { posts } = relay.sink

  expect(posts.map(({ url, body }) => [url, parametersOf({ body })])).toEqual(
    [one, two].map(({ body: { sid, to } }, place) => [
      `${CALLBACK}?n=${place + 1}`,
      {
        MessageSid: sid,
        SmsSid: sid,
        SmsMessageSid: sid,
        AccountSid: account.sid,
        ApiVersion: '2010-04-01',
        From: LINE,
        To: to,
        MessageStatus: 'sent',
        SmsStatus: 'sent',
      },
    ]),
  )
  for (const { url, body, headers, id } of posts) {
    expect(headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signatureFor({ url, body }, account.made.secret),
      'i-twilio-idempotency-token': id,
    })
  }
})

test('callbacks of one key and address are one webhook, which is not listed and counts', async () => {
  await using relay = await startScripted()
  const [first, second] = [await accountOn(relay), await accountOn(relay)]
  const send = (account: Account, n: number) =>
    create(relay, account, { To: ANNA, Body: 'a', StatusCallback: `${CALLBACK}?n=${n}` })
  for (const n of [1, 2, 3]) await send(first, n)
  await send(second, 4)
  await relay.clock.advance(60_000)

  const { data: created } = await relay.get('/api/v1/audit?action=webhook.created')
  const [made] = created
  const path = `/api/v1/webhooks/${made.about.id}`

  expect(created).toHaveLength(2)
  expect(await relay.get('/api/v1/webhooks')).toMatchObject({ data: [] })
  expect(await relay.get(path)).toMatchObject({ url: CALLBACK, format: 'twilio' })
  expect((await relay.request('PUT', path, { url: INBOUND })).status).toBe(400)
  expect((await relay.post(`${path}/replay`, { since: '2026-01-01T00:00:00Z' })).status).toBe(400)
  expect(relay.sink.posts).toHaveLength(4)
})

test('a callback that the relay turned off works again with the next message that names it', async () => {
  await using relay = await startScripted()
  const account = await accountOn(relay)
  const send = () => create(relay, account, { To: ANNA, Body: 'a', StatusCallback: CALLBACK })
  relay.sink.answer = () => 410
  await send()
  await relay.clock.advance(HOUR_MS / 4)
  const { data } = await relay.get('/api/v1/audit?action=webhook.created')
  const path = `/api/v1/webhooks/${data[0].about.id}`
  const off = await relay.get(path)
  relay.sink.answer = () => 200
  const before = relay.sink.posts.length

  await send()
  await relay.clock.advance(HOUR_MS)

  expect([off.is_active, off.disabled_reason]).toEqual([false, 'gone'])
  expect(await relay.get(path)).toMatchObject({ is_active: true, disabled_reason: null })
  // The one that waited comes too.
  expect(relay.sink.posts).toHaveLength(before + 2)
  const { data: created } = await relay.get('/api/v1/audit?action=webhook.created')
  expect(created).toHaveLength(1)
})

test('a refused send leaves no callback', async () => {
  await using relay = await startScripted()
  const account = await accountOn(relay, { rules: { recipients: 'list', allow: [BOB] } })

  const { status } = await create(relay, account, { To: ANNA, Body: 'a', StatusCallback: CALLBACK })

  expect(status).toBe(400)
  expect((await relay.get('/api/v1/audit?action=webhook.created')).data).toEqual([])
})

test('a key without the scopes for webhooks, or for private addresses, makes no such callback', async () => {
  await using relay = await startScripted()
  const scopes = ['messages:read', 'messages:send']
  const narrow = await accountOn(relay, { scopes })
  const outside = await accountOn(relay, { scopes: [...scopes, 'webhooks:write'] })
  const send = (account: Account, url: string) =>
    create(relay, account, { To: ANNA, Body: 'a', StatusCallback: url })

  const answers = [
    await send(narrow, CALLBACK),
    await send(outside, 'http://127.0.0.1:9/hook'),
    await send(outside, CALLBACK),
  ]

  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [403, 20403],
    [400, 21609],
    [201, undefined],
  ])
  const { data } = await relay.get('/api/v1/audit?action=webhook.created')
  expect(await relay.get(`/api/v1/webhooks/${data[0].about.id}`)).toMatchObject({
    url: CALLBACK,
    is_public_only: true,
  })
})

test('a callback ends with its key, however the key ends, and not when another one takes its place', async () => {
  await using relay = await startScripted()
  const endsAt = new Date(relay.clock.now() + HOUR_MS / 12).toISOString()
  const [revoked, rotated] = [await accountOn(relay), await accountOn(relay)]
  const expiring = await accountOn(relay, { expires_at: endsAt })
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  const people = [ANNA, BOB, '+12025550149']
  for (const [place, account] of [revoked, rotated, expiring].entries()) {
    const url = `${CALLBACK}/${place}`
    await create(relay, account, { To: people[place] ?? '', Body: 'a', StatusCallback: url })
  }
  await relay.clock.advance(60_000)
  const { body: end } = await relay.request('DELETE', `/api/v1/keys/${revoked.made.id}`)
  const { data: atOnce } = await relay.get('/api/v1/audit?action=webhook.deleted')
  const { body: newer } = await relay.post(`/api/v1/keys/${rotated.made.id}/rotate`, { overlap: 0 })
  await relay.clock.advance(3 * HOUR_MS)

  const { data } = await relay.get('/api/v1/audit?action=webhook.deleted')
  const [posted, ...others] = relay.sink.posts

  // The first one ended with the call that revoked its key, which leaves nothing behind.
  expect([atOnce.length, end.created]).toEqual([1, undefined])
  expect(data).toHaveLength(2)
  // Only what nobody knows was left to say, and the newer token signs it.
  expect([posted?.url, others]).toEqual([`${CALLBACK}/1`, []])
  const { url = '', body = '', headers = {} } = posted ?? {}
  expect(parametersOf({ body })).toMatchObject({ MessageStatus: 'sending', AccountSid: newer.key })
  expect(headers['x-twilio-signature']).toBe(signatureFor({ url, body }, newer.secret))
})

test('an unknown outcome is never called failed, and a failure has its number', async () => {
  await using relay = await startScripted()
  const account = await accountOn(relay)
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  await create(relay, account, { To: ANNA, Body: 'a', StatusCallback: CALLBACK })
  await relay.clock.advance(HOUR_MS)
  relay.device.script = ends({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
  await create(relay, account, { To: BOB, Body: 'b', StatusCallback: CALLBACK })
  await relay.clock.advance(60_000)
  const SendAt = new Date(relay.clock.now() + HOUR_MS).toISOString()
  const later = { To: BOB, Body: 'c', StatusCallback: CALLBACK, SendAt, ScheduleType: 'fixed' }
  const { body: scheduled } = await create(relay, account, later)
  await ask(relay, account, `/Messages/${scheduled.sid}.json`, { Status: 'canceled' })
  await relay.clock.advance(60_000)

  const said = relay.sink.posts.map((posted) => parametersOf(posted))

  expect(said.map(({ MessageStatus, ErrorCode }) => [MessageStatus, ErrorCode])).toEqual([
    ['sending', undefined],
    ['failed', '30006'],
    ['canceled', undefined],
  ])
})

test('a received message arrives as a form that is signed with the token', async () => {
  await using relay = await startScripted()
  const account = await accountOn(relay)
  const { status, body: webhook } = await addInbound(relay)

  await receive(relay, 'on my way – 5 min & counting')

  const [posted] = relay.sink.posts
  const { url = '', body = '', headers = {} } = posted ?? {}
  const parameters = parametersOf({ body })
  expect([status, webhook.key_id]).toEqual([201, account.made.id])
  expect(parameters).toEqual({
    MessageSid: parameters['MessageSid'] ?? '',
    SmsSid: parameters['MessageSid'] ?? '',
    SmsMessageSid: parameters['MessageSid'] ?? '',
    AccountSid: account.sid,
    ApiVersion: '2010-04-01',
    From: ANNA,
    To: LINE,
    Body: 'on my way – 5 min & counting',
    NumMedia: '0',
    NumSegments: '1',
    SmsStatus: 'received',
  })
  expect(headers['x-twilio-signature']).toBe(signatureFor({ url, body }, account.made.secret))
  const { body: read } = await ask(relay, account, `/Messages/${parameters['MessageSid']}.json`)
  expect(read).toMatchObject({ direction: 'inbound', status: 'received', from: ANNA, to: LINE })
})

test('a webhook for Twilio needs one key that was made for it', async () => {
  await using relay = await startScripted()
  const without = await addInbound(relay)
  const [first, second] = [await accountOn(relay), await accountOn(relay)]
  const unclear = await addInbound(relay)
  const named = await addInbound(relay, { key_id: second.made.id })
  const foreign = await addInbound(relay, { key_id: String(relay.key?.id) })
  const useless = await addInbound(relay, { format: 'sms', key_id: first.made.id })
  const { body: narrow } = await relay.post('/api/v1/keys', { scopes: ['webhooks:write'] })
  const beyond = await relay.request('POST', '/api/v1/webhooks', inbound(first.made.id), {
    'X-API-Key': narrow.key,
    'X-API-Secret': narrow.secret,
  })

  const all = [without, unclear, named, foreign, useless, beyond]
  expect(all.map(({ status }) => status)).toEqual([400, 400, 201, 400, 400, 400])
  expect(without.body.error.message).toContain('hookline keys create --for twilio')
  expect(unclear.body.error.message).toContain(first.made.id)
})

test('replies in TwiML are sent once, also if the delivery is repeated', async () => {
  await using relay = await startScripted({ capacity: 4 })
  await accountOn(relay)
  const { body: webhook } = await addInbound(relay)
  relay.sink.answer = () => twiml('Hi &amp; welcome', '<Body>Second</Body>')

  await receive(relay, 'hello')
  await delivered(relay, webhook, 1)
  const { data } = await relay.get(`/api/v1/webhooks/${webhook.id}/deliveries`)
  await relay.post(`/api/v1/webhook-deliveries/${data[0].id}/redeliver`, {})
  await delivered(relay, webhook, 2)

  expect(relay.sink.posts).toHaveLength(2)
  expect(relay.device.sent.map(({ to, text }) => [to, text])).toEqual([
    [ANNA, 'Hi & welcome'],
    [ANNA, 'Second'],
  ] as never[])
})

test('what is no TwiML sends nothing', async () => {
  await using relay = await startScripted()
  await accountOn(relay)
  const { body: webhook } = await addInbound(relay)
  const documents = [
    '',
    'OK',
    '<html><body>OK</body></html>',
    '<Response><Message>open',
    '<Response><Say>no</Say><Message> </Message></Response>',
    '<!DOCTYPE x [<!ENTITY e "boom">]><Response><Message>&e;</Message></Response>',
    '<a>'.repeat(20_000),
  ]

  for (const [place, document] of documents.entries()) {
    relay.sink.answer = () => ({ ...twiml(), document })
    await receive(relay, `text ${place}`)
    await delivered(relay, webhook, place + 1)
  }

  expect(relay.sink.posts).toHaveLength(documents.length)
  expect(relay.texts()).toEqual([])
})

test('a reply keeps the rules of its key, and a key that has ended sends nothing', async () => {
  await using relay = await startScripted()
  const strict = await accountOn(relay, { rules: { recipients: 'list', allow: [ANNA] } })
  const { body: webhook } = await addInbound(relay)
  relay.sink.answer = () => ({
    ...twiml(),
    document: `<Response><Message to="${BOB}">to Bob</Message><Message>to Anna</Message></Response>`,
  })

  await receive(relay, 'one')
  await delivered(relay, webhook, 1)
  const before = relay.texts()
  await relay.request('DELETE', `/api/v1/keys/${strict.made.id}`)
  await receive(relay, 'two')
  await relay.clock.advance(HOUR_MS)

  expect(before).toEqual(['to Anna'])
  expect(relay.texts()).toEqual(['to Anna'])
  expect(relay.sink.posts).toHaveLength(1)
})
