// A line by Shortcuts: it is online while a shortcut asks for messages. The shortcuts of the iPhone call the relay by
// HTTP.

import type { Finding } from '../../../domain/finding.ts'
import { timestamp, type Timestamp } from '../../../domain/ids.ts'
import { type Capabilities, NO_CAPABILITIES, type OfflineReason } from '../../../domain/line.ts'
import type { OutgoingMessage } from '../../../domain/message.ts'
import { Signal } from '../../../system/signal.ts'
import {
  type DeviceAttachment,
  type DriverLine,
  type Found,
  type LineDriver,
  type LineEvent,
  LineEvents,
  type LineListener,
  type LineSession,
  refusalOf,
  type Settlement,
  WITHDRAWN,
} from '../../driver.ts'
import type {
  Requester,
  DeviceCalls,
  PostedMessage,
  DeviceReport,
  HandedOver,
  KindHost,
  LineKind,
  NotReady,
} from '../../line-kind.ts'
import { HandedOut, HandOver } from './hand-over.ts'
import { IncomingFiles } from './incoming-files.ts'
import { Arrivals, type Incoming, readIncoming } from './incoming.ts'

const SHORTCUTS_CAPABILITIES: Capabilities = {
  ...NO_CAPABILITIES,
  new_contacts: true,
  receives_attachments: true,
}
/** After this long without a call, the shortcut has stopped. */
const SILENT_MS = 900_000
const CHECK_EVERY_MS = 3_600_000
/** Most incoming events that wait to be stored. */
const INCOMING_MAX = 100
/** A shortcut's time outside these bounds is replaced with ours. */
const AGE_MS_MAX = 30 * 86_400_000
const AHEAD_MS_MAX = 600_000
const ERROR_LENGTH_MAX = 200
/** Number of first characters of a text that show that an error quotes it. */
const QUOTE_LENGTH = 8
const LOOKS_LIKE_NUMBER = /\+?[0-9][0-9 ().-]{4,}[0-9]/g

const FIX =
  'Start the sending shortcut on the iPhone. iOS stops long-running shortcuts, so use an automation that starts it every hour.'
const SILENT = { code: 'shortcut_silent', hint: FIX } as const satisfies OfflineReason

class ShortcutsLineRun {
  readonly #host: KindHost
  readonly #files: IncomingFiles
  readonly #line: DriverLine
  readonly #events: LineEvents
  readonly #handOver: HandOver
  readonly #handedOut: HandedOut
  readonly #session: LineSession
  readonly #wakeUp = new Signal()
  readonly #arrivals: Arrivals
  /** Monotonic. */
  #askedAt = -Infinity
  /** The last published state; null at first. */
  #isOnline: boolean | null = null
  #incomingCount = 0

  constructor(host: KindHost, files: IncomingFiles, line: DriverLine, events: LineEvents) {
    const { relayClock: clock } = host
    this.#host = host
    this.#files = files
    this.#line = line
    this.#events = events
    this.#handOver = new HandOver(clock)
    this.#handedOut = new HandedOut(clock, line.unsettled)
    this.#arrivals = new Arrivals(clock)
    this.#session = this.#createSession()
  }

  /** Runs until `signal` aborts; throws if an event could not be stored. */
  async run(signal: AbortSignal): Promise<void> {
    const { relayClock: clock } = this.#host
    const end = () => this.#end()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    while (!this.#events.isOver) {
      await this.#publishState()
      const leftMs = this.#askedAt + SILENT_MS - clock.monotonic()
      const waitMs = this.#isOnline === true ? leftMs : CHECK_EVERY_MS
      if (!this.#events.isOver) await this.#wakeUp.wait(clock, waitMs, signal)
    }
    signal.removeEventListener('abort', end)
    const { failure } = this.#events
    if (failure !== null && !signal.aborted) throw failure
  }

