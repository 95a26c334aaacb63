import type { Clock } from '../system/clock.ts'
import { Signal } from '../system/signal.ts'

/** Tells every event to whoever listens, as the JSON text that webhooks get. */
export type EventFeed = {
  /** Returns what ends the subscription. */
  subscribe(listener: (event: string) => void): () => void
}

const HEARTBEAT_MS = 15_000
const WAITING_MAX = 1_000

/**
 * Events as they happen, one line of JSON each, and an empty line every 15 seconds of silence. A
 * reader that falls 1,000 events behind is cut off. Ends when `signal` aborts.
 */
export function eventStream(
  feed: EventFeed,
  clock: Clock,
  signal: AbortSignal,
): ReadableStream<string> {
  const end = new AbortController()
  const lines = eventLines(feed, clock, AbortSignal.any([signal, end.signal]))
  return new ReadableStream<string>({
    async pull(controller) {
      const next = await lines.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      end.abort()
      await lines.return(undefined)
    },
  })
}

async function* eventLines(
  feed: EventFeed,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  const waiting: string[] = []
  const wake = new Signal()
  const stop = feed.subscribe((event) => {
    if (waiting.length <= WAITING_MAX) waiting.push(`${event}\n`)
    wake.notify()
  })
  try {
    // The first line opens the answer: without a byte the reader would wait for its headers.
    yield '\n'
    while (!signal.aborted && waiting.length <= WAITING_MAX) {
      if (waiting.length === 0) await wake.wait(clock, HEARTBEAT_MS, signal)
      yield waiting.length === 0 ? '\n' : waiting.splice(0).join('')
    }
  } finally {
    stop()
  }
  return undefined
}
