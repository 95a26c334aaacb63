// Every look at a transcript goes through here: what is new of it is emitted in order, and remembered in the
// same transaction.

import type { Handle } from '../../../../domain/handle.ts'
import { type MessageId, timestamp } from '../../../../domain/ids.ts'
import type { DeviceAttachment, LineEvent, Settlement } from '../../../driver.ts'
import type { TaskQueue } from '../agent/wda.ts'
import { placeTimes } from './label-time.ts'
import { type ChatTitle, comparable, isTitleOf } from './labels.ts'
import type { Bubble, TranscriptScreen } from './messages-screen.ts'
import { showList, type UiTools } from './navigation.ts'
import type { OwnSends } from './own-sends.ts'
import type { OwnStage, TranscriptMemory } from './transcript-memory.ts'
import { compareChat, type Comparison, knownAfter, type ReadRow } from './transcript.ts'
import type { UiService } from './ui-words.ts'

export type ChatTools = UiTools & {
  readonly memory: TranscriptMemory
  readonly own: OwnSends
  /** Sequences of touches on the phone, one at a time. */
  readonly queue: TaskQueue
  /** The phone's time zone, as the IANA names it. */
  readonly timeZone: () => string
  /** Resolves when the event is durable with its checkpoint, and rejects where it could not be. */
  readonly emit: (event: LineEvent) => Promise<void>
}

export function compare(
  { memory, clock, timeZone }: ChatTools,
  handle: Handle,
  bubbles: readonly Bubble[],
): Comparison {
  return compareChat({ memory, now: clock.now(), timeZone: timeZone() }, handle, bubbles)
}

/**
 * Emits what is new of a chat. Rejects where something could not be made durable; the rest comes again.
 * `isWhole` means that the transcript had time to load: bubbles that are missing from it are gone.
 */
export async function takeTranscript(
  tools: ChatTools,
  handle: Handle,
  { bubbles, composer }: Pick<TranscriptScreen, 'bubbles' | 'composer'>,
  isWhole = false,
): Promise<{ readonly reportedCount: number; readonly hasGap: boolean }> {
  const comparison = compare(tools, handle, bubbles)
  // Taken now, the last bubbles would hide those above them: the next poll reads the chat as far up as needed.
  if (!isWhole && comparison.hasMoreAbove) {
    tools.memory.addPending(handle)
    return { reportedCount: 0, hasGap: false }
  }
  // Only the composer shows by which service the other side writes.
  const service = composer?.service ?? 'iMessage'
  keepSeen(tools, handle, comparison, isWhole)
  let reportedCount = 0
  for (const row of comparison.rows) {
    if (!row.descriptor.isReported) reportedCount += await report(tools, handle, row, service)
  }
  await settleOthers(tools, handle)
  await emitReceipts(tools, handle, comparison.rows)
  tools.memory.removePending(handle)
  return { reportedCount, hasGap: comparison.hasGap }
}

/** A chat without any bubble so far stays one that was never looked at. */
export function keepSeen(
  { memory }: ChatTools,
  handle: Handle,
  comparison: Comparison,
  isWhole: boolean,
): void {
  const known = knownAfter(comparison, isWhole)
  if (known.length > 0) memory.keep(handle, known)
}

export async function storeMemory({ memory, emit }: ChatTools): Promise<void> {
  await emit({ type: 'checkpoint', checkpoint: memory.toText() })
}

/** Returns 1 for a message, and 0 for a bubble that settles a message of ours. */
async function report(
  tools: ChatTools,
  handle: Handle,
  row: ReadRow,
  service: UiService,
): Promise<number> {
  const { memory, own, emit } = tools
  const { bubble, descriptor } = row
  const { guid, at, isFromMe } = descriptor
  // The bubble counts as reported in the very checkpoint that is stored with it.
  memory.amend(handle, guid, { isReported: true })
  const expected = isFromMe ? own.takeMatch(handle, bubble.text, at) : null
  try {
    if (expected !== null) {
      await settle(tools, expected.messageId, outcomeOf(row))
      return 0
    }
    const message = {
      guid,
      handle,
      text: bubble.isAttachment ? '' : bubble.text,
      at: timestamp(at),
      isFromMe,
      service: bubble.service ?? service,
      isHistory: false,
      ...(bubble.isAttachment ? { attachments: [attachmentOf(bubble.text)] } : {}),
    }
    await emit({ type: 'message', message, checkpoint: memory.toText() })
    return 1
  } catch (error) {
    memory.amend(handle, guid, { isReported: false })
    if (expected !== null) own.expect(expected)
    throw error
  }
}

/** A file of which the screen shows no bytes: the phone's word for it stands for its name. */
function attachmentOf(text: string): DeviceAttachment {
  const filename = comparable(text)
  return { guid: 'screen', filename, declaredType: null, size: null, file: { state: 'not_kept' } }
}