  finding(): Finding | null {
    if (this.#isOnline !== false) return null
    return {
      code: SILENT.code,
      severity: 'warning',
      title: 'No shortcut is asking for messages',
      why: 'The iPhone has not asked for messages for 15 minutes, so nothing is sent.',
      fix: FIX,
      key: this.#line.key,
      depends_on: null,
    }
  }

  /** Resolves with `stored` once the message is durable, with its file, or counted as left out. */
  async receive(message: PostedMessage): Promise<'stored' | 'no_sender' | NotReady> {
    const incoming = await readIncoming(message, this.#line.number)
    if (incoming === null) return 'no_sender'
    const earlier = this.#arrivals.earlier(incoming)
    const isRepeated = earlier !== null && (await earlier)
    const kind = incoming.leftOut ?? (isRepeated ? ('repeated' as const) : null)
    const at = this.#believedTime(message.at)
    if (kind !== null) {
      const leftOut = { guid: incoming.guid, kind, at }
      const isCounted = await this.#publishIncoming({ type: 'left_out', leftOut, checkpoint: null })
      return isCounted ? 'stored' : 'not_ready'
    }
    const isStored = this.#store(message, incoming, at)
    this.#arrivals.note(incoming, isStored)
    return (await isStored) ? 'stored' : 'not_ready'
  }

  async #store(
    { text, file = null }: PostedMessage,
    { guid, formerGuid, handle, isName }: Incoming,
    at: Timestamp,
  ): Promise<boolean> {
    const path = file === null ? null : await this.#files.write(file)
    const attachments = file === null || path === null ? [] : [attachmentOf(file, path)]
    // There is no room for the file, so the shortcut must try again.
    if (file !== null && path === null) return false
    // The shortcut doesn't know the service, because SMS starts the same automation.
    const message = { guid, formerGuid, handle, text, service: 'iMessage', at, attachments }
    const facts = { isFromMe: false, isHistory: false, isName }
    try {
      return await this.#publishIncoming({
        type: 'message',
        message: { ...message, ...facts },
        checkpoint: null,
      })
    } finally {
      if (path !== null) await this.#files.remove(path)
    }
  }

  async next(requester: Requester): Promise<HandedOver | NotReady> {
    if (this.#events.isOver) return 'not_ready'
    this.#askedAt = this.#host.relayClock.monotonic()
    this.#wakeUp.notify()
    return this.#handOver.take(requester)
  }

  /** Resolves with `noted` once the outcome is durable. */
  async done(report: DeviceReport): Promise<'noted' | 'unknown' | NotReady> {
    const pending = this.#handedOut.find(report.id)
    if (pending === null) return this.#events.isOver ? 'not_ready' : 'unknown'
    const outcome: Settlement = report.isSent
      ? { outcome: 'accepted', guid: null }
      : { outcome: 'not_sent', reason: 'refused_by_phone', blame: 'message' }
    if (typeof pending === 'string') {
      const fields = { line_id: this.#line.id, message_id: report.id, first: pending }
      if (pending !== outcome.outcome) this.#host.log.warn('iPhone changed its report', fields)
      return 'noted'
    }
    const { message } = pending
    if (!report.isSent) this.#logRefusal(message, report.error)
    const isStored = await this.#publishIncoming({
      type: 'settled',
      messageId: message.id,
      outcome,
    })
    if (!isStored) return 'not_ready'
    this.#handedOut.close(pending, outcome)
    return 'noted'
  }

  #createSession(): LineSession {
    return {
      capacity: 10,
      knows: async () => false,
      send: async (message, pointOfNoReturn, signal) => {
        const refusal = refusalOf(message, SHORTCUTS_CAPABILITIES)
        if (refusal !== null) return refusal
        const offer = { message, pointOfNoReturn, note: this.#line.key }
        const isHandedOut = await this.#handOver.offer(offer, signal)
        return isHandedOut ? this.#handedOut.wait(message, signal) : WITHDRAWN
      },
    }
  }

  async #publishState(): Promise<void> {
    const isOnline = this.#host.relayClock.monotonic() < this.#askedAt + SILENT_MS
    if (isOnline === this.#isOnline) return
    this.#isOnline = isOnline
    const { number } = this.#line
    // A shortcut can't ask whether iMessage is active; a failed send reports it.
    const online = { number, imessageActive: true, capabilities: SHORTCUTS_CAPABILITIES }
    const offline = { type: 'offline', reason: SILENT } as const
    await this.#publish(isOnline ? { type: 'online', session: this.#session, ...online } : offline)
  }

  /** Returns false also if too many events wait to be stored: the shortcut then tries again. */
  async #publishIncoming(event: LineEvent): Promise<boolean> {
    if (this.#incomingCount >= INCOMING_MAX) return false
    this.#incomingCount += 1
    const isStored = await this.#publish(event)
    this.#incomingCount -= 1
    return isStored
  }

  /** Returns true once the event is durable. An event that could not be stored ends the run. */
  async #publish(event: LineEvent): Promise<boolean> {
    try {
      return await this.#events.publish([event])
    } catch {
      this.#end()
      return false
    }
  }

  #end(): void {
    this.#handOver.end()
    this.#wakeUp.notify()
  }

  #believedTime(at: Timestamp | null): Timestamp {
    const now = this.#host.relayClock.now()
    const isSane = at !== null && at > now - AGE_MS_MAX && at < now + AHEAD_MS_MAX
    return isSane ? at : timestamp(now)
  }

  #logRefusal(message: OutgoingMessage, error: string | null): void {
    this.#host.log.warn('iPhone refused a message', {
      line_id: this.#line.id,
      message_id: message.id,
      error: error === null ? null : withoutMessage(error, message),
    })
  }
}

