// The way in of a phone line: the list of conversations says which chat has changed; that one is opened,
// read, and left again. Opening it marks it as read, which its other side may see.

import type { Handle } from '../../../../domain/handle.ts'
import type { TurnQueue } from '../agent/turn-queue.ts'
import { handleOf, leaveChat } from './chat-leaving.ts'
import { compare, takeTranscript, type ReaderTools } from './chat-reader.ts'
import { readChatTitle } from './chat-title.ts'
import type { ChatCell } from './conversation-cell.ts'
import type { Bubble, TranscriptScreen } from './messages-screen.ts'
import { joinWindows } from './transcript.ts'
import { emptyComposer } from './ui-compose.ts'
import {
  look,
  LOOK_MS,
  pressAwayAlert,
  readDraft,
  showChat,
  showList,
  UiTrouble,
  waitForChat,
  type Hands,
} from './ui-hands.ts'

export type InboundTools = Hands & ReaderTools & { readonly turns: TurnQueue }

/** What a poll met beside messages. */
export type PollReport = {
  toldCount: number
  /** Chats with several people: counted and left alone. */
  groups: number
  /** Chats that show a name instead of a number: a contact, which the phone must not have. */
  named: number
  /** Chats in which something may have been missed. */
  gaps: number
}

const PAGES_MAX = 5
const STEPS_MAX = 100
const SCROLLS_MAX = 3
const LOADING_LOOKS = 4
const BUSY_MS = 3_000
const IDLE_MS = 15_000
const IDLE_AFTER_MS = 600_000

/** How long to wait between two polls: `quietMs` is how long nothing has happened. */
export function pollDelayMs(quietMs: number): number {
  return quietMs < IDLE_AFTER_MS ? BUSY_MS : IDLE_MS
}

/**
 * Tells all that is new, and leaves the list on the screen. A send that waits goes in between two chats.
 * Rejects with `UiTrouble` or `AgentError`, and where something could not be made durable.
 */
export async function pollInbound(tools: InboundTools, signal: AbortSignal): Promise<PollReport> {
  const report: PollReport = { toldCount: 0, groups: 0, named: 0, gaps: 0 }
  const hands = { ...tools, agent: tools.agent.at('poll') }
  const turn = <T>(work: () => Promise<T>) => tools.turns.run('poll', signal, work)
  const walk: Walk = { seen: new Set(), swipes: 0, swipesInRow: 0 }
  let isOver = false
  for (let steps = 0; steps < STEPS_MAX && !isOver; steps += 1) {
    isOver = await turn(() => walkOn(hands, walk, report, signal))
  }
  for (; walk.swipes > 0; walk.swipes -= 1) await turn(() => hands.agent.swipe('down', signal))
  for (const handle of owedChats(tools)) await turn(() => visitOwed(hands, handle, report, signal))
  return report
}

/** One way down the list: the conversations that were visited on it, and how far it has been moved. */
type Walk = { readonly seen: Set<string>; swipes: number; swipesInRow: number }

/**
 * One step: a chat that is open is read and left, a conversation that has changed is visited, or the list
 * is moved on where all of it was visited just now. True at the end: newer ones stand above older ones,
 * and below one that is as it was before nothing has changed.
 */
async function walkOn(
  tools: InboundTools,
  walk: Walk,
  report: PollReport,
  signal: AbortSignal,
): Promise<boolean> {
  const screen = await look(tools, signal)
  if (screen.screen === 'transcript') {
    await readChat(tools, screen, report, signal)
    await leaveChat(tools, screen, signal)
    return false
  }
  const { cells } = screen
  if (!tools.memory.hasSeenList) {
    await keepFirstList(tools, cells)
    return true
  }
  const isSeen = ({ mark }: ChatCell) => walk.seen.has(markOfRead(mark))
  const due = cells.find((cell) => !isSeen(cell) && !tools.memory.knowsMark(cell.mark))
  if (due !== undefined) {
    walk.seen.add(markOfRead(due.mark))
    walk.swipesInRow = 0
    await visitCell(tools, due, report, signal)
    return false
  }
  if (!cells.every(isSeen) || cells.length === 0 || walk.swipesInRow >= PAGES_MAX) return true
  walk.swipes += 1
  walk.swipesInRow += 1
  await tools.agent.swipe('up', signal)
  await tools.clock.sleep(LOOK_MS, signal)
  return false
}

/** Chats that have to be looked at, whatever the list says. */
function owedChats({ memory, own, clock }: InboundTools): ReadonlySet<Handle> {
  return new Set([...memory.owed, ...own.drafts, ...own.dueLooks(clock.now())])
}

