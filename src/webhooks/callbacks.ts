// Webhooks that clients of compatible APIs create. A callback gets the events of single messages, at an address that
// came with the send; there is one per key and address, ignoring the query. Callbacks count toward the webhook limit,
// aren't listed, and end with their key. Registered webhooks are ordinary webhooks.

import type { Webhook } from '../api/webhooks.ts'
import { webhookFormat } from '../compat/apis.ts'
import type { CompatSubscription } from '../compat/compat-api.ts'
import { RELAY_ITSELF, type Origin } from '../domain/audit.ts'
import { assert } from '../domain/errors.ts'
import type { KeyId } from '../domain/ids.ts'
import type { MessageCallback } from '../domain/message-extras.ts'
import { hasScope, requirePermission, type KeyCaller } from '../domain/permissions.ts'
import { isSameUrl } from '../domain/webhook-url.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  callbacksOfEndedKeys,
  findCallback,
  listWebhooks,
  type StoredWebhook,
} from '../storage/webhooks.ts'
import { equalBytes } from '../system/hash.ts'
import type { Seal } from '../system/seal.ts'
import type { Subscribers } from './publish.ts'
import { resourceOf } from './resource.ts'
import { replaceSecret, turnOn } from './secrets.ts'
import { chosenSecret, newSecret, openSecrets } from './signature.ts'
import { checkInput, createIn, plainUrl, removeIn, webhookById } from './subscriptions.ts'
import type { TargetRules } from './targets.ts'

const CALLED_WITH_KEY = 'a compatible API is called with a key'
/** `caller` is null for the owner, who can't call compatible APIs: each function asserts this. */
type CompatClient = { readonly format: string; readonly caller: KeyCaller | null }
type CallbackRequest = CompatClient & { readonly url: string }

type Given = {
  readonly seal: Seal
  readonly rules: TargetRules
  readonly subscribers: Subscribers
}

export function createCallbacks(core: Core, { seal, rules, subscribers }: Given) {
  return {
    /**
     * Checks the address and returns a function for the transaction that accepts the message. Throws
     * `invalid_request` or `forbidden`.
     */
    callback({ url, format, caller }: CallbackRequest, origin: Origin) {
      assert(caller !== null, CALLED_WITH_KEY)
      const own = caller.permissions
      requirePermission(own, 'webhooks:write')
      const events = webhookFormat(format)?.events.filter((name) => name !== 'message.received')
      const asked = { url, events: events ?? [] }
      const checked = checkInput(core.db, rules, asked, { own, format })
      const address = plainUrl(url.replace(/[?#].*$/s, ''))
      const query = new URL(url).search
      const isPublicOnly = !hasScope(own, 'webhooks:private')
      const keyId = caller.lineage
      return (tx: Tx): MessageCallback => {
        const more = { format, keyId, isCallback: true, isPublicOnly }
        const found = findCallback(tx, { keyId, format, url: address })
        const all = { ...checked, ...more, url: address }
        if (found === null) {
          const { stored } = createIn(tx, core, { seal, subscribers, checked: all, origin })
          return { webhookId: stored.id, query }
        }
        if (found.disabledReason !== null) {
          renew(tx, core, { seal, subscribers, webhook: found, origin })
        }
        return { webhookId: found.id, query }
      }
    },
    /** Removes the callbacks of keys that have ended. The transaction must not read subscribers afterwards. */
    endCallbacks(tx: Tx, origin: Origin = RELAY_ITSELF): number {
      const ended = callbacksOfEndedKeys(tx, core.clock.now())
      for (const id of ended) removeIn(tx, core, { subscribers, id, origin })
      return ended.length
    },
  }
}

export function createRegistrations(core: Core, { seal, rules, subscribers }: Given) {
  return {
    /**
     * Registers a webhook for a client. If its key already has one at this address for one of these events, that one is
     * kept: it gets the new secret, and is turned on if the relay turned it off. Throws like `callback`.
     */
    async register(
      {
        url,
        events,
        secret,
        hasFileLinks = false,
        format,
        caller,
      }: CompatSubscription & CompatClient,
      origin: Origin,
    ): Promise<Webhook> {
      assert(caller !== null, CALLED_WITH_KEY)
      const own = caller.permissions
      requirePermission(own, 'webhooks:write')
      const asked = { url, events, phone_line_ids: null, site_ids: null }
      const checked = {
        ...checkInput(core.db, rules, asked, { own, format }),
        attachmentLinks: hasFileLinks && hasScope(own, 'attachments:read'),
        isPublicOnly: !hasScope(own, 'webhooks:private'),
        format,
        keyId: caller.lineage,
      }
      const chosen = secret === undefined ? undefined : chosenSecret(secret)
      const stored = await subscribers.change((tx) => {
        const known = registeredBy(tx, caller.lineage, format).find(
          (row) => isSameUrl(row.url, url) && row.events.some((name) => events.includes(name)),
        )
        if (known === undefined) {
          return createIn(tx, core, { seal, subscribers, checked, origin, secret: chosen }).stored
        }
        renew(tx, core, { seal, subscribers, webhook: known, origin, chosen })
        return webhookById(tx, known.id)
      })
      return resourceOf(stored, false)
    },
    /** The webhooks registered by this key or by a key that it replaced, newest first. */
    registered({ format, caller }: CompatClient): readonly Webhook[] {
      assert(caller !== null, CALLED_WITH_KEY)
      requirePermission(caller.permissions, 'webhooks:read')
      const own = registeredBy(core.db, caller.lineage, format)
      return own.map((row) => resourceOf(row, false))
    },
  }
}

function registeredBy(db: Db, lineage: KeyId, format: string): readonly StoredWebhook[] {
  return listWebhooks(db, WEBHOOKS_MAX, null).filter(
    (row) => row.keyId === lineage && row.format === format && !row.isCallback,
  )
}

/** Applies a repeated registration of the same address. A webhook that a person turned off stays off. */
function renew(
  tx: Tx,
  core: Core,
  given: Parameters<typeof turnOn>[2] & {
    readonly seal: Seal
    readonly chosen?: Uint8Array | undefined
  },
): void {
  const { chosen, ...of } = given
  const { seal, webhook } = of
  const current = openSecrets(tx, seal, webhook.id)?.[0]?.secret
  const isKept = current !== undefined && equalBytes(current, chosen ?? current)
  if (!isKept) replaceSecret(tx, core, { ...of, secret: chosen ?? newSecret(core.random) })
  if (webhook.disabledReason !== null) turnOn(tx, core, of)
}
