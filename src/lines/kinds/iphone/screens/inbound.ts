// Reads incoming messages: the list of conversations shows which chat has changed, and that chat is opened, read and
// left again. Opening it marks it as read, which the other side may see.

import type { Handle } from '../../../../domain/handle.ts'
import { isStillThere, type ReadChat } from './chat-identity.ts'
import type { ChatReader } from './chat-reader.ts'
import { markOfRead, readChatTitle } from './labels.ts'
import { ListWalk } from './list-walk.ts'
import type { ListCell, TranscriptScreen } from './messages-screen.ts'
import { isPhoneWide, LOOK_MS, troubleCodeOf, UiTrouble } from './navigation.ts'
import type { TranscriptMemory } from './transcript-memory.ts'
import { joinWindows } from './transcript.ts'

export type PollReport = {
  reportedCount: number
  /** Chats with several people: counted and left alone. */
  groups: number
  /** Chats in which something may have been missed. */
  gaps: number
}

/** After this many steps the next poll continues the walk over the list, and a finding reports it. */
const STEPS_MAX = 200
const SCROLLS_MAX = 3
const LOADING_LOOKS = 4
const GROUP = { kind: 'group' } as const
const BUSY_MS = 3_000
const IDLE_MS = 15_000
const IDLE_AFTER_MS = 600_000

/** The time between two polls; `quietMs` is the time since the last message. */
export function pollDelayMs(quietMs: number): number {
  return quietMs < IDLE_AFTER_MS ? BUSY_MS : IDLE_MS
}

/**
 * Emits everything new, and leaves the list on the screen. A waiting send goes in between two chats. Counts in
 * `report` what it finds, even if it rejects later. Rejects with `UiTrouble` or `AgentError`, and if something could
 * not be made durable.
 */
export async function pollInbound(
  reader: ChatReader,
  signal: AbortSignal,
  report: PollReport,
): Promise<void> {
  await new Poll(reader.at('poll'), signal, report).run()
}

class Poll {
  readonly #report: PollReport
  readonly #reader: ChatReader
  readonly #signal: AbortSignal
  readonly #walk: ListWalk

  constructor(reader: ChatReader, signal: AbortSignal, report: PollReport) {
    this.#report = report
    this.#reader = reader
    this.#signal = signal
    this.#walk = new ListWalk(reader.memory, reader.clock)
  }

  async run(): Promise<void> {
    const { memory, own, clock, timeZone } = this.#reader
    if (memory.list.beginReading(clock.now(), timeZone())) await this.#reader.storeMemory()
    await this.#walkList()
    // These chats must be read, whatever the list shows.
    for (const handle of new Set([
      ...memory.pending,
      ...own.drafts,
      ...own.dueLooks(clock.now()),
      ...memory.dueAgain(clock.now()),
    ])) {
      await this.#alone(() => this.#visitPending(handle))
    }
  }

