// Posts to webhooks as a test may ask for them, with the faults of their receivers.

import type { Post, PostRequest, PostResult } from '../webhooks/post.ts'
import { resultWith, type Fault } from './faults.ts'

export type WebhookCall = Pick<PostRequest, 'url' | 'headers' | 'body'> & {
  readonly at: number
  readonly event: string | null
  readonly eventId: string | null
  /** Counts the calls of this URL with this event, from 1. */
  readonly attempt: number
  /** As the relay learned it. */
  readonly result: PostResult
}

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
    const eventId = headers['webhook-id'] ?? null
    const event = eventId === null ? null : nameOf(eventId)
    const fault = script.faultOfCall(url, event)
    const instead = fault === null ? null : resultWith(fault)
    const call = async () => {
      const at = now()
      const isMade = instead === null || fault?.fault === 'answer_lost'
      const answer = isMade ? await post(request, signal) : instead
      const result = instead ?? answer
      script.addCall({ url, headers, body, at, event, eventId, result })
      return result
    }
    if (fault?.fault === 'delivered_twice') await call()
    return call()
  }
}
