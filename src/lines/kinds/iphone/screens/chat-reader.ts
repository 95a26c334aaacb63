// Every look at a transcript goes through here: its new bubbles are emitted in order, and remembered in the same
// transaction.

import { type Handle, isSamePerson } from '../../../../domain/handle.ts'
import { type MessageId, timestamp } from '../../../../domain/ids.ts'
import type { Clock } from '../../../../system/clock.ts'
import type { DeviceAttachment, LineEvent, Settlement } from '../../../driver.ts'
import type { PhoneAgent, TaskQueue, Urgency } from '../agent/wda.ts'
import { isStillThere, PhoneChats, type ReadChat } from './chat-identity.ts'
import { placeTimes, timeAtEnd } from './label-time.ts'
import { comparable, markWithoutTime, sharedMark } from './labels.ts'
import type { Bubble, TranscriptScreen } from './messages-screen.ts'
import { LOOK_MS } from './navigation.ts'
import type { OwnSends } from './own-sends.ts'
import type { Descriptor, OwnStage } from './transcript-memory.ts'
import { type Comparison, knownAfter, type ReadRow } from './transcript.ts'
import type { UiService } from './ui-words.ts'

/** Longest wait for the words in an empty composer, which show the service. */
const SERVICE_MS_MAX = 4_000
/** The service of a message if it is unknown: iMessages are announced, but text messages may not be. */
const UNKNOWN_SERVICE: UiService = 'iMessage'
/** The list shows at least this much of the last text. */
const PREVIEW_LENGTH = 20
const LAST_LOOKS = 3

type Look = {
  readonly signal: AbortSignal
  /** True if the transcript had time to load: then known bubbles that it lacks are gone. */
  readonly isWhole: boolean
}

/** Reads the chats of a phone for its line. */
export class ChatReader extends PhoneChats {
  readonly own: OwnSends
  /** Runs one sequence of touches on the phone at a time. */
  readonly queue: TaskQueue
  /** Resolves when the event is durable with its checkpoint; rejects if it could not be stored. */
  readonly emit: (event: LineEvent) => Promise<void>

  constructor(
    agent: PhoneAgent,
    clock: Clock,
    line: Pick<ChatReader, 'memory' | 'timeZone' | 'own' | 'queue' | 'emit'>,
  ) {
    super(agent, clock, line)
    this.own = line.own
    this.queue = line.queue
    this.emit = line.emit
  }

  /** The same reader, whose commands to the agent wait with this urgency. */
  at(urgency: Urgency): ChatReader {
    return new ChatReader(this.agent.at(urgency), this.clock, this)
  }

  async storeMemory(): Promise<void> {
    await this.emit({ type: 'checkpoint', checkpoint: this.memory.toText() })
  }

  /**
   * The chat once the service in its composer is certain: iMessage twice in a row, and not before `certainMs`; any
   * other service only after the longest wait. Null if another chat is on the screen by then.
   */
  async settleService(
    handle: Handle,
    certainMs: number,
    signal: AbortSignal,
  ): Promise<TranscriptScreen | null> {
    const startedAt = this.clock.monotonic()
    let before: UiService | null = null
    for (;;) {
      const screen = await this.look(signal)
      if (screen.screen !== 'transcript' || !this.isChatWith(screen, handle)) return null
      const service = screen.composer?.service ?? null
      const passedMs = this.clock.monotonic() - startedAt
      const isCertain = service === 'iMessage' && before === service && passedMs >= certainMs
      if (isCertain || passedMs >= SERVICE_MS_MAX) return screen
      before = service
      await this.clock.sleep(LOOK_MS, signal)
    }
  }

  /** Emits the new bubbles of a chat. Rejects if something could not be made durable; the rest is emitted later. */
  async takeTranscript(
    handle: Handle,
    screen: TranscriptScreen,
    { signal, isWhole }: Look,
  ): Promise<{ readonly reportedCount: number; readonly hasGap: boolean }> {
    const first = this.compare(handle, screen.bubbles)
    // If the last bubbles were taken now, they would hide those above: the next poll reads as far up as needed.
    if (!isWhole && first.hasMoreAbove) {
      this.memory.addPending(handle)
      return { reportedCount: 0, hasGap: false }
    }
    const isNew = ({ bubble, descriptor }: ReadRow) => !bubble.isFromMe && !descriptor.isReported
    const service = first.rows.some(isNew)
      ? await this.#serviceOfNewMessages(handle, signal)
      : UNKNOWN_SERVICE
    this.keepSeen(handle, first, isWhole)
    let reportedCount = 0
    for (const row of first.rows) {
      if (!row.descriptor.isReported) reportedCount += await this.#report(handle, row, service)
    }
    await this.#settleOthers(handle)
    await this.#emitReceipts(handle, first.rows)
    this.memory.removePending(handle)
    return { reportedCount, hasGap: first.hasGap }
  }

