// A device that does what a test says: the outermost thing, so that a story can choose what it
// answers, and when.

import type { Finding } from '../../src/domain/finding.ts'
import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type MessageId } from '../../src/domain/ids.ts'
import type { Capabilities } from '../../src/domain/line.ts'
import type { OutgoingMessage, Receipt, ReceiptKind } from '../../src/domain/message.ts'
import type { LeftOut } from '../../src/domain/not-relayed.ts'
import type {
  DriverLine,
  DeviceMessage,
  Found,
  LineDriver,
  LineEvent,
  LineListener,
  LineSession,
  PointOfNoReturn,
  SendOutcome,
  Settlement,
} from '../../src/lines/driver.ts'
import type { Signal } from '../../src/system/signal.ts'

export type SendScript = (
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
) => Promise<SendOutcome>

const UNPLUGGED: LineEvent = {
  type: 'offline',
  reason: { code: 'unplugged', hint: 'Plug it in.' },
}

/** A line that sends texts, by the service that the device chooses. */
export const TEXTS_ONLY: Capabilities = {
  new_contacts: true,
  choose_service: false,
  delivered: true,
  read: true,
  guid: true,
  attachments: false,
}

/** Number of the newest guid. It counts through all files of a process, from above every guid that a test receives. */
let guids = 1_000_000_000

/** Passes the point of no return, and the device says that it is sent. */
export const accepts: SendScript = async (_message, pointOfNoReturn) => {
  if (!(await pointOfNoReturn('note'))) return withdrawn
  guids += 1
  return { outcome: 'accepted', guid: guidOf(guids) }
}

const withdrawn: SendOutcome = { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }

/** Passes the point of no return, and ends as it is given. */
export const ends =
  (outcome: SendOutcome): SendScript =>
  async (message, pointOfNoReturn) => {
    await pointOfNoReturn(`note of ${message.text}`)
    return outcome
  }

/** The line refuses before anything left. */
export const refuses: SendScript = async () => ({
  outcome: 'not_sent',
  reason: 'busy',
  blame: 'line',
})

export class ScriptedDevice {
  readonly key: string
  readonly number: string
  readonly sent: OutgoingMessage[] = []
  /** Every message given to `send`, also those that did not leave. */
  readonly given: OutgoingMessage[] = []
  readonly attended: DriverLine[] = []
  capacity = 1
  script: SendScript = accepts
  knows: (handle: string) => boolean = () => false
  capabilities: Capabilities = TEXTS_ONLY
  isOnline: boolean
  #listener: LineListener | null = null
  #session: LineSession | null = null

  constructor(key: string, number: string, isOnline: boolean) {
    this.key = key
    this.number = number
    this.isOnline = isOnline
  }

  async goOnline(): Promise<void> {
    this.isOnline = true
    await this.emit(this.#online())
  }

  async goOffline(code = 'unplugged'): Promise<void> {
    this.isOnline = false
    await this.emit({ type: 'offline', reason: { code, hint: 'Plug it in.' } })
  }

  async receive(message: Partial<DeviceMessage> & { readonly guid: string }): Promise<void> {
    await this.emit({
      type: 'message',
      message: {
        handle: deviceHandle('+12025550777'),
        text: 'hello',
        isFromMe: false,
        service: 'iMessage',
        at: timestamp(1_795_255_100_000),
        isHistory: false,
        ...message,
      },
      checkpoint: message.guid,
    })
  }

  async leaveOut(guid: string, kind: LeftOut, checkpoint = guid): Promise<void> {
    const leftOut = { guid, kind, at: timestamp(1_795_255_100_000) }
    await this.emit({ type: 'left_out', leftOut, checkpoint })
  }

  async report(
    guid: string,
    kind: ReceiptKind,
    at: number,
    { reason = null, service }: Partial<Pick<Receipt, 'reason' | 'service'>> = {},
  ): Promise<void> {
    const receipt = { guid, kind, at: timestamp(at), reason, service }
    await this.emit({ type: 'receipt', receipt, checkpoint: null })
  }

  async settle(messageId: MessageId, outcome: Settlement): Promise<void> {
    await this.emit({ type: 'settled', messageId, outcome })
  }

  async emit(event: LineEvent): Promise<void> {
    if (this.#listener === null) throw new Error('No line runs on this device.')
    await this.#listener.onEvent(event)
  }

  async run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener
    this.attended.push(line)
    await listener.onEvent(this.isOnline ? this.#online() : UNPLUGGED)
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    }
    this.#listener = null
  }

  /** The session that it published last. */
  lastSession(): LineSession {
    if (this.#session === null) throw new Error('It was never online.')
    return this.#session
  }

  #online(): LineEvent {
    const session: LineSession = {
      capacity: this.capacity,
      knows: async (handle) => this.knows(handle),
      send: async (message, pointOfNoReturn, signal) => {
        this.given.push(message)
        const outcome = await this.script(message, pointOfNoReturn, signal)
        if (outcome.outcome === 'accepted') this.sent.push(message)
        return outcome
      },
    }
    this.#session = session
    return {
      type: 'online',
      session,
      number: this.number,
      imessageActive: true,
      capabilities: this.capabilities,
    }
  }
}

export class ScriptedDriver implements LineDriver {
  readonly kind: string
  readonly devices: ScriptedDevice[] = []
  /** Reports a device that is added to a relay that runs, if it looks seldom. */
  devicesChanged: Signal | undefined
  discoverEveryMs: number | undefined

  constructor(kind: string = 'mac') {
    this.kind = kind
  }

  add(number: string, isOnline = true): ScriptedDevice {
    const device = new ScriptedDevice(`device-${this.devices.length + 1}`, number, isOnline)
    this.devices.push(device)
    return device
  }

  async discover(): Promise<readonly Found[]> {
    return this.devices.map(({ key, number }) => ({ key, number }))
  }

  async checkup(): Promise<readonly Finding[]> {
    return []
  }

  async run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void> {
    const device = this.devices.find((found) => found.key === line.key)
    if (device === undefined) throw new Error(`No device ${line.key}.`)
    await device.run(line, listener, signal)
  }
}

/** An upper-case UUID with a number in it. */
export function guidOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}
