import { readFileSync } from 'node:fs'

import type { Handle } from '../../src/domain/handle.ts'
import { timestamp, type LineId, type MessageId } from '../../src/domain/ids.ts'
import type { OutgoingMessage } from '../../src/domain/message.ts'
import type {
  DeviceMessage,
  DriverLine,
  LineDriver,
  LineEvent,
  LineSession,
  SendOutcome,
} from '../../src/lines/driver.ts'
import { NEVER } from '../../src/system/clock.ts'
import { eventually } from '../support/eventually.ts'
import type { TestClock } from '../support/test-clock.ts'

export type LineRig = {
  readonly clock: TestClock
  readonly driver: LineDriver
  /** A driver as a new process makes it, for the same device. */
  readonly restart: () => LineDriver
  /** A person whom the line reaches and with whom it has no history. */
  readonly recipient: Handle
  /** How long the device takes to get ready. */
  readonly startMs: number
  /** How long the device takes, at most, to report all that follows from a message. */
  readonly settleMs: number
  /** How many messages may come at once without any being lost. */
  readonly burst: number
  /** Whether the device remembers well enough to prove that something was never sent. */
  readonly provesUnsent: boolean
  /** Whether it can be asked later on what it sent and received: guids, receipts, history. */
  readonly canBeAsked: boolean
  /** How often the device sent something with this text. */
  readonly carried: (text: string) => number
  /** A person writes to the line. */
  readonly receive: (text: string) => Promise<void>
  /** Hashes of the files that the device sent with this text, in order; of a line that sends files. */
  readonly sentFiles?: (text: string) => readonly string[]
  /** A person sends a file to the line; if a device can show one, with its bytes or without. */
  readonly receiveFile?: (text: string, bytes: Uint8Array) => Promise<void>
  /** A person writes in a group of the line, and its identifier; if a device can have groups. */
  readonly receiveInGroup?: (text: string) => Promise<string>
  readonly close: () => void
}

/** One promise of the seam, checked. */
export type Check = (rig: LineRig) => Promise<void>

const LINE_ID = 'line_00000000000000000000000000' as LineId // A well-formed id; drivers only hand it on.

/** One run of a line, with its events. */
export async function runLine(rig: LineRig, driver: LineDriver, more: Partial<DriverLine> = {}) {
  const events: LineEvent[] = []
  const contents: (string | null)[] = []
  const controller = new AbortController()
  const gate = {
    held: null as PromiseWithResolvers<void> | null,
    holds: (_event: LineEvent) => true,
    refuses: (_event: LineEvent) => false,
  }
  const onEvent = async (event: LineEvent) => {
    if (gate.refuses(event)) throw new Error('not durable')
    events.push(event)
    if (event.type === 'message') contents.push(...contentsOf(event.message))
    if (gate.holds(event)) await gate.held?.promise
  }
  const [device] = await driver.discover(NEVER)
  const number = device?.number ?? ''
  const line = {
    id: LINE_ID,
    key: device?.key ?? '',
    number,
    checkpoint: null,
    ...NOTHING,
    ...more,
  }
  const ended = driver.run(line, { onEvent }, controller.signal).then(
    () => null,
    (error: unknown) => error,
  )
  await rig.clock.advance(rig.startMs)

  const end = async () => {
    controller.abort()
    await rig.clock.advance(0)
    // A send that is under way goes on for a while.
    await inTime(rig, ended)
  }
  const session = (): LineSession => {
    const online = events.findLast((event) => event.type === 'online')
    if (online?.type !== 'online') throw new Error('The line did not go online.')
    return online.session
  }
  return {
    events,
    /** Of each file of a message, as it was when the message was published; null for one without bytes. */
    contents,
    session,
    /** Resolves when it has ended: with what it threw, or null. */
    ended: () => ended,
    abort: () => controller.abort(),
    checkpoint: () => lastCheckpoint(events),
    /** Events of which `refuses` is true cannot be made durable. */
    refuse: (refuses: (event: LineEvent) => boolean) => {
      gate.refuses = refuses
    },
    /** Events of which `holds` is true are not durable until `letGo`. */
    hold: (holds: (event: LineEvent) => boolean = () => true) => {
      gate.holds = holds
      gate.held = Promise.withResolvers()
    },
    letGo: () => {
      gate.held?.resolve()
      gate.held = null
    },
    send: (text: string, pointOfNoReturn: () => Promise<boolean>, signal = NEVER) =>
      inTime(rig, session().send(messageOf(rig, text), pointOfNoReturn, signal)),
    end,
    [Symbol.asyncDispose]: end,
  }
}

