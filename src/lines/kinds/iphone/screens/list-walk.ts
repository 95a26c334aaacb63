// One walk over the list of conversations, page by page. Newer conversations are above older ones, so the walk may
// end at conversations that are unchanged since the last finished walk. But conversations that were read since are
// near the top too, and pinned ones are above all others.

import type { Clock } from '../../../../system/clock.ts'
import { markOfRead, sharedMark } from './labels.ts'
import type { ListCell } from './messages-screen.ts'
import type { TranscriptMemory } from './transcript-memory.ts'

export type WalkMove =
  | { readonly move: 'visit'; readonly cell: ListCell }
  | { readonly move: 'swipe'; readonly direction: 'up' | 'down' }
  | { readonly move: 'end' }

/** Messages pins nine conversations at most (macrumors.com, "pin-unpin-conversations-ios-messages-app"). */
const PINS_MAX = 9
/** Swipes in a row without movement that prove the end of the list: a single one may not have registered. */
const STILL_SWIPES = 2
/** Interval of walks to the end while messages under a name are not reported: the name may be removed. */
const WHOLE_LIST_EVERY_MS = 3_600_000
/** Swipes of a new line's first walk, which remembers the conversations as they are. */
const FIRST_SWIPES = 8

export class ListWalk {
  /** True if everything that can have changed was visited. */
  isFinished = false
  /** True if the memory must be stored before anything else. */
  mustStore: boolean
  /** True if a changed conversation was seen, whether visited or not. */
  hasSeenChange = false
  /** Swipes that have moved the list up. */
  swipes = 0
  /** Swipes since the last visit, which may leave the list at its top. */
  #swipesSinceVisit = 0
  readonly #memory: TranscriptMemory
  readonly #clock: Clock
  readonly #isFirst: boolean
  /** Marks of visited conversations, in the form that the list shows once they are read. */
  readonly #visited = new Set<string>()
  /** Shared marks of which one conversation is new, and the list doesn't show which: all of them are visited. */
  readonly #doubtful = new Set<string>()
  /** Conversations in a row that are unchanged since the last finished walk. */
  readonly #unchanged = new Set<string>()
  readonly #seen = new Set<string>()
  #hasSkipped = false
  /** The first page; null until the list has been moved down as far as it goes. */
  #top: string | null = null
  #topNames: ReadonlySet<string> = new Set()
  #pageBefore: string | null = null
  #stillSwipes = 0

  constructor(memory: TranscriptMemory, clock: Clock) {
    this.#memory = memory
    this.#clock = clock
    // The beginning of a new line is stored before anything is emitted.
    this.mustStore = this.#isFirst = !memory.list.hasSeen
  }

  noteVisit({ mark }: ListCell): void {
    this.#visited.add(markOfRead(mark))
    this.#memory.walks.noteVisit(mark)
  }

  next(cells: readonly ListCell[]): WalkMove {
    const { walks } = this.#memory
    const page = JSON.stringify(cells.map(({ mark }) => mark))
    for (const { mark } of cells) this.#seen.add(mark)
    this.#keepHistory(cells)
    // The first walk only remembers: a new line goes online before it reports a message.
    const due = this.#isFirst ? null : this.#dueOf(cells)
    if (due !== null) {
      walks.hasVisitedBelow = this.swipes > 0
      this.#swipesSinceVisit = 0
      // When the chat is left, the list may be at its top again.
      this.#pageBefore = null
      return { move: 'visit', cell: due }
    }
    // A list without conversations may still be loading.
    if (cells.length === 0 || walks.isQuiet(page, this.#clock.monotonic())) return { move: 'end' }
    if (this.#top === null && !this.#isFirst && page !== this.#pageBefore) {
      this.#pageBefore = page
      return { move: 'swipe', direction: 'down' }
    }
    return this.#moveDown(page, cells)
  }

  #moveDown(page: string, cells: readonly ListCell[]): WalkMove {
    const isStill = this.#top !== null && page === this.#pageBefore
    this.#stillSwipes = isStill ? this.#stillSwipes + 1 : 0
    this.#pageBefore = page
    if (this.#top === null) {
      this.#top = page
      this.#topNames = new Set(cells.map(({ name }) => name))
    }
    for (const cell of cells) {
      if (this.#memory.list.isUnchanged(cell)) this.#unchanged.add(cell.mark)
      else this.#unchanged.clear()
    }
    const hasWalked = this.#memory.list.hasWalked
    const isOver = hasWalked
      ? this.#unchanged.size > PINS_MAX && !this.#mustSeeEnd
      : this.#swipesSinceVisit >= FIRST_SWIPES
    if (isOver || this.#stillSwipes >= STILL_SWIPES) return this.#end(this.#top)
    this.swipes += 1
    this.#swipesSinceVisit += 1
    return { move: 'swipe', direction: 'up' }
  }

  #end(top: string): WalkMove {
    if (this.#hasSkipped) return { move: 'end' }
    const isWhole = this.#stillSwipes >= STILL_SWIPES
    const now = this.#clock.monotonic()
    this.isFinished = true
    this.mustStore = this.#memory.list.finishWalk(isWhole ? this.#seen : null)
    this.#memory.walks.finish(top, now)
    if (isWhole) this.#memory.walks.endSeenAt = now
    return { move: 'end' }
  }

  get #mustSeeEnd(): boolean {
    const isDue = this.#clock.monotonic() - this.#memory.walks.endSeenAt >= WHOLE_LIST_EVERY_MS
    return isDue && this.#memory.list.hasHidden('named', 'unproven')
  }

  /** The first changed conversation that can be opened. */
  #dueOf(cells: readonly ListCell[]): ListCell | null {
    const { walks } = this.#memory
    this.#doubtAlike(cells)
    const due = cells.filter((cell) => {
      const isNew = !this.#memory.list.knows(cell) || this.#doubtful.has(sharedMark(cell.mark))
      return isNew && !this.#visited.has(markOfRead(cell.mark))
    })
    const now = this.#clock.monotonic()
    const open = due.find(({ mark }) => !walks.isResting(mark, now))
    this.hasSeenChange ||= due.length > 0
    this.#hasSkipped ||= due.some(({ mark }) => walks.isResting(mark, now))
    return open ?? null
  }

  #doubtAlike(cells: readonly ListCell[]): void {
    for (const cell of cells) {
      const { mark } = cell
      const shared = sharedMark(mark)
      const isFirst = shared === markOfRead(mark) || this.#doubtful.has(shared)
      if (isFirst || this.#memory.list.knows(cell)) continue
      this.#doubtful.add(shared)
      for (const visited of this.#visited) {
        if (sharedMark(visited) === shared) this.#visited.delete(visited)
      }
    }
  }

  /**
   * Remembers conversations from before the line, which are not opened. A memory of an earlier version knows only the
   * first page: then read conversations below that page are remembered too.
   */
  #keepHistory(cells: readonly ListCell[]): void {
    const { list } = this.#memory
    // New messages move conversations up: those above a row of the first page have changed since that page was read.
    const end = cells.findLastIndex(({ name }) => this.#topNames.has(name))
    for (const [index, cell] of cells.entries()) {
      const isBelow = index > end && this.swipes > 0
      const isLeftOver = isBelow && !list.hasWalked && !cell.isUnread && !list.knows(cell)
      const isOld = isBelow || this.#top === null
      const isHistory = this.#isFirst ? isOld && !list.mayBeNew(cell) : isLeftOver
      // Remembered without a kind: a group may have the name of a person whose own conversation is in the list too.
      if (isHistory) list.keep(cell, null)
    }
    list.hasSeen = true
  }
}
