// What the status below own bubbles says. Only the newest one has any, so an older one that nobody saw
// delivered counts as delivered with it.

import { timestamp } from '../../../../domain/ids.ts'
import type { ReadRow } from './chat-comparison.ts'
import { placeTimes } from './label-time.ts'
import type { OwnStage } from './transcript.ts'
import type { UiReceipt } from './ui-listener.ts'

export type FoundReceipt = { readonly receipt: UiReceipt; readonly stage: OwnStage }

type Circumstances = { readonly now: number; readonly timeZone: string }

/** What is new of the own messages of a chat, oldest first, and each step once. */
export function receiptsOf(
  rows: readonly ReadRow[],
  circumstances: Circumstances,
): readonly FoundReceipt[] {
  const found: FoundReceipt[] = []
  let isLaterDelivered = false
  for (const row of rows.toReversed()) {
    const { bubble, descriptor } = row
    if (!bubble.isFromMe || bubble.service !== 'iMessage') continue
    const receipts = descriptor.stage === null ? [] : stepsOf(row, isLaterDelivered, circumstances)
    found.unshift(...receipts)
    isLaterDelivered ||= isDelivered(bubble.status?.kind) || isDelivered(descriptor.stage)
  }
  return found
}

function isDelivered(stage: string | null | undefined): boolean {
  return stage === 'delivered' || stage === 'read'
}

function stepsOf(
  { bubble, descriptor }: ReadRow,
  isLaterDelivered: boolean,
  circumstances: Circumstances,
): readonly FoundReceipt[] {
  const { guid, stage } = descriptor
  const { now } = circumstances
  const step = (kind: UiReceipt['kind'], at: number): FoundReceipt => {
    const reason = kind === 'failed' ? 'not_delivered' : null
    return { receipt: { guid, kind, at: timestamp(at), reason }, stage: kind }
  }
  if (bubble.status?.kind === 'read') {
    const readAt = readTime(bubble.status.minutes, circumstances)
    return stepsTo('read', stage).map((kind) => step(kind, readAt))
  }
  if (bubble.status?.kind === 'not_delivered') return stage === 'sent' ? [step('failed', now)] : []
  const isInferred = bubble.status === null
  // One that failed is delivered only where its own bubble says so.
  if (isInferred && !(isLaterDelivered && stage === 'sent')) return []
  return stepsTo('delivered', stage).map((kind) => step(kind, now))
}

const STEPS = ['delivered', 'read'] as const

/** The steps that are still to be told. */
function stepsTo(
  reached: 'delivered' | 'read',
  stage: OwnStage | null,
): readonly UiReceipt['kind'][] {
  if (stage === null || stage === 'read') return []
  return STEPS.slice(stage === 'delivered' ? 1 : 0, STEPS.indexOf(reached) + 1)
}

function readTime(minutes: number | null, { now, timeZone }: Circumstances): number {
  if (minutes === null) return now
  return placeTimes([{ minutes, under: null }], now, timeZone)[0] ?? now
}
