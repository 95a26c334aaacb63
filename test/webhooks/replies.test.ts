// Replies in the answer of a webhook: what of an answer is read, and what becomes of a refusal.

import { expect, test } from 'bun:test'

import { RelayError, type ErrorCode } from '../../src/domain/errors.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { EVERYTHING } from '../../src/domain/permissions.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import type { SentEvent } from '../../src/storage/events.ts'
import { createPost } from '../../src/webhooks/post.ts'
import { createReplies } from '../../src/webhooks/replies.ts'
import { never, partsWith, serve } from '../support/post-rig.ts'
import { TestClock } from '../support/test-clock.ts'
import { twiml } from '../support/twilio-calls.ts'
import { startRig } from '../support/webhook-rig.ts'

const LINE = `line_${'0'.repeat(26)}`
const XML = { 'content-type': 'text/xml' }

async function documentOf(
  answer: () => Response,
  clock?: TestClock,
): Promise<{ readonly result: string; readonly document?: unknown }> {
  const url = `http://127.0.0.1:${serve(answer)}/`
  const post = createPost(partsWith(clock === undefined ? {} : { clock }))
  return post({ url, headers: {}, body: '', readsAnswer: true }, never)
}

test('an answer in XML or HTML is read up to 64 KiB, and no other one', async () => {
  const most = 'x'.repeat(64 * 1_024)
  const answers = [
    new Response(most, { headers: XML }),
    new Response(`${most}x`, { headers: XML }),
    new Response('<Response/>', { headers: { 'content-type': 'text/html; charset=utf-8' } }),
    new Response('OK', { headers: { 'content-type': 'text/plain' } }),
    new Response('<Response/>', { headers: XML, status: 500 }),
  ]

  const found = await Promise.all(answers.map((answer) => documentOf(() => answer)))

  expect(found.map(({ document }) => document)).toEqual([
    most,
    null,
    '<Response/>',
    undefined,
    undefined,
  ])
})

test('an answer that does not end within ten seconds is a failure, so that the event comes again', async () => {
  const clock = new TestClock()
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>()
  const endless = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode('<Response>'))
      onBegun()
      await new Promise(() => {})
    },
  })

  const waiting = documentOf(() => new Response(endless, { headers: XML }), clock)
  await begun
  await clock.advance(10_000)

  expect(await waiting).toEqual({
    result: 'failed',
    error: 'timeout',
    isPrivateTarget: true,
  } as never)
})

async function resultAfter(
  refusal: ErrorCode | null,
  {
    ageMs = 0,
    retryAfterSeconds,
    messages = ['one', 'two'],
  }: {
    readonly ageMs?: number
    readonly retryAfterSeconds?: number
    readonly messages?: readonly string[]
  } = {},
) {
  await using rig = await startRig()
  const keys: string[] = []
  const sendReplies = createReplies(rig.core, {
    send: async ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      if (refusal !== null) throw new RelayError(refusal, 'No.', { retryAfterSeconds })
    },
  })
  const message = { id: 'msg_1', handle: '+12025550147' }
  const event = {
    id: 'evt_1',
    messageId: 'msg_1',
    body: JSON.stringify({ event: 'message.received', phone_line_id: LINE, message }),
    createdAt: timestamp(rig.clock.now() - ageMs),
  } as SentEvent
  const caller = { kind: 'key', keyId: 'key_1', lineage: 'key_1', madeFor: 'twilio' } as const
  const account = { key: '', token: '', caller: { ...caller, permissions: EVERYTHING } as never }
  const answer = await sendReplies(twiml(...messages), { event, account, format: 'twilio' })
  const warned = rig.logged.filter((line) => JSON.stringify(line).includes('was refused')).length
  return { keys, result: answer.result, ...(warned > 0 && { warned }) }
}

test('a reply that is refused for now lets the event come again, any other refusal does not', async () => {
  expect(await resultAfter(null)).toEqual({
    keys: ['reply evt_1 0', 'reply evt_1 1'],
    result: 'answered',
  })
  const held = { keys: ['reply evt_1 0'], result: 'failed' as const, warned: 1 }
  const passing = { retryAfterSeconds: 60 }
  expect(await resultAfter('storage_full')).toEqual(held)
  expect(await resultAfter('rate_limit_exceeded', passing)).toEqual(held)
  expect(await resultAfter('attachment_fetch_failed', passing)).toEqual(held)
  for (const lasting of ['recipient_opted_out', 'attachment_fetch_failed'] as const) {
    expect(await resultAfter(lasting)).toEqual({
      keys: ['reply evt_1 0', 'reply evt_1 1'],
      result: 'answered',
      warned: 2,
    })
  }
})

test('a reply with more than ten files or 20,000 characters is not sent, which the log says', async () => {
  const files = (count: number) => '<Media>https://shop.example/a.png</Media>'.repeat(count)
  const messages = [files(10), files(11), 'x'.repeat(20_001), 'last']

  expect(await resultAfter(null, { messages })).toEqual({
    keys: ['reply evt_1 0', 'reply evt_1 1'],
    result: 'answered',
    warned: 1,
  })
})

test('an event of last week gets no reply, because its idempotency keys may be forgotten', async () => {
  expect(await resultAfter(null, { ageMs: 7 * DAY_MS })).toEqual({ keys: [], result: 'answered' })
})
