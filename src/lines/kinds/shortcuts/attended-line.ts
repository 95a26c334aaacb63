// One line by Shortcuts while it is attended: whether a shortcut asks for messages, and what it is given
// and tells.

import type { Finding } from '../../../domain/finding.ts'
import { timestamp, type Timestamp } from '../../../domain/ids.ts'
import { NO_CAPABILITIES, type Capabilities, type OfflineReason } from '../../../domain/line.ts'
import type { OutgoingMessage } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import { sha256 } from '../../../system/hash.ts'
import type { Log } from '../../../system/log.ts'
import { Signal } from '../../../system/signal.ts'
import {
  WITHDRAWN,
  type DriverLine,
  type LineEvent,
  type LineListener,
  type LineSession,
  type Settlement,
} from '../../driver.ts'
import { HandOver, type Asker, type HandedOver } from './hand-over.ts'
import { HandedOut, type Open } from './handed-out.ts'
import { readSender } from './sender.ts'

export type ShortcutsLineTools = { readonly clock: Clock; readonly log: Log }

/** A message as a shortcut tells it. */
export type PhoneMessage = {
  /** Made by the shortcut: the same again is the same message. */
  readonly id: string
  readonly from: string
  readonly text: string
  /** When it came to the iPhone; null where the shortcut does not say. */
  readonly at: Timestamp | null
}

/** What a shortcut says of a message that it was given. */
export type PhoneReport = {
  readonly id: string
  readonly isSent: boolean
  readonly error: string | null
}

/** What comes of a call where no line is attended that could take it. */
export type NotReady = 'not_ready'
export const NOT_READY: NotReady = 'not_ready'

const CAPABILITIES: Capabilities = { ...NO_CAPABILITIES, new_contacts: true }
const CAPACITY = 10
/** A shortcut that has not asked for so long does not run any more. */
const SILENT_MS = 900_000
const LOOK_MS = 3_600_000
/** How many events may be on their way to the disk. */
const TELLING_MAX = 100
const NAMES_MAX = 1_000
/** What a shortcut says of the time is believed within these bounds. */
const AGE_MS_MAX = 30 * 86_400_000
const AHEAD_MS_MAX = 600_000
const ERROR_LENGTH_MAX = 200
/** So many first characters of the text are a quote of it. */
const QUOTE_LENGTH = 8
const LOOKS_LIKE_NUMBER = /\+?[0-9][0-9 ().-]{4,}[0-9]/g

const FIX =
  'Start the shortcut that sends on the iPhone; iOS ends long ones, so let an automation start it every hour.'
const SILENT: OfflineReason = { code: 'shortcut_silent', hint: FIX }

type Ended = { readonly error: Error | null }

export class AttendedShortcutsLine {
  readonly #tools: ShortcutsLineTools
  readonly #line: DriverLine
  readonly #listener: LineListener
  readonly #handOver: HandOver
  readonly #handedOut: HandedOut
  readonly #session: LineSession
  readonly #wake = new Signal()
  /** Ids of messages that were refused for their sender: each is counted once. */
  readonly #names = new Set<string>()
  /** When a shortcut asked last, by the monotonic clock. */
  #askedAt = -Infinity
  /** What was told of the line; null at first. */
  #isOnline: boolean | null = null
  #telling = 0
  #ended: Ended | null = null

  constructor(tools: ShortcutsLineTools, line: DriverLine, listener: LineListener) {
    this.#tools = tools
    this.#line = line
    this.#listener = listener
    this.#handOver = new HandOver(tools.clock)
    this.#handedOut = new HandedOut(tools.clock, line.unsettled)
    this.#session = this.#createSession()
  }

  /** `LineDriver.run`: runs until `signal` aborts; throws where an event could not be told. */
  async run(signal: AbortSignal): Promise<void> {
    const end = () => this.#end(null)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    while (this.#ended === null) {
      await this.#publish()
      const leftMs = this.#askedAt + SILENT_MS - this.#tools.clock.monotonic()
      const waitMs = leftMs > 0 ? leftMs : LOOK_MS
      if (this.#ended === null) await this.#wake.wait(this.#tools.clock, waitMs, signal)
    }
    signal.removeEventListener('abort', end)
    if (this.#ended.error !== null) throw this.#ended.error
  }

  finding(): Finding | null {
    if (this.#isOnline !== false) return null
    return {
      code: SILENT.code,
      severity: 'warning',
      title: 'No shortcut asks for messages',
      why: 'The iPhone of this bridge has not asked for 15 minutes, so nothing is sent.',
      fix: FIX,
      key: this.#line.key,
      depends_on: null,
    }
  }

  /** Resolves with `stored` once the message is durable. */
  async receive(message: PhoneMessage): Promise<'stored' | 'name' | NotReady> {
    const sender = readSender(message.from)
    if (sender === null) return this.#refuseName(message.id)
    const guid = `shortcut-${Buffer.from(sha256(message.id)).toString('hex').slice(0, 32)}`
    const isTold = await this.#hear({
      type: 'message',
      message: {
        guid,
        handle: sender,
        text: message.text,
        isFromMe: false,
        // Nobody says whether it was one; SMS reach the same automation.
        service: 'iMessage',
        at: this.#believed(message.at),
        isHistory: false,
      },
      checkpoint: null,
    })
    return isTold ? 'stored' : NOT_READY
  }