  /**
   * The service by which the other side wrote. Only the composer shows it, and only as of now: for messages that came
   * since the composer last said iMessage, it is unknown.
   */
  async #serviceOfNewMessages(handle: Handle, signal: AbortSignal): Promise<UiService> {
    const { memory } = this
    const settled = await this.settleService(handle, 0, signal)
    const isTexting = settled?.composer?.service === 'SMS'
    const isCertain = memory.chat(handle) === null || memory.isTexting(handle)
    memory.keepTexting(handle, isTexting)
    return isTexting && isCertain ? 'SMS' : UNKNOWN_SERVICE
  }

  /** Remembers the bubbles of a chat. A chat that has never had a bubble still counts as never read. */
  keepSeen(handle: Handle, comparison: Comparison, isWhole: boolean): void {
    const known = knownAfter(comparison, isWhole)
    if (known.length > 0) this.memory.keep(handle, known)
    this.memory.noteRead(handle, this.clock.now())
  }

  /** Returns 1 for a message, and 0 for a bubble that settles a message of ours or is left out. */
  async #report(handle: Handle, row: ReadRow, service: UiService): Promise<number> {
    const { memory, own } = this
    const { bubble, descriptor } = row
    const { guid, at, isFromMe } = descriptor
    // Marks the bubble as reported in the same checkpoint.
    memory.amend(handle, guid, { isReported: true })
    const expected = isFromMe ? own.takeMatch(handle, bubble.text, at) : null
    try {
      if (expected !== null) {
        await this.#settle(expected.messageId, outcomeOf(row))
        return 0
      }
      // The phone shows a link of ours in a separate bubble.
      if (isFromMe && own.takePreview(handle, bubble.text, at)) {
        await this.storeMemory()
        return 0
      }
      if (!isFromMe && isSamePerson(handle, memory.number, memory.home)) {
        const leftOut = { guid, kind: 'own', at: timestamp(at) } as const
        await this.emit({ type: 'left_out', leftOut, checkpoint: memory.toText() })
        return 0
      }
      const message = {
        guid,
        handle,
        // Kept even for an attachment: a person may have written the same word as the phone's word for a file.
        text: bubble.text,
        at: timestamp(at),
        isFromMe,
        service: bubble.service ?? service,
        isHistory: false,
        ...(bubble.isAttachment ? { attachments: [attachmentOf(bubble.text)] } : {}),
      }
      await this.emit({ type: 'message', message, checkpoint: memory.toText() })
      return 1
    } catch (error) {
      memory.amend(handle, guid, { isReported: false })
      if (expected !== null) own.expect(expected)
      throw error
    }
  }

  async #settle(messageId: MessageId, outcome: Settlement): Promise<void> {
    // The bubble is stored first: after a crash in between, the message is found by its bubble.
    await this.storeMemory()
    await this.emit({ type: 'settled', messageId, outcome })
  }

  /** Settles messages of ours whose bubbles an earlier run has seen here, and those whose bubbles are missing. */
  async #settleOthers(handle: Handle): Promise<void> {
    const { own, memory } = this
    for (;;) {
      const kept = own.takeKeptMatch(handle, memory.chat(handle) ?? [])
      if (kept === null) break
      await this.#settle(kept.messageId, accepted(kept.bubble))
    }
    const known = memory.chat(handle) ?? []
    for (const { messageId } of own.takeMissing(handle, known, this.clock.now())) {
      const blame = 'message'
      await this.#settle(messageId, { outcome: 'not_sent', reason: 'unconfirmed', blame })
    }
  }

  async #emitReceipts(handle: Handle, rows: readonly ReadRow[]): Promise<void> {
    const { memory, clock } = this
    for (const { guid, kind, at, service } of receiptsOf(rows, clock.now(), this.timeZone())) {
      const before = memory.chat(handle)?.find((bubble) => bubble.guid === guid)
      memory.amend(handle, guid, service === undefined ? { stage: kind } : { isText: true })
      try {
        const reason = kind === 'failed' ? 'not_delivered' : null
        const receipt = { guid, kind, at: timestamp(at), reason, service }
        await this.emit({ type: 'receipt', receipt, checkpoint: memory.toText() })
      } catch (error) {
        const { stage = null, isText = false } = before ?? {}
        memory.amend(handle, guid, { stage, isText })
        throw error
      }
    }
  }

  /**
   * Goes back to the list from a chat that was just read, or could not be. Its conversation counts as known only if
   * the list shows what was read: more may have come in between.
   */
  async leaveChat(read: ReadChat | null, signal: AbortSignal): Promise<void> {
    const last = read && (await this.#takeLast(read, signal))
    const list = await this.showList(signal)
    if (read === null || last === null) return
    const newest = last.bubbles.at(-1)
    const [cell, ...others] = list.cells.filter(
      ({ name, mark }) =>
        name === last.title && isRowOf(sharedMark(mark).slice(`${name}, `.length), newest),
    )
    // If several rows are equal, it is unknown which is the chat's.
    if (cell === undefined || cell.isUnread || others.length > 0) return
    this.memory.list.keep(cell, read.identity)
  }

  /**
   * Leaves the chat right after a look that shows nothing new, because the same text again, in the same minute,
   * leaves the list as it is. Returns the chat as it was then; if new bubbles kept coming, the chat is due again.
   */
  async #takeLast({ screen, identity }: ReadChat, signal: AbortSignal): Promise<TranscriptScreen> {
    let [shown, hasNew] = [screen, false]
    if (identity.kind !== 'person' || screen.back === null) return screen
    const isAllTaken = async () => {
      const now = await this.look(signal)
      if (now.screen !== 'transcript' || !isStillThere(shown, now)) return false
      shown = now
      const { rows } = this.compare(identity.handle, now.bubbles)
      hasNew = rows.some(({ descriptor }) => !descriptor.isReported)
      if (hasNew) await this.takeTranscript(identity.handle, now, { signal, isWhole: false })
      return !hasNew
    }
    for (let looks = 0; looks < LAST_LOOKS; looks += 1) {
      if (!(await this.touch(screen.back, signal, isAllTaken))) continue
      await this.clock.sleep(LOOK_MS, signal)
      return shown
    }
    if (hasNew) this.memory.addPending(identity.handle)
    return shown
  }
}

