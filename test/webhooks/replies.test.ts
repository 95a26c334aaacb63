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
  { ageMs = 0 }: { readonly ageMs?: number } = {},
) {
  await using rig = await startRig()
  const keys: string[] = []
  const takeReplies = createReplies(rig.core, {
    send: async ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      if (refusal !== null) throw new RelayError(refusal, 'No.')
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
  const answer = await takeReplies(twiml('one', 'two'), { event, account, format: 'twilio' })
  return { keys, result: answer.result }
}

test('a reply that is refused for now lets the event come again, any other refusal does not', async () => {
  expect(await resultAfter(null)).toEqual({
    keys: ['reply evt_1 0', 'reply evt_1 1'],
    result: 'answered',
  })
  expect(await resultAfter('storage_full')).toEqual({ keys: ['reply evt_1 0'], result: 'failed' })
  expect(await resultAfter('recipient_opted_out')).toEqual({
    keys: ['reply evt_1 0', 'reply evt_1 1'],
    result: 'answered',
  })
})

test('an event of last week gets no reply, because its idempotency keys may be forgotten', async () => {
  expect(await resultAfter(null, { ageMs: 7 * DAY_MS })).toEqual({ keys: [], result: 'answered' })
})
