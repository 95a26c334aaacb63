import type { Post, PostRequest, PostResult } from '../../src/webhooks/post.ts'
import type { TestClock } from './test-clock.ts'

export type Posted = {
  /** Milliseconds since the sink began. */
  readonly at: number
  readonly url: string
  readonly id: string
  readonly timestamp: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * A status code, a whole result, `hang` (no answer until the time-out of ten seconds), or 200 after a
 * while.
 */
export type Answer = number | PostResult | 'hang' | { readonly afterMs: number }

/** Takes the place of the network: notes every post and answers as the test says. */
export class WebhookSink {
  readonly posts: Posted[] = []
  /** The most that were in flight at once, in all and for each url. */
  readonly most = new Map<string, number>()
  answer: (posted: Posted, index: number) => Answer = () => 200
  readonly #clock: TestClock
  readonly #startedAt: number
  readonly #inFlight = new Map<string, number>()

  constructor(clock: TestClock) {
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  readonly post: Post = async (request, signal) => {
    const posted = this.#note(request)
    const answer = this.answer(posted, this.posts.length - 1)
    this.#count(request.url, 1)
    const result = await this.#resultOf(answer, signal)
    this.#count(request.url, -1)
    return result
  }

  /** The posts to one url. */
  to(url: string): readonly Posted[] {
    return this.posts.filter((posted) => posted.url === url)
  }

  #note({ url, headers, body }: PostRequest): Posted {
    const posted = {
      at: this.#clock.monotonic() - this.#startedAt,
      url,
      id: headers['webhook-id'] ?? '',
      timestamp: Number(headers['webhook-timestamp']),
      body,
      headers,
    }
    this.posts.push(posted)
    return posted
  }

  #count(url: string, by: number): void {
    for (const key of [url, 'all']) {
      const now = (this.#inFlight.get(key) ?? 0) + by
      this.#inFlight.set(key, now)
      this.most.set(key, Math.max(this.most.get(key) ?? 0, now))
    }
  }

  async #resultOf(answer: Answer, signal: AbortSignal): Promise<PostResult> {
    if (answer === 'hang') return this.#hang(signal)
    if (typeof answer === 'number') return answered(answer)
    if ('result' in answer) return answer
    await this.#clock.sleep(answer.afterMs, signal)
    return signal.aborted ? { result: 'aborted' } : answered(200)
  }

  async #hang(signal: AbortSignal): Promise<PostResult> {
    await this.#clock.sleep(10_000, signal)
    if (signal.aborted) return { result: 'aborted' }
    return { result: 'failed', error: 'timeout', isPrivateTarget: false }
  }
}

/** An answer of the receiver. */
export function answered(
  statusCode: number,
  more: { readonly excerpt?: string; readonly retryAfterSeconds?: number } = {},
): PostResult {
  return {
    result: 'answered',
    statusCode,
    excerpt: more.excerpt ?? null,
    retryAfterSeconds: more.retryAfterSeconds ?? null,
    isPrivateTarget: false,
  }
}
