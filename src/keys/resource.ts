import type { ApiKey } from '../domain/api-key.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

/** A key as the API lists it: never with its secret. */
export type KeyResource = {
  readonly id: string
  readonly name: string | null
  readonly key_hint: string
  readonly created_by: string
  readonly created_at: string
  readonly last_used_at: string | null
  readonly revoked_at: string | null
}

/** The one answer that carries the key and its secret. */
export type CreatedKeyResource = {
  readonly id: string
  readonly name: string | null
  readonly key: string
  readonly secret: string
  readonly created_by: string
  readonly created_at: string
  readonly last_used_at: null
}

export type RevokedKeyResource = {
  readonly id: string
  readonly deleted: true
  /** What the key made and what still lives; left out where there is nothing. */
  readonly created?: {
    readonly keys: readonly string[]
    readonly webhooks: readonly string[]
    readonly bridges: readonly string[]
  }
}

export function keyResource(key: ApiKey): KeyResource {
  return {
    id: key.id,
    name: key.name,
    key_hint: key.hint,
    created_by: key.createdBy,
    created_at: isoTime(key.createdAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
  }
}
