// Posts to webhooks as a test may ask for them, with the faults of their receivers.

import { Type } from 'typebox'

import { nullable, objectSchema, time, type Shape } from '../api/schema.ts'
import { timestamp } from '../domain/ids.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Post, PostResult } from '../webhooks/post.ts'
import { resultWith, type Fault } from './faults.ts'

export const FakeWebhookCall = objectSchema('FakeWebhookCall', {
  at: time('When it began.'),
  url: Type.String(),
  event: nullable(Type.String({ description: 'Null for posts that are no events.' })),
  event_id: nullable(
    Type.String({ description: 'The same in each repetition: ignore what you have seen.' }),
  ),
  attempt: Type.Integer({ description: 'Counts the calls of this URL with this event, from 1.' }),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String({ description: 'As it was signed.' }),
  json: Type.Unknown({ description: 'The body as JSON; its text if it is none.' }),
  status: nullable(Type.Integer({ description: "The receiver's answer." })),
  answer: nullable(Type.String({ description: 'The first KiB of its body.' })),
  error: nullable(Type.String({ description: 'Why there is no answer, such as timeout.' })),
})

/** As it is kept: its JSON is read from its body. */
export type WebhookCall = Omit<Shape<typeof FakeWebhookCall>, 'json'>

/** Wraps the posts of a relay: each is kept, and may meet a fault. */
export function recordedPost(
  post: Post,
  given: {
    readonly script: {
      faultOfCall(url: string, event: string | null): Fault | null
      addCall(call: Omit<WebhookCall, 'attempt'>): void
    }
    readonly now: () => number
    readonly nameOf: (eventId: string) => string | null
  },
): Post {
  const { script, now, nameOf } = given
  return async (request, signal) => {
    const { url, headers, body } = request
    const event_id = headers['webhook-id'] ?? null
    const event = event_id === null ? null : nameOf(event_id)
    const fault = script.faultOfCall(url, event)
    const instead = fault === null ? null : resultWith(fault)
    const call = async () => {
      const at = isoTime(timestamp(now()))
      const isMade = instead === null || fault?.fault === 'answer_lost'
      const answer = isMade ? await post(request, signal) : instead
      const result = instead ?? answer
      script.addCall({ at, url, event, event_id, headers, body, ...asLearned(result) })
      return result
    }
    if (fault?.fault === 'delivered_twice') await call()
    return call()
  }
}

/** The result as the relay learned it. */
function asLearned(got: PostResult): Pick<WebhookCall, 'status' | 'answer' | 'error'> {
  if (got.result === 'answered') return { status: got.statusCode, answer: got.excerpt, error: null }
  return { status: null, answer: null, error: got.result === 'failed' ? got.error : got.result }
}
