import type { Bridge } from '../domain/bridge.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

/** A bridge as the API lists it: never with its token. */
export type BridgeResource = {
  readonly id: string
  readonly phone_number: string
  readonly label: string | null
  readonly token_hint: string
  readonly created_by: string
  readonly created_at: string
  readonly token_created_at: string
  readonly last_heard_at: string | null
  readonly revoked_at: string | null
}

/** The one answer that carries the first token. */
export type CreatedBridgeResource = BridgeResource & { readonly token: string }

/** The one answer that carries a later token. */
export type BridgeTokenResource = { readonly id: string; readonly token: string }

export function bridgeResource(bridge: Bridge): BridgeResource {
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
