// Every look at a transcript goes through here: what is new of it is told in order, and what was told is
// remembered together with it.

import type { Handle } from '../../../../domain/handle.ts'
import { timestamp } from '../../../../domain/ids.ts'
import type { Clock } from '../../../../system/clock.ts'
import type { Settlement } from '../../../driver.ts'
import { compareChat, knownAfter, type Comparison, type ReadRow } from './chat-comparison.ts'
import type { Bubble, TranscriptScreen } from './messages-screen.ts'
import type { OwnSends } from './own-sends.ts'
import type { TranscriptMemory } from './transcript-memory.ts'
import type { UiListener } from './ui-listener.ts'
import { receiptsOf } from './ui-receipts.ts'
import type { UiService } from './ui-words.ts'

export type ReaderTools = {
  readonly clock: Clock
  readonly memory: TranscriptMemory
  readonly own: OwnSends
  readonly listener: UiListener
  /** The phone's time zone, as the IANA names it. */
  readonly timeZone: () => string
}

/** What a look has brought: how many messages were told, and whether some may have been missed. */
export type LookResult = { readonly toldCount: number; readonly hasGap: boolean }

export function compare(
  tools: ReaderTools,
  handle: Handle,
  bubbles: readonly Bubble[],
): Comparison {
  const { memory, clock, timeZone } = tools
  return compareChat({ memory, now: clock.now(), timeZone: timeZone() }, handle, bubbles)
}

/**
 * Rejects where something could not be made durable; what was not told comes again. `isWhole` says that
 * the transcript had its time to load: what is missing of it is gone.
 */
export async function takeTranscript(
  tools: ReaderTools,
  handle: Handle,
  { bubbles, composer }: Pick<TranscriptScreen, 'bubbles' | 'composer'>,
  isWhole = false,
): Promise<LookResult> {
  const comparison = compare(tools, handle, bubbles)
  // Only the composer says by which service somebody else writes.
  const service = composer?.service ?? 'iMessage'
  keepSeen(tools, handle, comparison, isWhole)
  let toldCount = 0
  for (const row of comparison.rows) {
    if (!row.descriptor.isTold) toldCount += await tell(tools, handle, row, service)
  }
  await settleOthers(tools, handle)
  await tellReceipts(tools, handle, comparison.rows)
  tools.memory.settle(handle)
  return { toldCount, hasGap: comparison.hasGap }
}

/** A chat of which nothing was seen yet stays one that was never looked at. */
export function keepSeen(
  { memory }: ReaderTools,
  handle: Handle,
  comparison: Comparison,
  isWhole: boolean,
): void {
  const known = knownAfter(comparison, isWhole)
  if (known.length > 0) memory.keep(handle, known)
}

/** 1 where it was a message to tell, 0 where it was the end of one of ours. */
async function tell(
  tools: ReaderTools,
  handle: Handle,
  row: ReadRow,
  service: UiService,
): Promise<number> {
  const { bubble, descriptor } = row
  const { guid, at, isFromMe } = descriptor
  const claimed = isFromMe ? tools.own.claim(handle, bubble.text, at) : null
  if (claimed !== null) {
    const outcome = outcomeOf(row)
    const say = () => tools.listener.onSettled(claimed.messageId, outcome)
    await tellOnce(tools, handle, row, say).catch((error: unknown) => {
      tools.own.expect(claimed)
      throw error
    })
    return 0
  }
  const message = {
    guid,
    handle,
    text: bubble.isAttachment ? '' : bubble.text,
    at: timestamp(at),
    isFromMe,
    service: bubble.service ?? service,
  }
  await tellOnce(tools, handle, row, () => tools.listener.onMessage(message))
  return 1
}

/** It counts as told in the very memory that is stored with it. */
async function tellOnce(
  { memory }: ReaderTools,
  handle: Handle,
  { descriptor }: ReadRow,
  say: () => Promise<void>,
): Promise<void> {
  memory.amend(handle, descriptor.guid, { isTold: true })
  try {
    await say()
  } catch (error) {
    memory.amend(handle, descriptor.guid, { isTold: false })
    throw error
  }
}

export function outcomeOf({ bubble, descriptor }: ReadRow): Settlement {
  if (bubble.status?.kind === 'not_delivered') {
    return { outcome: 'not_sent', reason: 'not_delivered', blame: 'message' }
  }
  return { outcome: 'accepted', guid: descriptor.guid }
}

/** Messages of ours that a former life has seen here, and those that are not here. */
async function settleOthers(tools: ReaderTools, handle: Handle): Promise<void> {
  const { own, memory, listener, clock } = tools
  for (;;) {
    const kept = own.claimKept(handle, memory.chat(handle) ?? [])
    if (kept === null) break
    const { guid } = kept.descriptor
    await listener.onSettled(kept.expected.messageId, { outcome: 'accepted', guid })
  }
  for (const { messageId } of own.missed(handle, clock.now())) {
    const reason = 'unconfirmed'
    await listener.onSettled(messageId, { outcome: 'not_sent', reason, blame: 'message' })
  }
}

async function tellReceipts(
  { memory, listener, clock, timeZone }: ReaderTools,
  handle: Handle,
  rows: readonly ReadRow[],
): Promise<void> {
  const circumstances = { now: clock.now(), timeZone: timeZone() }
  for (const { receipt, stage } of receiptsOf(rows, circumstances)) {
    const before = memory.chat(handle)?.find(({ guid }) => guid === receipt.guid)
    memory.amend(handle, receipt.guid, { stage })
    try {
      await listener.onReceipt(receipt)
    } catch (error) {
      memory.amend(handle, receipt.guid, { stage: before?.stage ?? null })
      throw error
    }
  }
}
