// Messages received and sent, in the order in which the relay recorded them, for clients that continue after the number
// of their last message.

import { RefusedError } from '../../api/client.ts'
import type { AnyEvent, EventPayload } from '../../api/webhooks.ts'
import { timestamp } from '../../domain/ids.ts'
import { MINUTE_MS } from '../../domain/time.ts'
import { NEVER, type Clock } from '../../system/clock.ts'
import { isoTime } from '../../system/iso-time.ts'
import type { Chat } from '../chats.ts'
import { messageNumber, timeOfNumber } from '../numbers.ts'
import { chatWithId, type Reading } from './reads.ts'
import { messageView, reactionView } from './views.ts'

/** A message or reaction, with the fields that clients filter by. */
export type Entry = {
  readonly number: number
  readonly key: string
  readonly at: number
  readonly sender: string
  readonly isReaction: boolean
  readonly chat: Chat
  readonly view: (withFiles: boolean) => Promise<object>
}

export type Batch = {
  readonly entries: readonly Entry[]
  /** Continues behind this batch. */
  readonly position: string
  readonly hasMore: boolean
}

const NAMES = ['message.received', 'group_message.received', 'message.sent', 'group_message.sent']
const TYPES = [...NAMES, 'message.reaction'].join(',')
const PAGE = '100'

/** The position after the message with this number, from which the client lacks messages; null means now. */
export function positionAfter(number: number | null): string {
  if (number === null) return 'latest'
  return number < 0 ? 'oldest' : isoTime(timeOfNumber(number))
}

/** The next entries; waits up to `waitSeconds` for the first. */
export async function readBatch(
  reading: Reading,
  position: string,
  waitSeconds: number,
): Promise<Batch> {
  const {
    data,
    has_more: hasMore,
    next_cursor: next,
  } = await reading.relay.ask('listEvents', {
    query: { after: position, types: TYPES, limit: PAGE },
    headers: { prefer: `wait=${waitSeconds}` },
  })
  const entries: Entry[] = []
  for (const { id, created_at: at, payload } of data) {
    const entry = await entryOf(reading, { id, at, payload })
    if (entry !== null) entries.push(entry)
  }
  return { entries, position: next, hasMore }
}

type Recorded = { readonly id: string; readonly at: string; readonly payload: AnyEvent }

/** Null if the message was deleted, or isn't of this relay. */
async function entryOf(reading: Reading, { id, at, payload }: Recorded): Promise<Entry | null> {
  if (!('message' in payload) || payload.message === null) return null
  const found = await placed(reading, payload.message.id)
  if (found === null) return null
  const { message, chat } = found
  if (payload.event === 'message.reaction') return reactionEntry(payload, chat, { id, at })
  const number = messageNumber(message)
  return {
    number,
    key: message.id,
    at: timeOfNumber(number),
    sender: message.sender?.handle ?? message.handle,
    isReaction: false,
    chat,
    view: (withFiles) => messageView(message, chat, withFiles ? reading.fileAt : null),
  }
}

function reactionEntry(
  payload: EventPayload,
  chat: Chat,
  { id, at }: Pick<Recorded, 'id' | 'at'>,
): Entry {
  const number = messageNumber({ id, created_at: at })
  return {
    number,
    key: id,
    at: timeOfNumber(number),
    sender: payload.reaction?.handle ?? '',
    isReaction: true,
    chat,
    view: async () => reactionView(payload, chat, { eventId: id, number, at }),
  }
}

async function placed({ relay }: Reading, id: string) {
  try {
    const message = await relay.ask('getMessage', { params: { id } })
    return { message, chat: await chatWithId(relay, message.conversation_id) }
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return null
    throw error
  }
}

/** Longest time that later messages are held back for one whose file the device doesn't have yet. */
const HOLD_MS = 60_000

/**
 * The number of the earliest message that was overtaken because it waits for its files; Infinity if there is none. A
 * client continues after the highest number it has, so it would miss this message.
 */
