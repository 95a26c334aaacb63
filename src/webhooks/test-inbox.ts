// The test inbox: a URL of the relay that takes events and shows them, for an owner without an endpoint. It publishes
// no events, so nothing leads to another delivery. Requests are kept in memory only.

import type { InboxEntry, InboxRequest } from '../api/dashboard.ts'
import { RelayError } from '../domain/errors.ts'
import { timestamp, type Timestamp, type WebhookId } from '../domain/ids.ts'
import { DAY_MS, SECOND_MS } from '../domain/time.ts'
import { INBOX_PATH, inboxToken } from '../domain/webhook-url.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Seal } from '../system/seal.ts'
import { isSigned, openSecrets, signingSecrets } from './signature.ts'
import { webhookById } from './subscriptions.ts'

/** Most requests kept, for all inboxes together. */
export const KEPT_MAX = 100

type Received = InboxEntry & {
  readonly webhookId: WebhookId
  readonly at: Timestamp
  readonly request: InboxRequest
}

export class TestInbox {
  readonly #core: Core
  readonly #seal: Seal
  /** The relay's own address on this machine. */
  readonly #origin: () => string
  #received: readonly Received[] = []
  #count = 0

  constructor(
    core: Core,
    { seal, origin }: { readonly seal: Seal; readonly origin: () => string },
  ) {
    this.#core = core
    this.#seal = seal
    this.#origin = origin
  }

  /** A new URL; it works once a webhook has it. */
  newUrl(): string {
    const token = Buffer.from(this.#core.random.bytes(24)).toString('base64url')
    return this.#origin() + INBOX_PATH + token
  }

  /** True if the URL is a test inbox of this relay. */
  isAt(url: string): boolean {
    return inboxToken(url) !== null && new URL(url).origin === this.#origin()
  }

  /** The webhook with the token in its URL; throws `not_found`. */
  webhookOf(token: string): WebhookId {
    const webhooks = listWebhooks(this.#core.db, WEBHOOKS_MAX, null)
    const found = webhooks.find(({ url }) => inboxToken(url) === token)
    if (found === undefined) throw new RelayError('not_found', 'There is no such test inbox.')
    return found.id
  }

  receive(webhookId: WebhookId, headers: Headers, bytes: Uint8Array): void {
    const { db, clock, changes } = this.#core
    const at = timestamp(clock.now())
    const body = new TextDecoder().decode(bytes)
    const keys = signingSecrets(openSecrets(db, this.#seal, webhookId) ?? [], clock)
    const isVerified = isSigned({ headers, body, now: clock.wall() / SECOND_MS }, keys)
    const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
    this.#count += 1
    const entry = {
      id: String(this.#count),
      received_at: isoTime(at),
      event: eventIn(body),
      size: bytes.length,
      is_verified: isVerified,
    }
    const request = { headers: lines.join('\n'), body }
    this.#received = [{ ...entry, webhookId, at, request }, ...this.#kept()].slice(0, KEPT_MAX)
    changes.publish([{ what: 'inbox', id: webhookId }])
  }

  /** The webhook's requests, newest first. */
  list(id: string): readonly InboxEntry[] {
    const webhook = webhookById(this.#core.db, id)
    return this.#kept()
      .filter(({ webhookId }) => webhookId === webhook.id)
      .map(({ webhookId: _webhook, at: _at, request: _request, ...entry }) => entry)
  }

  /** Throws `not_found` if the request is no longer kept. */
  read(id: string, entry: string): InboxRequest {
    const webhook = webhookById(this.#core.db, id)
    const found = this.#kept().find((one) => one.webhookId === webhook.id && one.id === entry)
    if (found === undefined) throw new RelayError('not_found', 'This request is no longer kept.')
    return found.request
  }

  #kept(): readonly Received[] {
    return this.#received.filter(({ at }) => this.#core.clock.ageOf(at) < DAY_MS)
  }
}

/** The event's name, or null if the body isn't an event. */
function eventIn(body: string): string | null {
  try {
    const { event } = Object(JSON.parse(body)) as { readonly event?: unknown }
    return typeof event === 'string' ? event : null
  } catch {
    return null
  }
}
