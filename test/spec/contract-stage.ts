// What the parts of the recorded script have in common.

import { type Json } from '../support/test-relay.ts'

export type Given = Readonly<Record<string, string>>

export type More = {
  readonly headers?: Given
  /** Credentials other than those of the first key. */
  readonly key?: Given
  /** Time goes by until the answer is there. */
  readonly moves?: boolean
}

export type Ask = (method: string, path: string, body?: unknown, more?: More) => Promise<Json>

export type Stage = {
  readonly ask: Ask
  readonly advance: (seconds: number) => Promise<void>
  /** The ids of its lines. */
  readonly first: string
  readonly second: string
}

export const ANNA = '+12025550711'
export const BEN = '+12025550712'
/** The end of an id that no thing has. */
export const NOBODY = '_00000000000000000000000000'
export const HOOK_URL = 'https://receiver.example/hook'
export const IDEMPOTENT = { 'Idempotency-Key': 'order-1' }

export const api = (path: string) => `/api/v1${path}`
export const handleOf = (number: string) => encodeURIComponent(number)
export const credentialsOf = ({ key, secret }: Json): Given => ({
  'X-API-Key': key,
  'X-API-Secret': secret,
})
