// Receipts of own messages. Messages shows them only in the chat, so the chat of a send is watched for some seconds,
// and then opened again at growing intervals.

import type { Handle } from '../../../../domain/handle.ts'
import type { Log } from '../../../../system/log.ts'
import { dropOldest } from '../../../../system/memoize.ts'
import type { ChatReader } from './chat-reader.ts'
import { isPhoneWide, troubleCodeOf } from './navigation.ts'
import type { Descriptor, TranscriptMemory } from './transcript-memory.ts'

/** Waits between looks while the chat is still open after a send: the looks come 1, 3 and 8 s after it. */
const LINGER_MS = [1_000, 2_000, 5_000]
const LOOKS_AFTER_MS = [30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000]
const WATCHED_MAX = 20
/** After this long, other chats may be opened although the chat of a send still is. */
const OPEN_MS_MAX = 15_000
const OPEN_EVERY_MS = 1_000

/** Looks for receipts right after a send, and later when the watch says that a look is due. */
export class ReceiptRounds {
  readonly #reader: ChatReader
  readonly #log: Log
  readonly #watch: ReceiptWatch
  readonly #lingering = new Set<Promise<void>>()
  #sends = 0

  constructor(reader: ChatReader, log: Log) {
    this.#reader = reader
    this.#log = log
    this.#watch = ReceiptWatch.of(reader.memory, reader.clock.now())
  }

  /** Runs a send, which leaves its chat open. */
  async during<T>(send: Promise<T>): Promise<T> {
    this.#sends += 1
    return await send.finally(() => {
      this.#sends -= 1
    })
  }

  /** Waits while a chat is open for a send, because most messages are delivered within the next seconds. */
  async afterSends(signal: AbortSignal): Promise<void> {
    const { clock } = this.#reader
    const until = clock.monotonic() + OPEN_MS_MAX
    const isOpen = () => this.#sends > 0 || this.#lingering.size > 0
    while (isOpen() && !signal.aborted && clock.monotonic() < until) {
      await clock.sleep(OPEN_EVERY_MS, signal)
    }
  }

  /** Watches this chat, which a send has left open, until `signal` aborts. */
  begin(handle: Handle, signal: AbortSignal): void {
    this.#watch.add(handle, this.#reader.clock.now())
    const lingering: Promise<void> = this.#linger(handle, signal).finally(() =>
      this.#lingering.delete(lingering),
    )
    this.#lingering.add(lingering)
  }

  /** Watches this chat, in which a message was found that an earlier run of the line began to send. */
  watch(handle: Handle): void {
    this.#watch.add(handle, this.#reader.clock.now())
  }

  async round(signal: AbortSignal): Promise<void> {
    const { clock, memory } = this.#reader
    for (const handle of this.#watch.due(clock.now())) {
      try {
        await lookForReceipts(this.#reader, handle, signal)
      } catch (error) {
        const code = troubleCodeOf(error)
        // A chat that can't be shown any more must neither hold up the others nor take the line offline.
        if (signal.aborted || code === null || isPhoneWide(code)) throw error
      }
      this.#watch.onLook(handle, memory, clock.now())
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#lingering)
  }

  /** Never rejects: the next look reports what was missed or could not be made durable. */
  async #linger(handle: Handle, signal: AbortSignal): Promise<void> {
    const { clock, memory } = this.#reader
    try {
      await linger(this.#reader, handle, signal)
      this.#watch.onLook(handle, memory, clock.now())
    } catch (error) {
      const code = troubleCodeOf(error) ?? 'not_durable'
      this.#log.debug('a chat was left without its receipts', { code })
    }
  }
}

type Watched = { readonly since: number; readonly looks: number }

/** The chats whose newest own message may still be delivered or read. */
export class ReceiptWatch {
  readonly #watched = new Map<Handle, Watched>()

  /** Watches the chats of an earlier run of the line; one look replaces all that were missed. */
  static of(memory: TranscriptMemory, now: number): ReceiptWatch {
    const watch = new ReceiptWatch()
    for (const handle of memory.handles) {
      const newest = newestOwn(memory, handle)
      if (newest === undefined || !isOpen(newest)) continue
      const passedMs = now - newest.seenAt
      const looks = LOOKS_AFTER_MS.findLastIndex((ms) => ms <= passedMs)
      if (looks < LOOKS_AFTER_MS.length - 1) watch.add(handle, newest.seenAt, Math.max(0, looks))
    }
    return watch
  }

  add(handle: Handle, since: number, looks = 0): void {
    this.#watched.delete(handle)
    this.#watched.set(handle, { since, looks })
    dropOldest(this.#watched, WATCHED_MAX)
  }

  due(now: number): readonly Handle[] {
    return [...this.#watched]
      .filter(([, { since, looks }]) => now - since >= (LOOKS_AFTER_MS[looks] ?? Infinity))
      .map(([handle]) => handle)
  }

  /** Notes that a chat was read, for whatever reason. The last look, or a final status, ends its watch. */
  onLook(handle: Handle, memory: TranscriptMemory, now: number): void {
    const watched = this.#watched.get(handle)
    if (watched === undefined) return
    const newest = newestOwn(memory, handle)
    const looks = LOOKS_AFTER_MS.findIndex((ms) => ms > now - watched.since)
    if (newest === undefined || !isOpen(newest) || looks === -1) this.#watched.delete(handle)
    else this.#watched.set(handle, { ...watched, looks })
  }
}

/** Opens the chat, emits what is new in it, and goes back to the list. */
export async function lookForReceipts(
  reader: ChatReader,
  handle: Handle,
  signal: AbortSignal,
): Promise<void> {
  const ui = reader.at('receipt')
  await reader.queue.run('receipt', signal, async () => {
    const screen = await ui.showChat(handle, signal)
    await ui.takeTranscript(handle, screen, { signal, isWhole: false })
    await ui.leaveChat({ screen, identity: { kind: 'person', handle } }, signal)
  })
}

/**
 * Stays in the chat for a few seconds after a send, because most messages are delivered by then, and goes
 * back to the list. A waiting send goes first, and its chat is left alone.
 */
export async function linger(
  reader: ChatReader,
  handle: Handle,
  signal: AbortSignal,
): Promise<void> {
  const ui = reader.at('receipt')
  for (const [index, ms] of LINGER_MS.entries()) {
    await ui.clock.sleep(ms, signal)
    if (signal.aborted) return
    const isLast = index === LINGER_MS.length - 1
    const isOver = await ui.queue.run('receipt', signal, async () => {
      const screen = await ui.look(signal)
      // Another chat with the same title may be in front by now: the next poll finds out whose it is.
      if (screen.screen !== 'transcript' || !ui.isSameChat(screen, handle)) return true
      await ui.takeTranscript(handle, screen, { signal, isWhole: false })
      if (newestOwn(ui.memory, handle)?.stage === 'sent' && !isLast) return false
      await ui.leaveChat({ screen, identity: { kind: 'person', handle } }, signal)
      return true
    })
    if (isOver) return
  }
}

function newestOwn(memory: TranscriptMemory, handle: Handle): Descriptor | undefined {
  return memory.chat(handle)?.findLast(({ isFromMe }) => isFromMe)
}

/** True if a message may still be delivered or read. */
function isOpen({ stage }: Descriptor): boolean {
  return stage === 'sent' || stage === 'delivered'
}