function attachmentOf({ name, type, size }: File, path: string): DeviceAttachment {
  const filename = name === '' ? 'attachment' : name
  const declaredType = type === '' ? null : type
  return { guid: 'attachment', filename, declaredType, size, file: { state: 'available', path } }
}

/** Masks quotes in an error: neither the message's text nor a number may enter a log. */
function withoutMessage(error: string, { to, text }: OutgoingMessage): string {
  const quoteAt = error.indexOf(text.slice(0, QUOTE_LENGTH))
  const kept = quoteAt === -1 ? error : `${error.slice(0, quoteAt)}…`
  return kept.replaceAll(to, '…').replaceAll(LOOKS_LIKE_NUMBER, '…').slice(0, ERROR_LENGTH_MAX)
}

export const SHORTCUTS_KIND: LineKind = {
  name: 'shortcuts',
  title: 'iPhone via Shortcuts',
  start: {
    words: 'An iPhone anywhere sends and receives by its own shortcuts, without a Mac.',
    guide: 'shortcuts',
  },
  isReal: true,
  sharesNumber: false,
  abilities: SHORTCUTS_CAPABILITIES,
  options: {},
  reasons: {
    absent: {
      code: 'device_absent',
      title: 'The device is not connected',
      hint: 'The bridge of this line was removed: add one with its number, or delete the line.',
    },
    silent: { ...SILENT, title: 'No shortcut has checked for messages recently' },
  },
  failures: { refused_by_phone: 'The shortcut on the iPhone could not send the message.' },
  deletable: 'Shortcuts lines whose bridge was removed',
  checklist: [
    { title: "This line's bridge exists", codes: ['device_absent', 'driver_failed'] },
    { title: 'A shortcut checks for messages', codes: [SILENT.code] },
  ],
  create: (host) => {
    const driver = new ShortcutsDriver(host)
    return { driver, calls: driver }
  },
}

/** iPhones without a cable: their shortcuts call by HTTP, each with the token of its bridge. */
export class ShortcutsDriver implements LineDriver, DeviceCalls {
  readonly kind = 'shortcuts'
  readonly #host: KindHost
  readonly #files: IncomingFiles
  readonly #runs = new Map<string, ShortcutsLineRun>()

  constructor(host: KindHost) {
    this.#host = host
    this.#files = new IncomingFiles(host.pathOf('shortcuts-incoming'))
  }

  /** Bridges that were not removed. */
  async discover(): Promise<readonly Found[]> {
    return this.#host.callers()
  }

  async checkup(): Promise<readonly Finding[]> {
    return [...this.#runs.values()].flatMap((run) => run.finding() ?? [])
  }

  async run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void> {
    const events = new LineEvents(listener, signal)
    const run = new ShortcutsLineRun(this.#host, this.#files, line, events)
    this.#runs.set(line.key, run)
    try {
      await run.run(signal)
    } finally {
      if (this.#runs.get(line.key) === run) this.#runs.delete(line.key)
    }
  }

  receive: DeviceCalls['receive'] = async (key, message) =>
    this.#runs.get(key)?.receive(message) ?? 'not_ready'

  next: DeviceCalls['next'] = async (key, requester) =>
    this.#runs.get(key)?.next(requester) ?? 'not_ready'

  done: DeviceCalls['done'] = async (key, report) =>
    this.#runs.get(key)?.done(report) ?? 'not_ready'
}
