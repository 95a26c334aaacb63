import type { Key } from '../api/keys.ts'
import type { ApiKey } from '../domain/api-key.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

export function keyResource(key: ApiKey): Key {
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
