import type { WebhookId } from '../domain/ids.ts'
import { Signal } from '../system/signal.ts'

/** Those who read events as they are recorded; woken after a commit with events. */
export class EventReaders {
  readonly #waiting = new Set<Signal>()

  get count(): number {
    return this.#waiting.size
  }

  /** Returns the function that ends the watch. */
  watch(signal: Signal): () => void {
    this.#waiting.add(signal)
    return () => this.#waiting.delete(signal)
  }

  notify(): void {
    for (const signal of this.#waiting) signal.notify()
  }
}

/**
 * Webhooks that the delivery loop must look at. They are noted inside a transaction and taken once its
 * commit notifies the loop; a note of a transaction that was undone costs one look that finds nothing.
 */
export class DeliverySignals {
  readonly signal = new Signal()
  readonly readers = new EventReaders()
  readonly #noted = {
    due: new Set<WebhookId>(),
    requested: new Set<WebhookId>(),
    changed: new Set<WebhookId>(),
  }

  due(id: WebhookId): void {
    this.#noted.due.add(id)
  }

  /** A caller wants a delivery to this webhook to be tried at once. */
  requested(id: WebhookId): void {
    this.#noted.requested.add(id)
  }

  changed(id: WebhookId): void {
    this.#noted.changed.add(id)
  }

  get hasChanged(): boolean {
    return this.#noted.changed.size > 0
  }

  take(what: 'due' | 'requested' | 'changed'): ReadonlySet<WebhookId> {
    const noted = this.#noted[what]
    if (noted.size > 0) this.#noted[what] = new Set()
    return noted
  }
}