  #alone<T>(task: () => Promise<T>): Promise<T> {
    return this.#reader.queue.run('poll', this.#signal, task)
  }

  /** Walks over the list, and moves it back to the top. */
  async #walkList(): Promise<void> {
    const { agent, memory } = this.#reader
    const walk = this.#walk
    let isOver = false
    try {
      for (let steps = 0; steps < STEPS_MAX && !isOver; steps += 1) {
        isOver = await this.#alone(() => this.#step())
      }
    } finally {
      memory.walks.isUnfinished = !walk.isFinished && (walk.hasSeenChange || !isOver)
    }
    for (; walk.swipes > 0; walk.swipes -= 1) {
      await this.#alone(() => agent.swipe('down', this.#signal))
    }
  }

  /** Reads and leaves an open chat, or makes one step on the list; returns whether the walk is over. */
  async #step(): Promise<boolean> {
    const { agent, clock } = this.#reader
    const screen = await this.#reader.look(this.#signal)
    if (screen.screen === 'transcript') {
      const read = await this.#orNull(() => this.#readChat(screen))
      await this.#reader.leaveChat(read, this.#signal)
      return false
    }
    const next = this.#walk.next(screen.cells)
    if (this.#walk.mustStore) await this.#reader.storeMemory()
    this.#walk.mustStore = false
    switch (next.move) {
      case 'visit':
        await this.#visitCell(next.cell)
        return false
      case 'swipe':
        await agent.swipe(next.direction, this.#signal)
        await clock.sleep(LOOK_MS, this.#signal)
        return false
      case 'end':
        return true
    }
  }

  async #visitPending(handle: Handle): Promise<void> {
    const { memory, own } = this.#reader
    let read: ReadChat | null = null
    try {
      read = await this.#readChat(await this.#reader.showChat(handle, this.#signal))
    } catch (error) {
      if (!(error instanceof UiTrouble) || error.code !== 'wrong_chat') throw error
      // A chat that can't be opened any more must not hold up the others.
      memory.removePending(handle)
      memory.noteRead(handle, this.#reader.clock.now())
      own.takeDraft(handle)
      this.#report.gaps += 1
    }
    await this.#reader.leaveChat(read, this.#signal)
  }

  /** Opens a conversation and reads it. After three failures the walk skips it for a minute. */
  async #visitCell(cell: ListCell): Promise<void> {
    const { memory, clock } = this.#reader
    if ((await this.#orNull(() => this.#openAndRead(cell))) === true) return
    memory.walks.noteFailure(cell.mark, clock.monotonic())
    // If even this fails, the phone is in trouble.
    await this.#reader.showList(this.#signal)
  }

  /** The result of `task`; null if it failed because of one chat, which must not hold up the others. */
  async #orNull<T>(task: () => Promise<T>): Promise<T | null> {
    try {
      return await task()
    } catch (error) {
      const code = troubleCodeOf(error)
      if (code === null || code === 'aborted' || isPhoneWide(code)) throw error
      return null
    }
  }

  /** Returns false if the conversation could not be opened, for example because the list has changed. */
  async #openAndRead(cell: ListCell): Promise<boolean> {
    const { memory } = this.#reader
    if (!(await this.#reader.touch(cell.place, this.#signal))) return false
    const screen = await this.#reader.waitForChat(this.#signal, settledTitle())
    if (screen === null) return false
    const read = await this.#readChat(screen)
    if (read === null || !isChatOf(this.#reader.memory, read.screen, cell)) return false
    this.#walk.noteVisit(cell)
    memory.list.keep({ ...cell, mark: markOfRead(cell.mark) }, read.identity)
    await this.#reader.storeMemory()
    await this.#reader.leaveChat(read, this.#signal)
    return true
  }

  /** Returns the chat and whose it is; null if the chat on the screen has changed: the next poll reads it. */
  async #readChat(opened: TranscriptScreen): Promise<ReadChat | null> {
    const begun = await this.#begun(opened)
    const { identity, screen } = await this.#reader.identify(begun, this.#signal)
    if (identity.kind === 'group') this.#report.groups += 1
    if (identity.kind === 'unproven' && !isWrittenTo(screen)) return { screen, identity: GROUP }
    if (identity.kind !== 'person') return { screen, identity }
    const { handle } = identity
    await this.#clearDraft(handle, screen)
    const shown = await this.#withAbove(handle, await this.#loaded(handle, screen))
    if (shown === null || !isStillThere(screen, shown)) return null
    if (this.#reader.hasOtherSender(shown)) {
      this.#report.groups += 1
      return { screen, identity: GROUP }
    }
    const look = { signal: this.#signal, isWhole: true }
    const { reportedCount, hasGap } = await this.#reader.takeTranscript(handle, shown, look)
    this.#report.reportedCount += reportedCount
    this.#report.gaps += hasGap ? 1 : 0
    return { screen: shown, identity }
  }

  /** Removes an unsent text of ours from the composer; if that fails, the next send does it. */
  async #clearDraft(handle: Handle, screen: TranscriptScreen): Promise<void> {
    const { own } = this.#reader
    const draft = await this.#reader.readDraft(screen, this.#signal)
    const isOurs = own.drafts.includes(handle) || own.isWaitingFor(handle, draft)
    if (draft !== '' && isOurs) await this.#reader.emptyComposer(screen, this.#signal)
    own.takeDraft(handle)
  }

  /** The chat once it shows a bubble, if it does so soon: without bubbles, nothing shows whose it is. */
  async #begun(opened: TranscriptScreen): Promise<TranscriptScreen> {
    let shown = opened
    for (let looks = 0; looks < LOADING_LOOKS && shown.bubbles.length === 0; looks += 1) {
      shown = (await this.#lookAgain()) ?? shown
    }
    return shown
  }

  /**
   * The chat once it has loaded: at once if all known bubbles are there, else after some looks. A chat that was never
   * read gets one more look.
   */
  async #loaded(handle: Handle, opened: TranscriptScreen): Promise<TranscriptScreen> {
    const looks = this.#reader.memory.chat(handle) === null ? 1 : LOADING_LOOKS
    let shown = opened
    for (let i = 0; i < looks; i += 1) {
      const isComplete = this.#reader.compare(handle, shown.bubbles).missing.length === 0
      if (isComplete && (looks > 1 || i > 0)) return shown
      shown = (await this.#lookAgain()) ?? shown
    }
    return shown
  }

  /** Scrolls up until known bubbles are in sight, and returns all bubbles; null if the windows don't fit together. */
  async #withAbove(handle: Handle, shown: TranscriptScreen): Promise<TranscriptScreen | null> {
    let all = shown
    for (let scrolls = 0; scrolls < SCROLLS_MAX; scrolls += 1) {
      if (!this.#reader.compare(handle, all.bubbles).hasMoreAbove) return all
      await this.#reader.agent.swipe('down', this.#signal)
      const screen = await this.#lookAgain()
      if (screen === null) return all
      const joined = joinWindows(screen.bubbles, all.bubbles)
      if (joined === null) return null
      const { bubbles, isCertain } = joined
      if (bubbles.length === all.bubbles.length) return all
      if (!isCertain) this.#report.gaps += 1
      all = { ...screen, bubbles }
    }
    return all
  }

  async #lookAgain(): Promise<TranscriptScreen | null> {
    await this.#reader.clock.sleep(LOOK_MS, this.#signal)
    const screen = await this.#reader.look(this.#signal)
    return screen.screen === 'transcript' ? screen : null
  }
}

/** True if the chat may be the cell's: only numbers and addresses can be compared. */
function isChatOf(
  memory: TranscriptMemory,
  { title, chat }: TranscriptScreen,
  { name }: ListCell,
): boolean {
  const cell = readChatTitle(name)
  if (title === name || cell.kind !== 'direct' || chat.kind === 'suggested') return true
  return (
    chat.kind === 'direct' && memory.personShown(chat.handle) === memory.personShown(cell.handle)
  )
}

/** True if the other side wrote. A chat where only the owner did can wait: it is reported once there is an answer. */
function isWrittenTo({ bubbles }: TranscriptScreen): boolean {
  return bubbles.some(({ isFromMe }) => !isFromMe)
}

/** Returns a test that is true once a title was the same twice in a row. */
function settledTitle(): (screen: TranscriptScreen) => boolean {
  let before = ''
  return ({ title }) => {
    const isSame = title !== '' && title === before
    before = title
    return isSame
  }
}
