// Messages that are uncertain for a while, which no event says and no row keeps: they are looked for
// throughout.

import type { ApiClient } from '../../support/relay-process.ts'
import type { Page } from './load.ts'

const EVERY_MS = 150

type Doubt = { readonly id: string; readonly error: { readonly message: string } | null }

export class Doubts {
  readonly #api: ApiClient
  readonly #errors = new Map<string, string>()
  #isStopped = false

  constructor(api: ApiClient) {
    this.#api = api
  }

  async run(): Promise<void> {
    const path = '/api/v1/messages?direction=outbound&limit=200&status=uncertain'
    while (!this.#isStopped) {
      const page = await this.#api.ask<Page<Doubt>>('GET', path).catch(() => null)
      for (const { id, error } of page?.data ?? []) this.#errors.set(id, error?.message ?? '')
      await Bun.sleep(EVERY_MS)
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Messages by their newest error. */
  counts(): Readonly<Record<string, number>> {
    const groups = Map.groupBy(this.#errors.values(), (error) => error)
    return Object.fromEntries([...groups].map(([error, all]) => [error, all.length]))
  }
}
