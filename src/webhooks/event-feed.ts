/** Tells events to whoever listens just now, as the JSON text that webhooks get. */
export class EventFeed {
  readonly #listeners = new Set<(event: string) => void>()

  /** Returns what ends the subscription. */
  subscribe(listener: (event: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  tell(event: string): void {
    for (const listener of this.#listeners) listener(event)
  }
}
