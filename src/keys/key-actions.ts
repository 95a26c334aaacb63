import type { Origin } from '../domain/audit.ts'
import {
  createKey,
  listKeys,
  revokeKey,
  type KeyTools,
  type NewKeyRequest,
  type UseKnown,
} from './keys.ts'

type Tools = KeyTools & { readonly lastUsed: UseKnown }

/** Keys as the API makes and asks for them. */
export function createKeyActions(tools: Tools) {
  return {
    create: (request: NewKeyRequest) => createKey(tools, request),
    list: (page: Parameters<typeof listKeys>[1]) => listKeys(tools, page),
    revoke: (id: string, origin: Origin) => revokeKey(tools, id, origin),
  }
}
