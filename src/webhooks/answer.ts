// What is read of an answer beside its status.

import { withTimeout, type Clock } from '../system/clock.ts'
import { parseHttpDate } from '../system/iso-time.ts'

const EXCERPT_BYTES = 1_024
/** The status is the answer: its text is waited for no longer than this. */
const EXCERPT_MS_MAX = 1_000
const UTF8 = new TextDecoder()

/**
 * The start of the answer, as text. It is counted here, because a receiver may claim five bytes in
 * `Content-Length` and send chunks without end.
 */
export async function excerptOf(clock: Clock, { body }: Response): Promise<string | null> {
  if (body === null) return null
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  const reading = async () => {
    while (length < EXCERPT_BYTES) {
      const { done, value } = await reader.read()
      if (done) return true
      chunks.push(value)
      length += value.length
    }
    return false
  }
  const isWhole = await withTimeout(clock, EXCERPT_MS_MAX, reading(), false)
  if (!isWhole) reader.cancel().catch(() => {})
  if (length === 0) return null
  return UTF8.decode(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES)).replaceAll('\0', '\uFFFD')
}

/** `Retry-After` in seconds; a date is counted from the receiver's own `Date` header if it has one. */
export function retryAfterOf(headers: Headers, now: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (text === '') return null
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  const at = parseHttpDate(text)
  const from = parseHttpDate(headers.get('date') ?? '') ?? now
  return at === null ? null : Math.max(0, Math.ceil((at - from) / 1_000))
}
