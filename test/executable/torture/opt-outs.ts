// People who text STOP to a relay that dies, and are written to before, meanwhile and afterwards.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import type { ApiClient } from '../../support/relay-process.ts'

const PAUSE_MS = 15
const EARLIER_SENDS = 3

export class OptOuts {
  /** Sends to people of whom the relay had said that they opted out, and that it did not refuse. */
  readonly answered: string[] = []
  refusals = 0
  readonly #api: ApiClient
  readonly #name: string
  readonly #lineId: string
  #isStopped = false

  constructor(api: ApiClient, name: string, lineId: string) {
    this.#api = api
    this.#name = name
    this.#lineId = lineId
  }

  async run(): Promise<void> {
    for (let count = 1_000; !this.#isStopped; count += 1) await this.#stopOne(`+1202554${count}`)
  }

  stop(): void {
    this.#isStopped = true
  }

  async #stopOne(handle: string): Promise<void> {
    const earlier = Array.from({ length: EARLIER_SENDS }, (_, number) => this.#send(handle, number))
    const event = { type: 'message', from: handle, text: 'STOP' }
    const path = `/api/v1/simulated/lines/${this.#lineId}/events`
    await this.#untilAnswered('POST', path, { body: event })
    while (!this.#isStopped && !(await this.#isOptedOut(handle))) await Bun.sleep(PAUSE_MS)
    await Promise.all(earlier)
    const status = await this.#send(handle, EARLIER_SENDS)
    if (status === 409) this.refusals += 1
    else if (status !== null) this.answered.push(`${handle}: ${status}`)
  }

  async #isOptedOut(handle: string): Promise<boolean> {
    const path = `/api/v1/opt-outs?handle=${encodeURIComponent(handle)}`
    const answer = await this.#untilAnswered('GET', path)
    const page = answer?.body as { readonly data: readonly unknown[] } | undefined
    return (page?.data.length ?? 0) > 0
  }

  async #send(handle: string, number: number): Promise<number | null> {
    const headers = {
      'Idempotency-Key': `${this.#name} ${handle} ${number}`,
      Prefer: 'respond-async',
    }
    const body = { to: handle, text: `offer ${number}` }
    return (
      (await this.#untilAnswered('POST', '/api/v1/messages/send', { body, headers }))?.status ??
      null
    )
  }

  /** Null if it was stopped before there was an answer. */
  async #untilAnswered(...request: Parameters<ApiClient['request']>) {
    while (!this.#isStopped) {
      const answer = await this.#api.request(...request).catch(() => null)
      if (answer !== null && answer.status !== 503) return answer
      await Bun.sleep(PAUSE_MS)
    }
    return null
  }
}

const LEFT = `SELECT m.id, m.handle FROM network.carried c
  JOIN messages m ON m.id = c.message_id JOIN opt_outs o ON o.handle = m.handle
  WHERE m.passed_at IS NULL OR m.passed_at > o.created_at`

const WAITING = `SELECT m.id, m.handle FROM messages m JOIN opt_outs o ON o.handle = m.handle
  WHERE m.status IN ('queued', 'deferred')`

const UNANNOUNCED = `SELECT o.handle FROM opt_outs o WHERE NOT EXISTS
  (SELECT 1 FROM events e WHERE e.message_id = o.message_id AND e.name = 'contact.opted_out')`

/** Messages that left, or might, after their recipient's opt-out; both files are read after the relay has ended. */
export function optOutFaults(dataDir: string, { answered, refusals }: OptOuts) {
  using relay = new Database(join(dataDir, 'hookline.db'))
  relay.run('ATTACH ? AS network', [join(dataDir, 'simulated.db')])
  return {
    sentAfterOptOut: relay.query(LEFT).all(),
    waitingAfterOptOut: relay.query(WAITING).all(),
    optOutsUnannounced: relay.query(UNANNOUNCED).all(),
    acceptedAfterOptOut: refusals === 0 ? ['no send was refused'] : answered,
  }
}
