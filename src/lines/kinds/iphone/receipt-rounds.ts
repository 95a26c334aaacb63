import type { Handle } from '../../../domain/handle.ts'
import type { Log } from '../../../system/log.ts'
import { isOfChat, stopOf } from './phone-stops.ts'
import {
  linger,
  lookForReceipts,
  ReceiptWatch,
  type ReceiptTools,
} from './screens/receipt-watch.ts'

type RoundTools = ReceiptTools & { readonly log: Log }

/** So long the chat of a send stays open at most before others may be opened. */
const OPEN_MS_MAX = 15_000
const AGAIN_MS = 1_000

/** Looks after what became of own messages: right after a send, and then ever more seldom. */
export class ReceiptRounds {
  readonly #tools: RoundTools
  readonly #watch: ReceiptWatch
  readonly #lingering = new Set<Promise<void>>()
  #sends = 0

  constructor(tools: RoundTools) {
    this.#tools = tools
    this.#watch = ReceiptWatch.of(tools.memory, tools.clock.now())
  }

  /** A send that leaves its chat open. */
  async during<T>(send: Promise<T>): Promise<T> {
    this.#sends += 1
    return await send.finally(() => {
      this.#sends -= 1
    })
  }

  /** Waits while a chat is open for a send: most messages are delivered within the next seconds. */
  async afterSends(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    const until = clock.monotonic() + OPEN_MS_MAX
    const isOpen = () => this.#sends > 0 || this.#lingering.size > 0
    while (isOpen() && !signal.aborted && clock.monotonic() < until) {
      await clock.sleep(AGAIN_MS, signal)
    }
  }

  /** A message has gone out in this chat, which is still open: it is watched until `signal` aborts. */
  begin(handle: Handle, signal: AbortSignal): void {
    this.#watch.watch(handle, this.#tools.clock.now())
    const lingering: Promise<void> = this.#linger(handle, signal).finally(() =>
      this.#lingering.delete(lingering),
    )
    this.#lingering.add(lingering)
  }

  /** Looks into every chat whose time has come. */
  async round(signal: AbortSignal): Promise<void> {
    const { clock, memory } = this.#tools
    for (const handle of this.#watch.due(clock.now())) {
      try {
        await lookForReceipts(this.#tools, handle, signal)
      } catch (error) {
        // A chat that cannot be shown any more must not hold up the others, nor take the line offline.
        if (signal.aborted || !isOfChat(error)) throw error
      }
      this.#watch.looked(handle, memory, clock.now())
    }
  }

  /** Resolves when nobody lingers in a chat any more. */
  async end(): Promise<void> {
    await Promise.all(this.#lingering)
  }

  /** Never rejects: what could not be seen or told comes with the next look. */
  async #linger(handle: Handle, signal: AbortSignal): Promise<void> {
    const { clock, memory, log } = this.#tools
    try {
      await linger(this.#tools, handle, signal)
      this.#watch.looked(handle, memory, clock.now())
    } catch (error) {
      const code = stopOf(error)?.code ?? 'not_durable'
      log.debug('a chat was left without its receipts', { code })
    }
  }
}
