import type { Origin } from '../domain/audit.ts'
import type { BridgeId } from '../domain/ids.ts'
import {
  bridgeOfToken,
  createBridge,
  listBridges,
  removeBridge,
  renewBridgeToken,
  type NewBridgeRequest,
} from './bridges.ts'
import type { KeyTools } from './keys.ts'
import type { LastUsed } from './last-used.ts'

type Tools = KeyTools & { readonly lastHeard: Pick<LastUsed<BridgeId>, 'note' | 'of'> }

/** Bridges as the API makes and asks for them. */
export function createBridgeActions(tools: Tools) {
  return {
    create: (request: NewBridgeRequest) => createBridge(tools, request),
    list: (page: Parameters<typeof listBridges>[1]) => listBridges(tools, page),
    renewToken: (id: string, origin: Origin) => renewBridgeToken(tools, id, origin),
    remove: (id: string, origin: Origin) => removeBridge(tools, id, origin),
    /** Whose token this is, or null. */
    ofToken: (token: string) => bridgeOfToken(tools.db, token),
    /** A shortcut of the bridge called. */
    noteCall: (id: BridgeId) => tools.lastHeard.note(id),
  }
}
