// The seam between the relay and a kind of device. A driver has three methods and stays at three; a new
// ability is a new variant of an event or an outcome, so that the compiler finds every place.
// `test/contract` holds every driver to the promises written here.

import type { GroupChange } from '../domain/conversation.ts'
import type { Finding } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { AttachmentId, BoxId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { Capabilities, OfflineReason } from '../domain/line.ts'
import type { ChangeRow, MessageChange } from '../domain/message-extras.ts'
import type { Carried, OutgoingMessage, Receipt, Unsettled } from '../domain/message.ts'
import type { LeftOut, Withheld } from '../domain/not-relayed.ts'
import type { Signal } from '../system/signal.ts'

export type LineDriver = {
  /** Name of its kind, as in the table of kinds. */
  readonly kind: string
  /** Notified when devices came or went. */
  readonly devicesChanged?: Signal | undefined
  /** Longest time between two looks for devices in milliseconds; five seconds if it is left out. */
  readonly lookEveryMs?: number | undefined
  /**
   * Devices attached to this machine now. The supervisor asks again and again, never twice at once; a
   * question without an answer after ten seconds counts as failed. Must not change anything, nor send.
   */
  discover(signal: AbortSignal): Promise<readonly Found[]>
  /**
   * Causes that keep the driver or its devices from working, for the health catalogue. Called by each health
   * check, never twice at once, with ten seconds to answer; also while lines run.
   */
  checkup(signal: AbortSignal): Promise<readonly Finding[]>
  /**
   * Runs one line until `signal` aborts, then returns. It may throw: the supervisor marks the line
   * offline and calls again after a growing delay. It is called again only after every `send` of the
   * session before has returned. Settle `line.unsettled` before reading anything new.
   */
  run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void>
}

export type Found = {
  readonly key: string
  readonly number: string | null
  /** The box that the device is at; left out for this machine. */
  readonly box?: BoxId | undefined
}

export type DriverLine = {
  readonly id: LineId
  readonly key: string
  /** The box that its device is at; null, or left out, for this machine. */
  readonly box?: BoxId | null | undefined
  readonly number: string
  /** The driver's own position in its device's history, opaque to everyone else. */
  readonly checkpoint: string | null
  /** Messages that are `sending` or `uncertain`: 7 days back, 1,000 at most, oldest first. */
  readonly unsettled: readonly Unsettled[]
  /** Messages sent in the last 30 days, neither read nor failed, whose receipts may be waiting. */
  readonly open: readonly { readonly guid: string; readonly note: string | null }[]
  /** Files of received messages that had not arrived: each is looked for, and reported by its end. */
  readonly awaited?:
    | readonly { readonly messageGuid: string; readonly attachmentGuid: string }[]
    | undefined
}

export type LineListener = {
  /** Resolves when the event is durable: that is the back-pressure. Rejects if it could not be stored. */
  onEvent(event: LineEvent): Promise<void>
}

/** Returns true when the message may leave: from then on nobody takes it back. */
export type PointOfNoReturn = (note: string | null) => Promise<boolean>

export type LineSession = {
  /** Sends that may be in flight at once. */
  readonly capacity: number
  /** True if the device has history with `handle`. Called before a send; an answer after 100 ms is not waited for. */
  knows(handle: Handle): Promise<boolean>
  /**
   * Called by the dispatch loop, at most `capacity` times at once; may take minutes. First does all that can
   * fail harmlessly, then asks `pointOfNoReturn`, and only on true does what cannot be taken back, without
   * looking at `signal` in between. On false, or if it throws, nothing more is done and the outcome is
   * `not_sent`, `withdrawn`, blame line.
   */
  send(
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
    signal: AbortSignal,
  ): Promise<SendOutcome>
}

export type SendOutcome =
  /** The device says that it is sent. */
  | ({ readonly outcome: 'accepted'; readonly guid: string | null } & Carried & Parts)
  /** The device has it and is still trying; a receipt settles it. */
  | ({ readonly outcome: 'held'; readonly guid: string } & Carried & Parts)
  /**
   * Blame line is a promise: the device holds nothing of the message and no process that could still
   * write it is alive. Only that is tried again, or goes to another line.
   */
  | {
      readonly outcome: 'not_sent'
      readonly reason: string
      readonly blame: 'line' | 'message'
      /** The driver's own durable record that it never acted, though the point of no return was granted. */
      readonly proof?: true | undefined
    }
  /** Some parts were sent, each proven by its own row, and the rest was refused and never will be. */
  | { readonly outcome: 'partly_sent'; readonly reason: string; readonly sent: SentParts }
  /** Nobody can say whether it left, or not of all of its parts. It is never sent again. */
  | {
      readonly outcome: 'unknown'
      readonly reason: string
      readonly sent?: SentParts | undefined
    }
  /**
   * Not yet: the device must not be hurried. Said before the point of no return was asked, and counts
   * as no try; the message waits for `delayMs`, or goes to another line if it may.
   */
  | { readonly outcome: 'postponed'; readonly reason: 'pacing'; readonly delayMs: number }

/** The attachments that are proven to be sent. */
export type SentParts = readonly AttachmentId[]

/** Devices make several messages of one with files: the text, or the last file, gives the guid. */
export type Parts = {
  /** Guids of the other parts, so that their rows are not taken for messages of their own. */
  readonly partGuids?: readonly string[] | undefined
}

/**
 * End of a message that has passed its point of no return. Of one that was unsettled, only a `not_sent`
 * with `proof` queues it again: nothing of it was ever handed over, and nothing that could still do so is
 * alive. Any other `not_sent` is final.
 */
export type Settlement = Exclude<SendOutcome, { readonly outcome: 'postponed' }>

/** `not_sent` because the point of no return was not granted; counts as no try. */
export const WITHDRAWN: SendOutcome = { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }

/** The most that a line of any kind can do. */
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

/** Refuses a message that asks for more than its line can do; null if it may go. */
export function refusalOf(
  { attachments, service, chatGuid }: OutgoingMessage,
  capabilities: Capabilities,
): SendOutcome | null {
  const isSupported =
    (attachments === undefined || capabilities.attachments) &&
    (service === undefined || capabilities.choose_service) &&
    (chatGuid === undefined || capabilities.groups === 'reply')
  return isSupported ? null : { outcome: 'not_sent', reason: 'not_supported', blame: 'message' }
}

/** Asks for the point of no return; a rejection counts as a refusal. */
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
  /** Once at first, and again whenever one of its values changes. */
  | {
      readonly type: 'online'
      readonly session: LineSession
      readonly number: string
      readonly imessageActive: boolean
      readonly capabilities: Capabilities
    }
  /** Ends the session, as the end of `run` does. */
  | { readonly type: 'offline'; readonly reason: OfflineReason }
  | {
      readonly type: 'message'
      readonly message: DeviceMessage
      readonly checkpoint: string | null
    }
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly checkpoint: string | null }
  /** A file of a message that was `pending`, once for its end. */
  | {
      readonly type: 'attachment'
      readonly messageGuid: string
      readonly attachment: DeviceAttachment
      readonly checkpoint: string | null
    }
  /** A reaction, an edit, an unsend, or a change of a group. */
  | { readonly type: 'change'; readonly change: DeviceChange; readonly checkpoint: string | null }
  /** The end of a message that was unsettled. */
  | { readonly type: 'settled'; readonly messageId: MessageId; readonly outcome: Settlement }
  | { readonly type: 'checkpoint'; readonly checkpoint: string }
  /** A message that the line leaves out: counted once for its guid, and nothing else is kept of it. */
  | {
      readonly type: 'left_out'
      readonly leftOut: LeftOutMessage
      readonly checkpoint: string | null
    }

