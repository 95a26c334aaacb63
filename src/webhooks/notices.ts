import type { WebhookId } from '../domain/ids.ts'
import { Signal } from '../system/signal.ts'

/**
 * What the delivery loop is told. Notices are taken down inside a transaction and heard once its
 * commit notifies the signal; one whose transaction was undone costs a look that finds nothing.
 */
export class Notices {
  readonly signal = new Signal()
  #due = new Set<WebhookId>()
  #requested = new Set<WebhookId>()
  #changed = new Set<WebhookId>()

  /** There is a new delivery to this webhook. */
  due(id: WebhookId): void {
    this.#due.add(id)
  }

  /** Somebody asked for a delivery to this webhook to be tried at once. */
  requested(id: WebhookId): void {
    this.#requested.add(id)
  }

  /** The webhook was created, changed or removed, or its secrets were. */
  changed(id: WebhookId): void {
    this.#changed.add(id)
  }

  get areWebhooksChanged(): boolean {
    return this.#changed.size > 0
  }

  takeDue(): ReadonlySet<WebhookId> {
    const due = this.#due
    if (due.size > 0) this.#due = new Set()
    return due
  }

  takeRequested(): ReadonlySet<WebhookId> {
    const requested = this.#requested
    if (requested.size > 0) this.#requested = new Set()
    return requested
  }

  takeChanged(): ReadonlySet<WebhookId> {
    const changed = this.#changed
    if (changed.size > 0) this.#changed = new Set()
    return changed
  }
}