/** What was there before the line is history: from when on is stored before anything is told. */
async function keepFirstList(
  { memory, words, listener }: InboundTools,
  cells: readonly ChatCell[],
): Promise<void> {
  memory.keepList()
  for (const { mark, name } of cells) {
    memory.keepMark(mark, name, readChatTitle(name, words).kind === 'direct')
  }
  await listener.onMemory()
}

/** A conversation as it stands in the list once it has been read. */
function markOfRead(mark: string): string {
  return mark.replace('\n', '')
}

async function visitOwed(
  tools: InboundTools,
  handle: Handle,
  report: PollReport,
  signal: AbortSignal,
): Promise<void> {
  try {
    const screen = await showChat(tools, handle, signal)
    await readChat(tools, screen, report, signal)
  } catch (error) {
    if (!(error instanceof UiTrouble) || error.code !== 'wrong_chat') throw error
    // It cannot be reached any more, which must not hold up the others.
    tools.memory.settle(handle)
    tools.own.takeDraft(handle)
    report.gaps += 1
  }
  await showList(tools, signal)
}

async function visitCell(
  tools: InboundTools,
  { mark, name, point }: ChatCell,
  report: PollReport,
  signal: AbortSignal,
): Promise<void> {
  await tools.agent.tap({ by: 'point', ...point }, signal)
  const screen = await waitForChat(tools, signal, ({ title }) => title !== '')
  if (screen === null) {
    await pressAwayAlert(tools, signal)
    throw new UiTrouble('ui_unknown')
  }
  await readChat(tools, screen, report, signal)
  tools.memory.keepMark(markOfRead(mark), name, screen.chat.kind === 'direct')
  await tools.listener.onMemory()
  await showList(tools, signal)
}

async function readChat(
  tools: InboundTools,
  screen: TranscriptScreen,
  report: PollReport,
  signal: AbortSignal,
): Promise<void> {
  const { chat } = screen
  if (chat.kind === 'group') report.groups += 1
  if (chat.kind === 'named' && screen.title !== '') report.named += 1
  if (chat.kind !== 'direct') return
  const handle = handleOf(tools.memory, chat)
  await clearDraft(tools, handle, screen, signal)
  const shown = await loaded(tools, handle, screen.bubbles, signal)
  const bubbles = await withAbove(tools, handle, shown, signal)
  const { toldCount, hasGap } = await takeTranscript(tools, handle, { ...screen, bubbles }, true)
  report.toldCount += toldCount
  report.gaps += hasGap ? 1 : 0
}

/** Takes a text of ours out of the composer that was not sent; where that fails the next send does. */
async function clearDraft(
  tools: InboundTools,
  handle: Handle,
  screen: TranscriptScreen,
  signal: AbortSignal,
): Promise<void> {
  const { own } = tools
  const draft = await readDraft(tools, screen, signal)
  const isOurs = own.drafts.includes(handle) || own.isWaitingFor(handle, draft)
  if (draft !== '' && isOurs) await emptyComposer(tools, screen, signal)
  own.takeDraft(handle)
}

/**
 * The bubbles once the chat has loaded: at once where all that was known last is there, else after some
 * looks, and of a chat that was never looked at after one more.
 */
async function loaded(
  tools: InboundTools,
  handle: Handle,
  bubbles: readonly Bubble[],
  signal: AbortSignal,
): Promise<readonly Bubble[]> {
  const looks = tools.memory.chat(handle) === null ? 1 : LOADING_LOOKS
  let shown = bubbles
  for (let i = 0; i < looks; i += 1) {
    const isComplete = compare(tools, handle, shown).missing.length === 0
    if (isComplete && (looks > 1 || i > 0)) return shown
    await tools.clock.sleep(LOOK_MS, signal)
    const screen = await look(tools, signal)
    if (screen.screen !== 'transcript') return shown
    shown = screen.bubbles
  }
  return shown
}

/** The bubbles on the screen, and those above it as far as nothing known is in sight. */
async function withAbove(
  tools: InboundTools,
  handle: Handle,
  bubbles: readonly Bubble[],
  signal: AbortSignal,
): Promise<readonly Bubble[]> {
  let all = bubbles
  for (let scrolls = 0; scrolls < SCROLLS_MAX; scrolls += 1) {
    if (!compare(tools, handle, all).hasMoreAbove) return all
    await tools.agent.swipe('down', signal)
    await tools.clock.sleep(LOOK_MS, signal)
    const screen = await look(tools, signal)
    if (screen.screen !== 'transcript') return all
    const joined = joinWindows(screen.bubbles, all)
    if (joined.length === all.length) return all
    all = joined
  }
  return all
}
