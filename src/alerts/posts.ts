// A URL as a channel: a POST in the form of ntfy, or of Apprise's API, which knows a hundred other services.

import type { NoticeKind, PostForm } from '../domain/alert.ts'
import { invalidRequest } from '../domain/errors.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/time.ts'
import type { NoticeRow } from '../storage/alerts.ts'
import type { Core } from '../storage/core.ts'
import type { Seal } from '../system/seal.ts'
import { VERSION } from '../system/version.ts'
import type { Post, PostResult } from '../webhooks/post.ts'
import { parseTarget } from '../webhooks/targets.ts'
import type { Deliver, Said, Tried } from './notices.ts'

/** The pauses after the first, second, … try: the last one is after nine hours. */
const PAUSES_MS = [
  10 * SECOND_MS,
  30 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
]

export function pauseMs(attempts: number): number | null {
  return PAUSES_MS[attempts - 1] ?? null
}

/** Statuses that a retry may change. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429]

/** The URL of a post. Throws if no post can go there. */
export function postUrl(text: string, form: PostForm): string {
  const target = parseTarget(text)
  if (typeof target === 'string') throw invalidRequest({ path: 'url', message: target })
  const { href, hash } = target.url
  if (hash !== '') throw invalidRequest({ path: 'url', message: 'must not have a fragment' })
  if (form === 'ntfy' && topicIn(target.url) === null) {
    const message = 'must end with a topic of ntfy, such as https://ntfy.example.com/my-topic'
    throw invalidRequest({ path: 'url', message })
  }
  return href
}

/** The context with which the URL of a channel is sealed. */
export function sealContext(channelId: string): string {
  return `alert ${channelId}`
}

export function createPosts(
  { writer }: Pick<Core, 'writer'>,
  { post, seal }: { readonly post: Post; readonly seal: Seal },
): Deliver {
  return async ({ channel, notice, said, handOver, signal }) => {
    const { sealedUrl, form } = channel
    const bytes = sealedUrl && seal.open(sealedUrl, sealContext(channel.id))
    if (bytes === null || form === null) return { result: 'fail', error: 'secret_unreadable' }
    // From here on it may have arrived, so its text and its id stay.
    if (notice.status === 'waiting') await writer.write((tx) => handOver(tx, {}))
    const url = Buffer.from(bytes).toString()
    const request = form === 'ntfy' ? ntfyRequest(url, notice, said) : appriseRequest(url, said)
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Hookline/${VERSION}`,
      'idempotency-key': notice.id,
      ...request.headers,
    }
    const body = JSON.stringify({ ...request.body, hookline_notice_id: notice.id })
    return outcomeOf(await post({ url: request.url, headers, body }, signal))
  }
}

type FormRequest = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

const PRIORITIES: Readonly<Record<NoticeKind, number>> = {
  raised: 4,
  resolved: 3,
  summary: 4,
  test: 3,
}
const TAGS: Readonly<Record<NoticeKind, string>> = {
  raised: 'warning',
  resolved: 'white_check_mark',
  summary: 'bar_chart',
  test: 'test_tube',
}

/**
 * ntfy takes JSON at the root of its server, with the topic in the body. From ntfy 2.16 on, a message with the same
 * `X-Sequence-ID` replaces the one before; an older server shows a repeat as a second message.
 */
function ntfyRequest(url: string, { id }: NoticeRow, { title, text, kind }: Said): FormRequest {
  const target = new URL(url)
  const topic = topicIn(target)
  target.pathname = target.pathname.replace(/[^/]+\/?$/, '')
  return {
    url: target.href,
    headers: { 'x-sequence-id': id },
    body: { topic, title, message: text, priority: PRIORITIES[kind], tags: [TAGS[kind]] },
  }
}

function topicIn({ pathname }: URL): string | null {
  return /\/([-_A-Za-z0-9]{1,64})\/?$/.exec(pathname)?.[1] ?? null
}

const APPRISE_TYPES: Readonly<Record<NoticeKind, string>> = {
  raised: 'failure',
  resolved: 'success',
  summary: 'warning',
  test: 'info',
}

/** For `POST /notify/KEY` of Apprise's API. */
function appriseRequest(url: string, { title, text, kind }: Said): FormRequest {
  return { url, body: { title, body: text, type: APPRISE_TYPES[kind], format: 'text' } }
}

function outcomeOf(result: PostResult): Tried {
  if (result.result === 'unreachable' || result.result === 'aborted') {
    return { result: 'wait', error: result.result }
  }
  if (result.result === 'failed') {
    const isFinal = result.error === 'forbidden_target' || result.error === 'invalid_url'
    return { result: isFinal ? 'fail' : 'wait', error: result.error }
  }
  const { statusCode } = result
  if (statusCode >= 200 && statusCode < 300) return { result: 'done' }
  const isPassing = statusCode >= 500 || PASSING_STATUSES.includes(statusCode)
  return { result: isPassing ? 'wait' : 'fail', error: `http_${statusCode}` }
}