function contentsOf({ attachments = [] }: DeviceMessage): readonly (string | null)[] {
  return attachments.map(({ file }) => {
    return file.state === 'available' ? readFileSync(file.path, 'utf8') : null
  })
}

const NOTHING = { unsettled: [], open: [] }

/** Sends a message, `name` in its id, and keeps what a crash would leave of it: itself and its note. */
export async function carry(
  rig: LineRig,
  attended: Awaited<ReturnType<typeof runLine>>,
  text: string,
  name = text,
) {
  return carryMessage(rig, attended, { ...messageOf(rig, text), id: idOf(name) })
}

/** The same for a message that is more than a text. */
export async function carryMessage(
  rig: LineRig,
  attended: Awaited<ReturnType<typeof runLine>>,
  message: OutgoingMessage,
) {
  const notes: (string | null)[] = []
  const pass = async (note: string | null) => {
    notes.push(note)
    return true
  }
  const outcome = await inTime(rig, attended.session().send(message, pass, NEVER))
  return { message, outcome, note: notes[0] ?? null }
}

/** Sends something to `to`, letting time pass for as long as the device takes. */
export function sendTo(
  rig: LineRig,
  attended: Awaited<ReturnType<typeof runLine>>,
  to: Handle,
  pointOfNoReturn: () => Promise<boolean> = async () => true,
): Promise<SendOutcome> {
  const message = { ...messageOf(rig, `to ${to}`), to }
  return inTime(rig, attended.session().send(message, pointOfNoReturn, NEVER))
}

/**
 * Lets time pass for as long as the device takes, and no longer. Where it copies files on the real disk, the
 * clock goes on meanwhile.
 */
export async function inTime<T>({ clock }: Pick<LineRig, 'clock'>, asked: Promise<T>): Promise<T> {
  const state = { isOver: false }
  const over = () => {
    state.isOver = true
  }
  asked.then(over, over)
  await eventually('the device is done', async () => {
    await clock.advanceUntil(() => state.isOver, 60_000)
    return state.isOver ? true : null
  })
  return asked
}

export function messageOf(rig: LineRig, text: string): OutgoingMessage {
  return {
    id: idOf(text),
    to: rig.recipient,
    text,
    createdAt: timestamp(rig.clock.now()),
    platformGuid: null,
  }
}

function idOf(name: string): MessageId {
  return `msg_${name}` as MessageId // Drivers take an id as it is.
}

export function guidOf(outcome: SendOutcome): string | null {
  return outcome.outcome === 'accepted' || outcome.outcome === 'held' ? outcome.guid : null
}

/** The service that the device named; undefined if it named none. */
export function serviceOf(outcome: SendOutcome): string | undefined {
  const isWithDevice = outcome.outcome === 'accepted' || outcome.outcome === 'held'
  return isWithDevice ? outcome.service : undefined
}

function lastCheckpoint(events: readonly LineEvent[]): string | null {
  const all = events.map((event) => ('checkpoint' in event ? event.checkpoint : null))
  return all.findLast((checkpoint) => checkpoint !== null) ?? null
}

export function messagesOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'message' ? [event.message] : []))
}

export function receiptsOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'receipt' ? [event.receipt] : []))
}

export function settledOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'settled' ? [event] : []))
}

export function changesOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'change' ? [event.change] : []))
}
