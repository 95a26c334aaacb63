// When to look for what became of own messages. Messages shows it in the chat only, so the chat is opened
// now and then, ever more seldom.

import type { Handle } from '../../../../domain/handle.ts'
import type { TurnQueue } from '../agent/turn-queue.ts'
import { leaveChat } from './chat-leaving.ts'
import { takeTranscript, type ReaderTools } from './chat-reader.ts'
import type { TranscriptMemory } from './transcript-memory.ts'
import type { Descriptor } from './transcript.ts'
import { isChatWith, look, showChat, type Hands } from './ui-hands.ts'

export type ReceiptTools = Hands & ReaderTools & { readonly turns: TurnQueue }

/** While the chat is still open after a send: 1, 3 and 8 s after it. */
const LINGER_MS = [1_000, 2_000, 5_000]
const LOOKS_AFTER_MS = [30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000]
const WATCHED_MAX = 20

type Watched = { readonly since: number; readonly looks: number }

/** The chats whose newest own message may still be delivered or read. */
export class ReceiptWatch {
  readonly #watched = new Map<Handle, Watched>()

  /** Those of a former life of the line; looks whose time has passed are made up for by one. */
  static of(memory: TranscriptMemory, now: number): ReceiptWatch {
    const watch = new ReceiptWatch()
    for (const handle of memory.handles) {
      const newest = newestOwn(memory, handle)
      const isOpen = newest?.stage === 'sent' || newest?.stage === 'delivered'
      if (newest === undefined || !isOpen) continue
      const passedMs = now - newest.seenAt
      const looks = LOOKS_AFTER_MS.findLastIndex((ms) => ms <= passedMs)
      if (looks < LOOKS_AFTER_MS.length - 1) watch.#add(handle, newest.seenAt, Math.max(0, looks))
    }
    return watch
  }

  /** A message has gone out in this chat. */
  watch(handle: Handle, now: number): void {
    this.#add(handle, now, 0)
  }

  /** The chats to look at now. */
  due(now: number): readonly Handle[] {
    return [...this.#watched]
      .filter(([, { since, looks }]) => now - since >= (LOOKS_AFTER_MS[looks] ?? Infinity))
      .map(([handle]) => handle)
  }

  /** A chat was looked at, for whatever reason; ends with the last look, and with what cannot rise. */
  looked(handle: Handle, memory: TranscriptMemory, now: number): void {
    const watched = this.#watched.get(handle)
    if (watched === undefined) return
    const newest = newestOwn(memory, handle)
    const looks = LOOKS_AFTER_MS.findIndex((ms) => ms > now - watched.since)
    const isOver = newest?.stage !== 'sent' && newest?.stage !== 'delivered'
    if (isOver || looks === -1) this.#watched.delete(handle)
    else this.#watched.set(handle, { ...watched, looks })
  }

  #add(handle: Handle, since: number, looks: number): void {
    this.#watched.delete(handle)
    this.#watched.set(handle, { since, looks })
    if (this.#watched.size <= WATCHED_MAX) return
    for (const oldest of this.#watched.keys()) {
      this.#watched.delete(oldest)
      return
    }
  }
}

/** Opens the chat, tells what is new of it, and goes back to the list. */
export async function lookForReceipts(
  tools: ReceiptTools,
  handle: Handle,
  signal: AbortSignal,
): Promise<void> {
  const hands = { ...tools, agent: tools.agent.at('receipt') }
  await tools.turns.run('receipt', signal, async () => {
    const screen = await showChat(hands, handle, signal)
    await takeTranscript(hands, handle, screen)
    await leaveChat(hands, screen, signal)
  })
}

/**
 * Stays in the chat for a few seconds after a send, because most messages are delivered by then, and goes
 * back to the list. A send that waits does not wait for that, and its chat is left alone.
 */
export async function linger(
  tools: ReceiptTools,
  handle: Handle,
  signal: AbortSignal,
): Promise<void> {
  const hands = { ...tools, agent: tools.agent.at('receipt') }
  for (const [index, ms] of LINGER_MS.entries()) {
    await tools.clock.sleep(ms, signal)
    if (signal.aborted) return
    const isLast = index === LINGER_MS.length - 1
    const isOver = await tools.turns.run('receipt', signal, async () => {
      const screen = await look(hands, signal)
      if (screen.screen !== 'transcript' || !isChatWith(screen, handle)) return true
      await takeTranscript(hands, handle, screen)
      const isWaiting = newestOwn(tools.memory, handle)?.stage === 'sent'
      if (isWaiting && !isLast) return false
      await leaveChat(hands, screen, signal)
      return true
    })
    if (isOver) return
  }
}

function newestOwn(memory: TranscriptMemory, handle: Handle): Descriptor | undefined {
  return memory.chat(handle)?.findLast(({ isFromMe }) => isFromMe)
}
