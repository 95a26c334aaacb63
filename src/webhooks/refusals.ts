const REFUSED_MAX = 1_000

/**
 * The deliveries that a receiver refuses for their own sake: each failed, and then another one was taken.
 * That they fail once more tells nothing of the receiver.
 */
export class Refusals {
  readonly #failed = new Set<number>()
  readonly #refused = new Set<number>()

  has(seq: number): boolean {
    return this.#refused.has(seq)
  }

  failed(seq: number): void {
    this.#failed.add(seq)
  }

  succeeded(seq: number): void {
    for (const failed of this.#failed) this.#refused.add(failed)
    this.#failed.clear()
    this.#refused.delete(seq)
    if (this.#refused.size > REFUSED_MAX) this.#refused.clear()
  }

  /** Nothing is taken any more: then no single delivery is to blame. */
  clear(): void {
    this.#failed.clear()
    this.#refused.clear()
  }
}
