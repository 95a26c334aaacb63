// What a client may say of one request in its headers.

import { invalidRequest } from '../domain/errors.ts'

const WAIT_SECONDS_MAX = 60
const WAIT = /^wait\s*=\s*"?([0-9]{1,9})"?$/
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/

/**
 * How long the caller wants to wait for the end of its send, in milliseconds, by `Prefer: wait=N` or
 * `respond-async`; null where it says nothing. What makes no sense is ignored (RFC 7240).
 */
export function preferredWaitMs(headers: Headers): number | null {
  const header = headers.get('prefer')
  if (header === null) return null
  const preferences = header.split(',').map((preference) => {
    return (preference.split(';')[0] ?? '').trim().toLowerCase()
  })
  const seconds = preferences.flatMap((preference) => WAIT.exec(preference)?.[1] ?? [])[0]
  if (seconds !== undefined) return Math.min(Number(seconds), WAIT_SECONDS_MAX) * 1_000
  return preferences.includes('respond-async') ? 0 : null
}

export function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key')
  if (key === null || IDEMPOTENCY_KEY.test(key)) return key
  const message = 'must have 1 to 255 printable ASCII characters'
  throw invalidRequest({ path: 'Idempotency-Key', message })
}
