// Callbacks: webhooks that get the events of single messages, at an address that came with the send. There is one for
// each key and address, whatever the query of the address is. They count in the limit of webhooks, aren't listed, and
// end with their key.

import { webhookFormat } from '../compat/apis.ts'
import { RELAY_ITSELF, type Origin } from '../domain/audit.ts'
import { assert } from '../domain/errors.ts'
import type { MessageCallback } from '../domain/message-extras.ts'
import { hasScope, requirePermission, type KeyCaller } from '../domain/permissions.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { callbacksOfEndedKeys, findCallback } from '../storage/webhooks.ts'
import type { Seal } from '../system/seal.ts'
import type { Subscribers } from './publish.ts'
import { checkInput, createIn, removeIn } from './subscriptions.ts'
import type { TargetRules } from './targets.ts'

type CallbackRequest = {
  readonly url: string
  readonly format: string
  /** Null can't be: only keys call compatible APIs. */
  readonly caller: KeyCaller | null
}

export function createCallbacks(
  core: Core,
  given: {
    readonly seal: Seal
    readonly rules: TargetRules
    readonly subscribers: Subscribers
  },
) {
  const { seal, rules, subscribers } = given
  return {
    /**
     * Checks the address, and returns what the transaction that accepts the message calls. Throws `invalid_request`
     * or `forbidden`.
     */
    callback({ url, format, caller }: CallbackRequest, origin: Origin) {
      assert(caller !== null, 'a compatible API is called with a key')
      const own = caller.permissions
      requirePermission(own, 'webhooks:write')
      const events = webhookFormat(format)?.events.filter((name) => name !== 'message.received')
      const plain = { url: url.replace(/[?#].*$/s, ''), events: events ?? [] }
      const checked = checkInput(core.db, rules, plain, { own, format })
      const isPublicOnly = !hasScope(own, 'webhooks:private')
      const keyId = caller.lineage
      return (tx: Tx): MessageCallback => {
        const more = { format, keyId, isCallback: true, isPublicOnly }
        const found = findCallback(tx, { keyId, format, url: checked.url ?? url })
        const all = { ...checked, ...more }
        const webhookId =
          found ?? createIn(tx, core, { seal, subscribers, checked: all, origin }).stored.id
        return { webhookId, query: /\?[^#]*/.exec(url)?.[0] ?? '' }
      }
    },
    /** Removes the callbacks of keys that have ended, in a transaction that reads no subscribers after it. */
    endCallbacks(tx: Tx, origin: Origin = RELAY_ITSELF): number {
      const ended = callbacksOfEndedKeys(tx, core.clock.now())
      for (const id of ended) removeIn(tx, core, { subscribers, id, origin })
      return ended.length
    },
  }
}
