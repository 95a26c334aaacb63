// Messages on real SQLite, without a relay around them: a line, perhaps a second one, and a record of events
// and answers. For the tables of what happens to a message in one transaction.

import { daysIn } from '../../src/domain/days.ts'
import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type Timestamp } from '../../src/domain/ids.ts'
import { NO_CAPABILITIES, type Line } from '../../src/domain/line.ts'
import { sentencesOf, type StoredStatus, type Outbound } from '../../src/domain/message.ts'
import type { EventName } from '../../src/domain/webhook.ts'
import type { LineSnapshot } from '../../src/lines/line-state.ts'
import { DeviceChanges } from '../../src/messages/device-changes.ts'
import { MessageQueue } from '../../src/messages/queue.ts'
import { Routing, type LineDirectory } from '../../src/messages/routing.ts'
import { Outcomes } from '../../src/messages/settle.ts'
import { WaitingCallers } from '../../src/messages/waiting-callers.ts'
import { noteMessage, openConversation } from '../../src/storage/conversations.ts'
import type { Core } from '../../src/storage/core.ts'
import {
  consumeSlot,
  contactUsage,
  readContact,
  reserveSlot,
  type History,
} from '../../src/storage/daily-contacts.ts'
import type { Tx } from '../../src/storage/database.ts'
import { insertLine } from '../../src/storage/lines.ts'
import { initialPosition } from '../../src/storage/message-queue.ts'
import {
  findMessage,
  insertMessage,
  newMessage,
  updateMessage,
} from '../../src/storage/messages.ts'
import { TEST_START } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

export const NOW = timestamp(TEST_START)
export const DAYS = daysIn(() => ({ zone: 'UTC', held: null }))
export const PERSON = deviceHandle('+12025550147')

export type MessageStage = ReturnType<typeof openStage>

/** `numbers` are those of its lines, in order of creation; all are online. */
export function openStage(numbers: readonly string[] = ['+12025550801'], dailyContactLimit = 50) {
  const { core, clock } = openTestStorage()
  const { db, ids } = core
  const tx = { ...db, changes: null } as unknown as Tx // Nobody else has this database.
  const lines = numbers.map((number) =>
    insertLine(tx, ids, { driver: 'mac', key: number, box: null, number, dailyContactLimit }),
  )
  const [line] = lines
  if (line === undefined) throw new Error('A stage has a line.')
  const events: EventName[] = []
  const answered: StoredStatus[] = []
  const publish = Object.assign((_tx: Tx, name: EventName) => void events.push(name), {
    unplacedReaction: () => {},
    groupUpdate: () => {},
    optOut: () => {},
    alert: () => {},
  })
  const callers = new RecordingCallers(core, answered)
  const directory = directoryOf(lines)
  const deviceChanges = new DeviceChanges(core, { publish })
  const sentenceOf = sentencesOf([])
  const outcomes = new Outcomes(core, { publish, callers, sentenceOf, deviceChanges })
  const routing = new Routing(core, { directory })
  const queue = new MessageQueue(core, { directory, callers, routing, outcomes })
  return { core, clock, tx, line, lines, ids, outcomes, queue, events, answered }
}

class RecordingCallers extends WaitingCallers {
  readonly #answered: StoredStatus[]

  constructor(core: Core, answered: StoredStatus[]) {
    super(core, { waitReason: () => null })
    this.#answered = answered
  }

  override settled(_tx: Tx, { status }: Pick<Outbound, 'status'>): void {
    this.#answered.push(status)
  }
}

function directoryOf(lines: readonly Line[]): LineDirectory {
  const snapshots = lines.map((line): LineSnapshot => ({
    line,
    state: { status: 'online', imessageActive: true, capabilities: NO_CAPABILITIES },
    isReal: true,
    abilities: NO_CAPABILITIES,
    isConfigured: true,
    inFlight: 0,
    capacity: 1,
  }))
  return {
    practiceKinds: [],
    lines: () => snapshots,
    find: (id) => snapshots.find(({ line }) => line.id === id) ?? null,
    knows: () => Promise.reject(new Error('No device is asked in a transaction.')),
    send: () => Promise.reject(new Error('No device is called in a transaction.')),
  }
}

/**
 * Accepts a message to `PERSON` on a line, with its place in the budget and in the conversation. It takes no
 * place where the device could not be asked: then `history` is null.
 */
export function queueMessage(
  { tx, line: first, ids }: MessageStage,
  {
    text = 'hello',
    isPinned = false,
    line = first,
    history = false,
  }: {
    readonly text?: string
    readonly isPinned?: boolean
    readonly line?: Line | undefined
    readonly history?: History
  } = {},
): Outbound {
  const party = { lineId: line.id, phoneNumber: line.number, handle: PERSON }
  const conversationId = openConversation(tx, ids, { ...party, now: NOW })
  const hold = reserveSlot(tx, line, PERSON, { history, findDay: () => DAYS.of(NOW, line.id) })
  if (hold === 'full') throw new Error('The line has no place left.')
  const base = { ...party, id: ids.id('msg'), conversationId, text, createdAt: NOW }
  const position = initialPosition(tx, { conversationId, text }, NOW)
  const message = insertMessage(
    tx,
    newMessage(
      { ...base, guid: base.id, source: 'api' },
      { isPinned, contactHold: hold, ...position },
    ),
  )
  noteMessage(tx, conversationId, message, NOW)
  return message
}

/** The message past its point of no return. */
export function passMessage({ tx, line }: MessageStage, message: Outbound): Outbound {
  const contactHold = consumeSlot(tx, line, message, () => DAYS.of(NOW, line.id))
  if (contactHold === null) throw new Error('The day of the line is spent.')
  const passed = { contactHold, note: 'note', passedAt: NOW, dueAt: null, queuedReason: null }
  return updateMessage(tx, message, { ...passed, status: 'sending' }, NOW)
}

/** The message as it is stored. */
export function storedMessage({ tx }: MessageStage, { id }: Pick<Outbound, 'id'>): Outbound {
  const message = findMessage(tx, id)
  if (message === null) throw new Error('The message is not stored.')
  return message
}

/** The figures of all quarters, and those that counting the messages gives: sent, failed, uncertain. */
export function figuresOf({ tx }: MessageStage): readonly [kept: unknown, counted: unknown] {
  const kept = 'sum(sent) AS sent, sum(failed) AS failed, sum(uncertain) AS uncertain'
  const counted = `sum(status IN ('sent', 'delivered', 'read')) AS sent,
    sum(status IN ('failed', 'expired')) AS failed, sum(status = 'uncertain') AS uncertain`
  const of = (sql: string) => tx.row<Readonly<Record<string, number | null>>>(sql)
  return [
    Object.values(of(`SELECT ${kept} FROM message_quarters`) ?? {}).map((count) => count ?? 0),
    Object.values(of(`SELECT ${counted} FROM messages`) ?? {}),
  ]
}

/** The place of `PERSON` in the budget of a line: `known` if none is taken, and none is needed. */
export function placeOn({ tx }: MessageStage, line: Line, now: Timestamp = NOW): string {
  const { reserved, spent } = contactUsage(tx, line.id, DAYS.of(now, line.id))
  if (reserved + spent > 1) throw new Error('One person has one place at most.')
  if (reserved + spent === 1) return reserved === 1 ? 'reserved' : 'spent'
  return readContact(tx, line.id, PERSON).knownAt === null ? 'free' : 'known'
}
