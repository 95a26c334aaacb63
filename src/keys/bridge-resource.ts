import type * as api from '../api/bridges.ts'
import type { Bridge } from '../domain/bridge.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

export function bridgeResource(bridge: Bridge): api.Bridge {
  return {
    id: bridge.id,
    phone_number: bridge.number,
    label: bridge.label,
    token_hint: bridge.tokenHint,
    created_by: bridge.createdBy,
    created_at: isoTime(bridge.createdAt),
    token_created_at: isoTime(bridge.tokenCreatedAt),
    last_heard_at: isoTimeOrNull(bridge.lastHeardAt),
    revoked_at: isoTimeOrNull(bridge.revokedAt),
  }
}