/** A file whose bytes the screen doesn't show; its name is the phone's word for it. */
function attachmentOf(text: string): DeviceAttachment {
  const filename = comparable(text)
  return { guid: 'screen', filename, declaredType: null, size: null, file: { state: 'not_kept' } }
}

export function outcomeOf({ bubble, descriptor }: ReadRow): Settlement {
  if (bubble.status?.kind === 'not_delivered') {
    return { outcome: 'not_sent', reason: 'not_delivered', blame: 'message' }
  }
  return accepted(descriptor)
}

function accepted({ guid, isText }: Descriptor): Settlement {
  return { outcome: 'accepted', guid, ...(isText ? { service: 'SMS' } : {}) }
}

type FoundReceipt = {
  readonly guid: string
  readonly kind: OwnStage
  readonly at: number
  /** Set if the message went by another service than it first said. */
  readonly service?: UiService | undefined
}

/** True if the phone sent an iMessage as a text message in the end, which changes the prefix of its label. */
function hasFallenBack({ bubble, descriptor }: ReadRow): boolean {
  const { stage, isText } = descriptor
  return bubble.service === 'SMS' && stage !== null && stage !== 'failed' && !isText
}

/** The status as far as it is certain: for a text message, Messages certainly shows only that it failed. */
function certainStatus({ service, status }: Bubble): Bubble['status'] {
  return service === 'iMessage' || status?.kind === 'not_delivered' ? status : null
}

/**
 * New receipts of own messages in a chat, oldest first, each step once. Messages shows only the status of the newest
 * own bubble, so older iMessages count as delivered with it.
 */
function receiptsOf(
  rows: readonly ReadRow[],
  now: number,
  timeZone: string,
): readonly FoundReceipt[] {
  const found: FoundReceipt[] = []
  let isLaterDelivered = false
  for (const row of rows.toReversed()) {
    const { bubble, descriptor } = row
    const { guid, stage } = descriptor
    if (!bubble.isFromMe || bubble.service === null) continue
    const status = certainStatus(bubble)
    const at = timeOf(status, now, timeZone)
    const isBelow = isLaterDelivered && bubble.service === 'iMessage'
    const steps = newSteps(stage, status, isBelow).map((kind) => ({ guid, kind, at }))
    found.unshift(...steps)
    if (hasFallenBack(row)) found.unshift({ guid, kind: 'sent', at: now, service: 'SMS' })
    isLaterDelivered ||= [status?.kind, stage].some((one) => one === 'delivered' || one === 'read')
  }
  return found
}

function timeOf(status: Bubble['status'], now: number, timeZone: string): number {
  if (status?.kind !== 'read' || status.minutes === null) return now
  const [at = now] = placeTimes([{ minutes: status.minutes, under: null }], now, timeZone)
  return at
}

/** The steps that a message of ours has passed from `stage` to the status that is shown. */
function newSteps(
  stage: OwnStage | null,
  shown: Bubble['status'],
  isLaterDelivered: boolean,
): readonly OwnStage[] {
  const status = shown?.kind ?? null
  if (stage === null || stage === 'read') return []
  if (status === 'not_delivered') return stage === 'sent' ? ['failed'] : []
  // A failed message counts as delivered only if its own bubble says so.
  if (status === null && !(isLaterDelivered && stage === 'sent')) return []
  const steps: readonly OwnStage[] = stage === 'delivered' ? [] : ['delivered']
  return status === 'read' ? [...steps, 'read'] : steps
}

/** True if the list's row shows this bubble, not a later one, or a longer text with the same beginning. */
function isRowOf(shown: string, bubble: Bubble | undefined): boolean {
  const minutes = timeAtEnd(shown.split('\t')[1] ?? '')
  if (minutes !== null && minutes !== bubble?.minutes) return false
  const text = comparable(bubble?.text ?? '')
  const preview = markWithoutTime(shown).trim()
  return preview === text || (preview.length >= PREVIEW_LENGTH && text.startsWith(preview))
}
