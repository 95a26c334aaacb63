// API keys and bridges.

import type { CreatedKey } from '../api/keys.ts'
import { BRIDGES, KEYS } from '../api/operations/keys.ts'
import { withCompatScopes, withConnection } from '../compat/apis.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { listLines } from '../storage/lines.ts'
import { bind, bindRemoval } from './bind.ts'
import { pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, originOf } from './request-context.ts'

export function keyBindings(
  { db }: Core,
  { credentials: { keys }, serverUrl }: Pick<Relay, 'credentials' | 'serverUrl'>,
) {
  return [
    bind(KEYS.createKey, async ({ request, body }) => {
      const asked = withCompatScopes(body)
      const made = await keys.create(asked, callerOf(request), originOf(request))
      return withConnection(made, { url: serverUrl(), numbers: numbersOf(db, made) })
    }),
    bind(KEYS.listKeys, ({ request, query }) => keys.list(pageOfQuery(query), callerOf(request))),
    bind(KEYS.getOwnKey, ({ request }) => keys.self(callerOf(request))),
    bind(KEYS.revokeKey, ({ request, params }) =>
      keys.revoke(params.id, callerOf(request), originOf(request)),
    ),
  ]
}

/** The numbers of the lines that a new key may use. */
function numbersOf(db: Db, { phone_line_ids: ids }: CreatedKey): readonly string[] {
  const lines = listLines(db).filter(({ id }) => ids === undefined || ids.includes(id))
  return lines.map(({ number }) => number)
}

export function bridgeBindings({ bridges }: Relay['credentials']) {
  return [
    bind(BRIDGES.listBridges, ({ query }) => bridges.list(pageOfQuery(query))),
    bind(BRIDGES.createBridge, ({ request, body: { phone_number: number, label = null } }) =>
      bridges.create({ number, label, origin: originOf(request) }),
    ),
    bind(BRIDGES.renewBridgeToken, ({ request, params }) =>
      bridges.renewToken(params.id, originOf(request)),
    ),
    bindRemoval(BRIDGES.deleteBridge, bridges),
  ]
}