  /** A message to send, at the latest after `asker.waitMs` nothing. */
  async next(asker: Asker): Promise<HandedOver | NotReady> {
    if (this.#ended !== null) return NOT_READY
    this.#askedAt = this.#tools.clock.monotonic()
    this.#wake.notify()
    return this.#handOver.take(asker)
  }

  /** Resolves with `noted` once it is durable. */
  async done(report: PhoneReport): Promise<'noted' | 'unknown' | NotReady> {
    const open = this.#handedOut.find(report.id)
    if (open === 'closed') return 'noted'
    if (open === null) return this.#ended === null ? 'unknown' : NOT_READY
    const outcome: Settlement = report.isSent
      ? { outcome: 'accepted', guid: null }
      : { outcome: 'not_sent', reason: 'refused_by_phone', blame: 'message' }
    if (!report.isSent) this.#logRefusal(open, report)
    const messageId = open.message.id
    if (!(await this.#hear({ type: 'settled', messageId, outcome }))) return NOT_READY
    this.#handedOut.close(open, outcome)
    return 'noted'
  }

  async #refuseName(id: string): Promise<'name' | NotReady> {
    if (this.#names.has(id)) return 'name'
    if (!(await this.#hear({ type: 'rejected', reason: 'sender_is_a_name' }))) return NOT_READY
    if (this.#names.size >= NAMES_MAX) this.#names.clear()
    this.#names.add(id)
    return 'name'
  }

  #createSession(): LineSession {
    return {
      capacity: CAPACITY,
      knows: async () => false,
      send: async (message, pointOfNoReturn, signal) => {
        const offer = { message, pointOfNoReturn, note: this.#line.key }
        const isHandedOut = await this.#handOver.offer(offer, signal)
        return isHandedOut ? this.#handedOut.wait(message, signal) : WITHDRAWN
      },
    }
  }

  async #publish(): Promise<void> {
    const isOnline = this.#tools.clock.monotonic() < this.#askedAt + SILENT_MS
    if (isOnline === this.#isOnline) return
    this.#isOnline = isOnline
    if (!isOnline) {
      await this.#tell({ type: 'offline', reason: SILENT })
      return
    }
    await this.#tell({
      type: 'online',
      session: this.#session,
      number: this.#line.number,
      // Nobody can ask; a shortcut that could not send says so.
      imessageActive: true,
      capabilities: CAPABILITIES,
    })
  }

  /** Tells what a shortcut told, where not too much of it is on its way already. */
  async #hear(event: LineEvent): Promise<boolean> {
    if (this.#telling >= TELLING_MAX) return false
    this.#telling += 1
    const isTold = await this.#tell(event)
    this.#telling -= 1
    return isTold
  }

  /** Whether the event is durable. One that could not be made so ends the attendance. */
  async #tell(event: LineEvent): Promise<boolean> {
    if (this.#ended !== null) return false
    try {
      await this.#listener.onEvent(event)
      return true
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)))
      return false
    }
  }

  #end(error: Error | null): void {
    this.#ended ??= { error }
    this.#handOver.end()
    this.#wake.notify()
  }

  #believed(at: Timestamp | null): Timestamp {
    const now = this.#tools.clock.now()
    const isSane = at !== null && at > now - AGE_MS_MAX && at < now + AHEAD_MS_MAX
    return isSane ? at : timestamp(now)
  }

  #logRefusal({ message }: Open, { error }: PhoneReport): void {
    this.#tools.log.warn('iPhone refused a message', {
      line_id: this.#line.id,
      message_id: message.id,
      error: error === null ? null : withoutMessage(error, message),
    })
  }
}

/** What a shortcut says may quote the message: neither its text nor anybody's number goes into a log. */
function withoutMessage(error: string, { to, text }: OutgoingMessage): string {
  const quoteAt = error.indexOf(text.slice(0, QUOTE_LENGTH))
  const told = quoteAt === -1 ? error : `${error.slice(0, quoteAt)}…`
  return told.replaceAll(to, '…').replaceAll(LOOKS_LIKE_NUMBER, '…').slice(0, ERROR_LENGTH_MAX)
}