/** A message of the device: inbound, or typed on the device itself. */
export type DeviceMessage = {
  readonly guid: string
  /** The guid under which an earlier version stored it, if that had the same content. */
  readonly formerGuid?: string | undefined
  readonly handle: Handle
  readonly text: string
  readonly isFromMe: boolean
  readonly service: string
  /** The device's date of the message. */
  readonly at: Timestamp
  /** History is recorded and never announced: it was there before the relay was. */
  readonly isHistory: boolean
  /** Reason to record news like history, and count it; absent where it is announced. */
  readonly withheld?: Withheld | null | undefined
  /** The sender is a name that may be a contact's, whom nobody can answer: the health catalogue says so. */
  readonly isName?: boolean | undefined
  /** Its files, in the order of the message. */
  readonly attachments?: readonly DeviceAttachment[] | undefined
  /** The group that it belongs to; absent for a conversation of two. `handle` is the sender's, or the group's identifier for the owner's own. */
  readonly group?: DeviceGroup | undefined
  readonly replyTo?: { readonly guid: string; readonly part: number } | undefined
}

export type DeviceAttachment = {
  /** The device's name of it, unique in its message. */
  readonly guid: string
  readonly filename: string
  readonly declaredType: string | null
  /** In bytes; null where the device does not say. */
  readonly size: number | null
  readonly file: DeviceFile
}

