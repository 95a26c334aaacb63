// The interface between the relay and a kind of device. A driver has three methods and stays at three; a
// new ability is a new variant of an event or an outcome, so that the compiler finds every place.
// `test/contract` checks every driver against the promises written here.

import type { GroupChange } from '../domain/conversation.ts'
import type { Finding } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { AttachmentId, BoxId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { Capabilities, OfflineReason } from '../domain/line.ts'
import type { ChangeRow, MessageChange } from '../domain/message-extras.ts'
import type { Carried, OutgoingMessage, Receipt, Unsettled } from '../domain/message.ts'
import type { LeftOut, Withheld } from '../domain/not-relayed.ts'
import { once } from '../system/memoize.ts'
import type { Signal } from '../system/signal.ts'

export type LineDriver = {
  readonly kind: string
  /** The driver notifies it when devices come or go. */
  readonly devicesChanged?: Signal | undefined
  /** Interval between calls of `discover` in milliseconds; default: 5,000. */
  readonly discoverEveryMs?: number | undefined
  /**
   * Returns the devices attached to this machine. The supervisor polls it, one call at a time; a call
   * that takes more than ten seconds counts as failed. Must not change anything, nor send.
   */
  discover(signal: AbortSignal): Promise<readonly Found[]>
  /**
   * Returns what keeps the driver or its devices from working. Each health check calls it, one call at a
   * time, for at most ten seconds, also while lines run.
   */
  checkup(signal: AbortSignal): Promise<readonly Finding[]>
  /**
   * Runs one line until `signal` aborts, then returns. It may throw: the supervisor marks the line
   * offline and calls again after a growing delay, but only once every `send` of the earlier session has
   * returned. Settle `line.unsettled` before reading anything new.
   */
  run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void>
}

/** A driver whose code `load` gets at the first call: a start loads only the drivers that it uses. */
export function loadedDriver(kind: string, load: () => Promise<LineDriver>): LineDriver {
  const loaded = once(load)
  return {
    kind,
    discover: async (signal) => (await loaded()).discover(signal),
    checkup: async (signal) => (await loaded()).checkup(signal),
    run: async (line, listener, signal) => (await loaded()).run(line, listener, signal),
  }
}

export type Found = {
  readonly key: string
  readonly number: string | null
  /** The box of the device; absent for this machine. */
  readonly box?: BoxId | undefined
}

export type DriverLine = {
  readonly id: LineId
  readonly key: string
  /** The box of the device; null or absent for this machine. */
  readonly box?: BoxId | null | undefined
  readonly number: string
  /** The driver's position in its device's history; the relay never reads it. */
  readonly checkpoint: string | null
  /** Messages that are `sending` or `uncertain`: from the last 7 days, at most 1,000, oldest first. */
  readonly unsettled: readonly Unsettled[]
  /** Messages sent in the last 30 days, neither read nor failed, that may have new receipts. */
  readonly open: readonly { readonly guid: string; readonly note: string | null }[]
  /** Files that had not arrived with their messages; the driver reports each once, when it arrives or never will. */
  readonly awaited?:
    | readonly { readonly messageGuid: string; readonly attachmentGuid: string }[]
    | undefined
}

export type LineListener = {
  /** Resolves once the event is durable, which is the back-pressure. Rejects if it could not be stored. */
  onEvent(event: LineEvent): Promise<void>
}

/** Resolves with true if the message may leave; it then cannot be withdrawn. */
export type PointOfNoReturn = (note: string | null) => Promise<boolean>

export type LineSession = {
  /** Most sends in flight at once. */
  readonly capacity: number
  /** True if the device has history with `handle`; asked before a send, and the caller waits 100 ms at most. */
  knows(handle: Handle): Promise<boolean>
  /**
   * Called by the dispatch loop, at most `capacity` times at once; may take minutes. First do everything that can
   * fail harmlessly, then ask `pointOfNoReturn`. If it resolves with true, hand the message over without looking at
   * `signal` in between. If it resolves with false or rejects, do nothing more and return `WITHDRAWN`.
   */
  send(
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome>
}

export type SendOutcome =
  /** The device says that the message is sent. */
  | ({ readonly outcome: 'accepted'; readonly guid: string | null } & Carried & Parts)
  /** The device has the message and is still trying; a receipt settles it. */
  | ({ readonly outcome: 'held'; readonly guid: string } & Carried & Parts)
  /**
   * `blame: 'line'` is a promise: the device holds nothing of the message, and no process that could still write it
   * is alive. Only then is the message tried again, or moved to another line.
   */
  | {
      readonly outcome: 'not_sent'
      readonly reason: string
      readonly blame: 'line' | 'message'
      /** The driver's durable record shows that it never acted, although the point of no return was granted. */
      readonly proof?: true | undefined
      /** Guid of a row that this send made for the wrong chat, or an empty one: it must not be stored as a message. */
      readonly strayGuid?: string | undefined
    }
  /** Some files were sent, each proven by its own row; the rest was refused and will never be sent. */
  | { readonly outcome: 'partly_sent'; readonly reason: string; readonly sent: SentParts }
  /** It is unknown whether the message, or all of it, was sent. It is never sent again. */
  | {
      readonly outcome: 'unknown'
      readonly reason: string
      readonly sent?: SentParts | undefined
    }
  /**
   * The device must not be hurried. The driver returns this before it asks for the point of no return, and it does
   * not count as a try; the message waits for `delayMs`, or moves to another line if it may.
   */
  | { readonly outcome: 'postponed'; readonly reason: 'pacing'; readonly delayMs: number }

/** Attachments that are proven to be sent. */
export type SentParts = readonly AttachmentId[]

/** Devices send a message with files as several messages; the text, or the last file, gives the guid of the whole. */
export type Parts = {
  /** Guids of the other parts, so that their rows are not published as separate messages. */
  readonly partGuids?: readonly string[] | undefined
}

/**
 * The final outcome of a message that passed its point of no return. An unsettled message is queued again only by a
 * `not_sent` with `proof`: nothing of it was ever handed over, and no process is alive that could still do so. Any
 * other `not_sent` is final.
 */
export type Settlement = Exclude<SendOutcome, { readonly outcome: 'postponed' }>

/** The point of no return was not granted; does not count as a try. */
export const WITHDRAWN = notSent('withdrawn', 'line')

export type NotSent = Extract<SendOutcome, { readonly outcome: 'not_sent' }>

/** The outcome of a send that left nothing on the device. Blame line is the promise that `SendOutcome` describes. */
export function notSent(reason: string, blame: NotSent['blame']): NotSent {
  return { outcome: 'not_sent', reason, blame }
}

export const FULL_CAPABILITIES: Capabilities = {
  new_contacts: true,
  choose_service: true,
  delivered: true,
  read: true,
  guid: true,
  attachments: true,
  receives_attachments: true,
  groups: 'reply',
  reactions: 'receive',
  replies: 'receive',
  edits: 'receive',
}

/** Refuses a message that asks for more than its line can do, or returns null. */
export function refusalOf(
  { attachments, service, chatGuid }: OutgoingMessage,
  capabilities: Capabilities,
): SendOutcome | null {
  const isSupported =
    (attachments === undefined || capabilities.attachments) &&
    (service === undefined || capabilities.choose_service) &&
    (chatGuid === undefined || capabilities.groups === 'reply')
  return isSupported ? null : notSent('not_supported', 'message')
}

/** A rejected `pointOfNoReturn` counts as a refusal. */
export async function isGranted(
  pointOfNoReturn: PointOfNoReturn,
  note: string | null,
): Promise<boolean> {
  try {
    return await pointOfNoReturn(note)
  } catch {
    return false
  }
}

export type LineEvent =
  /** First event of a session, published again whenever one of its values changes. */
  | {
      readonly type: 'online'
      readonly session: LineSession
      readonly number: string
      readonly imessageActive: boolean
      readonly capabilities: Capabilities
    }
  /** Ends the session, as the return of `run` does. */
  | { readonly type: 'offline'; readonly reason: OfflineReason }
  | {
      readonly type: 'message'
      readonly message: DeviceMessage
      readonly checkpoint: string | null
    }
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly checkpoint: string | null }
  /** Sent once for each file that was `pending`, when it has come or never will. */
  | {
      readonly type: 'attachment'
      readonly messageGuid: string
      readonly attachment: DeviceAttachment
      readonly checkpoint: string | null
    }
  | { readonly type: 'change'; readonly change: DeviceChange; readonly checkpoint: string | null }
  /** The final outcome of an unsettled message. */
  | { readonly type: 'settled'; readonly messageId: MessageId; readonly outcome: Settlement }
  | { readonly type: 'checkpoint'; readonly checkpoint: string }
  /** A message that the line does not relay: counted once by its guid, and nothing else of it is stored. */
  | {
      readonly type: 'left_out'
      readonly leftOut: LeftOutMessage
      readonly checkpoint: string | null
    }

/** A message on the device, received or typed there. */
export type DeviceMessage = {
  readonly guid: string
  /** The guid under which an earlier version stored the same content. */
  readonly formerGuid?: string | undefined
  readonly handle: Handle
  readonly text: string
  readonly isFromMe: boolean
  readonly service: string
  /** The device's date. */
  readonly at: Timestamp
  /** True if the message is older than the relay: it is stored but never announced. */
  readonly isHistory: boolean
  /** Reason to store and count a new message without announcing it. */
  readonly withheld?: Withheld | null | undefined
  /** True if the sender is a name, perhaps a contact's, which cannot be answered: a finding says so. */
  readonly isName?: boolean | undefined
  /** The files, in the order of the message. */
  readonly attachments?: readonly DeviceAttachment[] | undefined
  /**
   * Absent in a direct conversation. With a group, `handle` is the sender's, or the group's identifier if
   * the owner wrote it.
   */
  readonly group?: DeviceGroup | undefined
  readonly replyTo?: { readonly guid: string; readonly part: number } | undefined
}

export type DeviceAttachment = {
  /** The device's id of the file, unique in its message. */
  readonly guid: string
  readonly filename: string
  readonly declaredType: string | null
  /** In bytes; null if the device does not say. */
  readonly size: number | null
  readonly file: DeviceFile
}

export type DeviceFile =
  /** The relay copies the file before the event is durable; the file must not change until then. */
  | { readonly state: 'available'; readonly path: string }
  /**
   * `pending` is followed by one `attachment` event; the others are final. An `attachment` event may also
   * add a file that its message did not name.
   */
  | { readonly state: 'pending' | 'failed' | 'missing' | 'not_kept' }

export type DeviceGroup = {
  /** The chat's guid, exactly as the device spells it now. */
  readonly chatGuid: string
  /** The device's id of the group, which stays the same if the guid changes, as between two versions of macOS. */
  readonly identifier: string
  readonly name: string | null
  /** The members, without the owner. */
  readonly participants: readonly Handle[]
}

/** A change of a message, with `group` if it is in a group, or a change of a group itself. */
export type DeviceChange =
  | (MessageChange & { readonly group?: DeviceGroup | undefined })
  | (ChangeRow & {
      readonly kind: 'group'
      readonly group: DeviceGroup
      readonly change: GroupChange
      /** Null for the owner of the line. */
      readonly actor: Handle | null
      /** The member concerned; null for the owner, and if the change concerns no member. */
      readonly target: Handle | null
      /** The member's handle before, if a member changed their number. */
      readonly replaced?: Handle | undefined
    })

export type LeftOutMessage = {
  readonly guid: string
  readonly kind: LeftOut
  readonly at: Timestamp
}

export type StateEvent = Extract<LineEvent, { readonly type: 'online' | 'offline' }>

export type IntakeEvent = Exclude<LineEvent, StateEvent>

/** Publishes the events of one line run to the relay. */
export class LineEvents {
  readonly #listener: LineListener
  readonly #signal: AbortSignal
  #failure: Error | null = null
  #state: string | null = null

  /** `signal` aborts when the line run ends. */
  constructor(listener: LineListener, signal: AbortSignal) {
    this.#listener = listener
    this.#signal = signal
  }

  /** True once the run has ended or an event could not be stored; nothing is published after that. */
  get isOver(): boolean {
    return this.#signal.aborted || this.#failure !== null
  }

  /** The error of the first event that could not be stored. */
  get failure(): Error | null {
    return this.#failure
  }

  get hasState(): boolean {
    return this.#state !== null
  }

  /** Skips a state equal to the last one. */
  async publishState(event: StateEvent): Promise<void> {
    const state = JSON.stringify(event)
    if (state === this.#state) return
    this.#state = state
    await this.publish([event])
  }

  /**
   * Resolves with true once all events are durable, or with false if the run has ended; then none is
   * published. Rejects if an event could not be stored, and on every call after that.
   */
  async publish(events: readonly LineEvent[]): Promise<boolean> {
    if (this.#failure !== null) throw this.#failure
    if (this.#signal.aborted) return false
    const results = await Promise.allSettled(events.map((event) => this.#listener.onEvent(event)))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed === undefined) return true
    const { reason } = failed
    this.#failure = reason instanceof Error ? reason : new Error(String(reason))
    throw this.#failure
  }
}
