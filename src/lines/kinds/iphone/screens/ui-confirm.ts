// What became of a send whose button was touched: only the screen can say, whatever the touch answered.

import { deadline } from '../../../../system/clock.ts'
import type { Settlement } from '../../../driver.ts'
import type { ReadRow } from './chat-comparison.ts'
import { compare, outcomeOf } from './chat-reader.ts'
import { readScreen, type TranscriptScreen } from './messages-screen.ts'
import { isTimeOf, saysText } from './own-sends.ts'
import { emptyComposer, holds, type Composed, type ComposeTools, type Draft } from './ui-compose.ts'
import { isChatWith, LOOK_MS, showChat } from './ui-hands.ts'
import type { UiService } from './ui-words.ts'

/** How a send ended, and by which service its bubble says that it went. */
export type Confirmed = { readonly outcome: Settlement; readonly service: UiService | null }

const BUBBLE_MS_MAX = 8_000
/** The agent may be slow; after that nobody waits any longer. */
const GIVE_UP_MS = 25_000
const CLEAR_MS_MAX = 15_000

/** Never touches the button again, and never rejects. */
export async function confirm(
  tools: ComposeTools,
  draft: Draft,
  composed: Composed,
): Promise<Confirmed> {
  const { clock } = tools
  const limit = deadline(clock, GIVE_UP_MS)
  const startedAt = clock.monotonic()
  try {
    for (;;) {
      const screen = await glance(tools, draft, limit.signal)
      const row = screen === null ? null : ownRow(tools, draft, composed, screen)
      const isLate = clock.monotonic() - startedAt >= BUBBLE_MS_MAX
      if (row !== null && (isLate || screen?.composer?.draft === ''))
        return accept(tools, draft, row)
      if (isLate) break
      await clock.sleep(LOOK_MS, limit.signal)
    }
    return await lastLook(tools, draft, composed, limit.signal)
  } finally {
    limit.clear()
  }
}

/** The chat as it is now; null where it is not on the screen, or nobody answers. */
async function glance(
  { agent, words }: ComposeTools,
  { handle }: Draft,
  signal: AbortSignal,
): Promise<TranscriptScreen | null> {
  try {
    const screen = readScreen(await agent.tree(signal), words)
    return screen.screen === 'transcript' && isChatWith(screen, handle) ? screen : null
  } catch {
    return null
  }
}

/** The bubble that came after the baseline and says our text. */
function ownRow(
  tools: ComposeTools,
  { handle, text }: Draft,
  { guids }: Composed,
  { bubbles }: TranscriptScreen,
): ReadRow | null {
  const { rows } = compare(tools, handle, bubbles)
  const now = tools.clock.now()
  const isOurs = ({ bubble, descriptor: { guid, at } }: ReadRow) =>
    bubble.isFromMe && !guids.has(guid) && isTimeOf(now, at) && saysText(bubble.text, text)
  return rows.find(isOurs) ?? null
}

/** The bubble is known from now on, under the guid that the outcome names. */
function accept(tools: ComposeTools, { handle }: Draft, row: ReadRow): Confirmed {
  const { memory } = tools
  const known = memory.chat(handle) ?? []
  memory.keep(handle, [...known, { ...row.descriptor, isTold: true }])
  return { outcome: outcomeOf(row), service: row.bubble.service }
}

/** The time is up. A text that is still in the composer is taken out of it, and then it was never sent. */
async function lastLook(
  tools: ComposeTools,
  draft: Draft,
  composed: Composed,
  signal: AbortSignal,
): Promise<Confirmed> {
  try {
    const screen =
      (await glance(tools, draft, signal)) ?? (await showChat(tools, draft.handle, signal))
    const row = ownRow(tools, draft, composed, screen)
    if (row !== null) return accept(tools, draft, row)
    if (!(await holds(tools, screen, draft, signal))) return unknown('no_bubble')
    return await takeBack(tools, draft, composed)
  } catch {
    return unknown('no_answer')
  }
}

async function takeBack(tools: ComposeTools, draft: Draft, composed: Composed): Promise<Confirmed> {
  const limit = deadline(tools.clock, CLEAR_MS_MAX)
  try {
    const screen = await glance(tools, draft, limit.signal)
    if (screen === null) return unknown('no_answer')
    await emptyComposer(tools, screen, limit.signal)
    const after = await glance(tools, draft, limit.signal)
    const row = after === null ? null : ownRow(tools, draft, composed, after)
    if (row !== null) return accept(tools, draft, row)
    if (after?.composer?.draft !== '') return unknown('not_cleared')
    const outcome = { outcome: 'not_sent', reason: 'not_touched', blame: 'line' } as const
    return { outcome, service: null }
  } finally {
    limit.clear()
  }
}

function unknown(reason: string): Confirmed {
  return { outcome: { outcome: 'unknown', reason }, service: null }
}