export async function earliestWaiting({ relay }: Reading, entries: readonly Entry[]) {
  const newest = Math.max(...entries.map(({ at }) => at))
  const { data } = await relay.ask('listMessages', {
    query: {
      type: 'all',
      direction: 'inbound',
      limit: '200',
      created_after: isoTime(timestamp(newest - HOLD_MS)),
      created_before: isoTime(timestamp(newest)),
    },
  })
  const known = new Set(entries.map(({ key }) => key))
  const waiting = data.filter(
    ({ id, attachments = [] }) =>
      !known.has(id) && attachments.some(({ state }) => state === 'pending'),
  )
  return Math.min(...waiting.map(messageNumber))
}

export function inOrder(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((a, b) => a.number - b.number)
}

const WAIT_SECONDS = 25
const RETRY_MS = 1_000
/** After the first message, others of the same moment arrive within this time. */
const SETTLE_MS = 100
const REMEMBERED_MAX = 10_000

/** Emits what is recorded after `start` until `signal` aborts, and reconnects. Throws if the key is refused. */
export async function follow(
  reading: Reading,
  given: { readonly clock: Clock; readonly start: Start; readonly signal: AbortSignal },
  emit: (entry: Entry) => Promise<void>,
): Promise<void> {
  const { clock, start, signal } = given
  // This machine's clock may differ a little from the relay's.
  const startedAt = timestamp(clock.now() - MINUTE_MS)
  let position = start.position
  let last = start.after
  const seen = new Set<string>()
  // Other messages of the same millisecond may follow; the client recognizes them by their guid.
  const isNew = ({ key, number }: Entry) => !seen.has(key) && number !== start.after
  while (!signal.aborted) {
    try {
      const batch = await nextBatch(reading, clock, position, isNew)
      if (signal.aborted) return
      for (const entry of inOrder(batch.entries)) {
        await emit(entry)
        remember(seen, entry.key)
        last = Math.max(last ?? 0, entry.number)
      }
      position = batch.position
    } catch (error) {
      if (isForGood(error)) throw error
      // After a restore, the relay no longer has the last event.
      const isGone = error instanceof RefusedError && error.code === 'events_gone'
      if (isGone) position = last === null ? isoTime(startedAt) : positionAfter(last)
      await clock.sleep(RETRY_MS, signal)
    }
  }
}

/** True if the relay refuses the key, or has no key for imsg anymore. */
function isForGood(error: unknown): boolean {
  return error instanceof RefusedError && [401, 403, 404].includes(error.status)
}

export type Start = {
  readonly position: string
  /** The number of the client's last message; null if it only wants new messages. */
  readonly after: number | null
}

function remember(seen: Set<string>, key: string): void {
  seen.add(key)
  const [oldest] = seen
  if (seen.size > REMEMBERED_MAX && oldest !== undefined) seen.delete(oldest)
}

/** The next new entries, once no earlier message is still waiting for its files. */
async function nextBatch(
  reading: Reading,
  clock: Clock,
  position: string,
  isNew: (entry: Entry) => boolean,
): Promise<Batch> {
  let batch = await readBatch(reading, position, WAIT_SECONDS)
  const grow = async (waitSeconds: number) => {
    const more = await readBatch(reading, batch.position, waitSeconds)
    batch = { ...more, entries: [...batch.entries, ...more.entries] }
  }
  if (batch.entries.length === 0) return batch
  await clock.sleep(SETTLE_MS, NEVER)
  await grow(0)
  const until = clock.monotonic() + HOLD_MS
  for (;;) {
    const entries = batch.entries.filter(isNew)
    if (entries.length === 0 || clock.monotonic() > until) return { ...batch, entries }
    if ((await earliestWaiting(reading, entries)) === Infinity) return { ...batch, entries }
    await grow(1)
  }
}
