import type { WebhookId } from '../domain/ids.ts'
import type { EventName } from '../domain/webhook.ts'
import type { Db } from '../storage/database.ts'
import { listWebhooks } from '../storage/webhooks.ts'

export const WEBHOOKS_MAX = 1_000

/** Who gets which event, kept in memory because every message asks. */
export class Subscribers {
  readonly #db: Db
  #byEvent: Map<EventName, WebhookId[]> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Webhooks that want the event and are active, or were deactivated by the relay: those get it when
   * they are active again. A webhook that its user paused gets nothing new.
   */
  of(event: EventName): readonly WebhookId[] {
    this.#byEvent ??= read(this.#db)
    return this.#byEvent.get(event) ?? []
  }

  /** Call it in the transaction that changes a webhook, and again once that has settled. */
  forget(): void {
    this.#byEvent = null
  }
}

function read(db: Db): Map<EventName, WebhookId[]> {
  const byEvent = new Map<EventName, WebhookId[]>()
  for (const webhook of listWebhooks(db, WEBHOOKS_MAX, null).toReversed()) {
    if (!webhook.isActive && webhook.disabledReason === null) continue
    for (const event of webhook.events) {
      byEvent.set(event, [...(byEvent.get(event) ?? []), webhook.id])
    }
  }
  return byEvent
}
