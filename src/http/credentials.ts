// API keys and bridges.

import type { CreatedKey } from '../api/keys.ts'
import { BRIDGES, KEYS } from '../api/operations/keys.ts'
import { withCompatScopes, withConnection } from '../compat/apis.ts'
import type { Core } from '../storage/core.ts'
import { linesOfKey } from '../storage/sites.ts'
import { bind, bindRemoval } from './bind.ts'
import { pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf } from './request-context.ts'

export function keyBindings(
  { db }: Core,
  { credentials: { keys }, serverUrl }: Pick<Relay, 'credentials' | 'serverUrl'>,
) {
  const connected = <K extends CreatedKey>(made: K): K =>
    withConnection(made, { url: serverUrl(), lines: linesOfKey(db, made) })
  return [
    bind(KEYS.createKey, async ({ request, body, origin }) => {
      const asked = withCompatScopes(body)
      return connected(await keys.create(asked, callerOf(request), origin))
    }),
    bind(KEYS.listKeys, ({ request, query }) => keys.list(pageOfQuery(query), callerOf(request))),
    bind(KEYS.getOwnKey, ({ request }) => keys.self(callerOf(request))),
    bind(KEYS.rotateKey, async ({ request, params, body, origin }) =>
      connected(await keys.rotate(params.id, body, callerOf(request), origin)),
    ),
    bind(KEYS.revokeKey, ({ request, params, query: { all }, origin }) =>
      keys.revoke(params.id, { caller: callerOf(request), origin: origin, all }),
    ),
  ]
}

export function bridgeBindings({ bridges }: Relay['credentials']) {
  return [
    bind(BRIDGES.listBridges, ({ query }) => bridges.list(pageOfQuery(query))),
    bind(BRIDGES.createBridge, ({ body: { phone_number: number, label = null }, origin }) =>
      bridges.create({ number, label, origin: origin }),
    ),
    bind(BRIDGES.renewBridgeToken, ({ params, origin }) => bridges.renewToken(params.id, origin)),
    bindRemoval(BRIDGES.deleteBridge, bridges),
  ]
}