export function outcomeOf({ bubble, descriptor }: ReadRow): Settlement {
  if (bubble.status?.kind === 'not_delivered') {
    return { outcome: 'not_sent', reason: 'not_delivered', blame: 'message' }
  }
  return { outcome: 'accepted', guid: descriptor.guid }
}

async function settle(tools: ChatTools, messageId: MessageId, outcome: Settlement): Promise<void> {
  // The bubble first: after a crash in between the message is found by it.
  await storeMemory(tools)
  await tools.emit({ type: 'settled', messageId, outcome })
}

/** Settles messages of ours whose bubbles an earlier run has seen here, and those that are not here. */
async function settleOthers(tools: ChatTools, handle: Handle): Promise<void> {
  const { own, memory, clock } = tools
  for (;;) {
    const kept = own.takeKeptMatch(handle, memory.chat(handle) ?? [])
    if (kept === null) break
    await settle(tools, kept.messageId, { outcome: 'accepted', guid: kept.guid })
  }
  for (const { messageId } of own.takeMissing(handle, clock.now())) {
    await settle(tools, messageId, { outcome: 'not_sent', reason: 'unconfirmed', blame: 'message' })
  }
}

async function emitReceipts(
  { memory, emit, clock, timeZone }: ChatTools,
  handle: Handle,
  rows: readonly ReadRow[],
): Promise<void> {
  for (const { guid, kind, at } of receiptsOf(rows, clock.now(), timeZone())) {
    const before = memory.chat(handle)?.find((bubble) => bubble.guid === guid)
    memory.amend(handle, guid, { stage: kind })
    try {
      const reason = kind === 'failed' ? 'not_delivered' : null
      const receipt = { guid, kind, at: timestamp(at), reason }
      await emit({ type: 'receipt', receipt, checkpoint: memory.toText() })
    } catch (error) {
      memory.amend(handle, guid, { stage: before?.stage ?? null })
      throw error
    }
  }
}

type FoundReceipt = {
  readonly guid: string
  readonly kind: 'delivered' | 'read' | 'failed'
  readonly at: number
}

/**
 * New receipts of the own messages of a chat, oldest first, each step once. Messages shows the status of
 * the newest own bubble only, so an older one that was not seen delivered counts as delivered with it.
 */
function receiptsOf(
  rows: readonly ReadRow[],
  now: number,
  timeZone: string,
): readonly FoundReceipt[] {
  const found: FoundReceipt[] = []
  let isLaterDelivered = false
  for (const { bubble, descriptor } of rows.toReversed()) {
    const { guid, stage } = descriptor
    if (!bubble.isFromMe || bubble.service !== 'iMessage') continue
    const status = bubble.status?.kind ?? null
    const readMinutes = bubble.status?.kind === 'read' ? bubble.status.minutes : null
    const read = readMinutes === null ? [] : [{ minutes: readMinutes, under: null }]
    const [at = now] = placeTimes(read, now, timeZone)
    const kinds = newSteps(stage, status, isLaterDelivered)
    found.unshift(...kinds.map((kind) => ({ guid, kind, at })))
    isLaterDelivered ||= [status, stage].some((one) => one === 'delivered' || one === 'read')
  }
  return found
}

/** The steps of an own message from `stage` to the status below its bubble. */
function newSteps(
  stage: OwnStage | null,
  status: 'delivered' | 'read' | 'not_delivered' | null,
  isLaterDelivered: boolean,
): readonly FoundReceipt['kind'][] {
  if (stage === null || stage === 'read') return []
  if (status === 'not_delivered') return stage === 'sent' ? ['failed'] : []
  // A message that failed is delivered only where its own bubble says so.
  if (status === null && !(isLaterDelivered && stage === 'sent')) return []
  const steps: readonly FoundReceipt['kind'][] = stage === 'delivered' ? [] : ['delivered']
  return status === 'read' ? [...steps, 'read'] : steps
}

/** The part of the last text that the list shows at least. */
const PREVIEW_LENGTH = 20

/**
 * Goes back to the list from a chat that was just read. Its conversation counts as known only if the list
 * shows what was read: more may have come in between.
 */
export async function leaveChat(
  tools: ChatTools,
  { title, chat, bubbles }: TranscriptScreen,
  signal: AbortSignal,
): Promise<void> {
  const list = await showList(tools, signal)
  const cell = list.cells.find(({ name }) => name === title)
  const preview = comparable(bubbles.at(-1)?.text ?? '').slice(0, PREVIEW_LENGTH)
  if (cell === undefined || cell.isUnread || !cell.mark.includes(preview)) return
  tools.memory.keepMark(cell.mark, cell.name, chat.kind === 'direct')
}

/** The handle of a chat, with its country where the title lacks that and the number is known with it. */
export function handleOf(
  memory: TranscriptMemory,
  chat: Extract<ChatTitle, { readonly kind: 'direct' }>,
): Handle {
  if (memory.chat(chat.handle) !== null) return chat.handle
  return memory.handles.find((handle) => isTitleOf(chat, handle)) ?? chat.handle
}