export type DeviceFile =
  /** The relay copies the file before the event is durable; it must not change meanwhile. */
  | { readonly state: 'available'; readonly path: string }
  /**
   * `pending` is followed by one `attachment` event; the others are final. An `attachment` event also adds a file
   * that its message did not name.
   */
  | { readonly state: 'pending' | 'failed' | 'missing' | 'not_kept' }

export type DeviceGroup = {
  /** Guid of its chat, exactly as the device spells it now. */
  readonly chatGuid: string
  /** Stays the same where the guid changes, as between two versions of macOS. */
  readonly identifier: string
  readonly name: string | null
  /** Without the owner. */
  readonly participants: readonly Handle[]
}

/** A change of a message, in a group where `group` is there, or of a group itself. */
export type DeviceChange =
  | (MessageChange & { readonly group?: DeviceGroup | undefined })
  | (ChangeRow & {
      readonly kind: 'group'
      readonly group: DeviceGroup
      readonly change: GroupChange
      /** Null for the owner of the line. */
      readonly actor: Handle | null
      /** The member that it is about, null for the owner; null also where it is about no member. */
      readonly target: Handle | null
      /** The handle that the new member had before: the person has another number. */
      readonly replaced?: Handle | undefined
    })

export type LeftOutMessage = {
  readonly guid: string
  readonly kind: LeftOut
  /** The device's date of the message. */
  readonly at: Timestamp
}

export type StateEvent = Extract<LineEvent, { readonly type: 'online' | 'offline' }>

/** An event that the relay stores. */
export type IntakeEvent = Exclude<LineEvent, StateEvent>

/** Events of one line run on their way from the driver to the core. */
export class LineEvents {
  readonly #listener: LineListener
  readonly #signal: AbortSignal
  #failure: Error | null = null
  #state: string | null = null

  /** `signal` is that of the line run. */
  constructor(listener: LineListener, signal: AbortSignal) {
    this.#listener = listener
    this.#signal = signal
  }

  /** True once the run has ended or an event could not be stored: nothing is published from then on. */
  get isOver(): boolean {
    return this.#signal.aborted || this.#failure !== null
  }

  /** Set once an event could not be stored. */
  get failure(): Error | null {
    return this.#failure
  }

  /** False until a state of the line was published. */
  get hasState(): boolean {
    return this.#state !== null
  }

  /** Publishes the state of the line if it differs from the last one. */
  async publishState(event: StateEvent): Promise<void> {
    const state = JSON.stringify(event)
    if (state === this.#state) return
    this.#state = state
    await this.publish([event])
  }

  /**
   * Resolves with true when all events are durable, and with false if the run has ended: then none
   * is published. Rejects if one could not be stored, and in every call after that.
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
