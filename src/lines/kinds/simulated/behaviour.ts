// The possible outcomes of a message on the simulated network, and a script that chooses them.

import type { OutgoingMessage } from '../../../domain/message.ts'
import type { DeviceGroup } from '../../driver.ts'
import type { FileRef, Sample, SimulatedFiles } from './files.ts'
import type { Carried, PendingEvent } from './ledger.ts'

export type Behaviour =
  | {
      readonly kind: 'carried'
      readonly isDelivered: boolean
      readonly isRead: boolean
      /** Time until the network confirms the message, in milliseconds. */
      readonly acceptMs: number
      readonly answer: Answer | null
      readonly dropsLine: boolean
    }
  /** The message is refused before anything happened. */
  | { readonly kind: 'not_on_imessage' | 'no_sms' }
  /** The line itself refuses, after its point of no return. */
  | { readonly kind: 'line_refuses' }
  /** The outcome is never confirmed, whether the message arrives or not. */
  | { readonly kind: 'nobody_knows'; readonly arrives: boolean }
  /** Only the first file is sent; the rest is refused, or its outcome is unknown. */
  | { readonly kind: 'first_part'; readonly rest: 'refused' | 'unknown' }

export type Answer =
  /** Answers with the same text and files. */
  | 'echo'
  | Sample
  /** Answers with a file that takes 15 s to come, or never comes. */
  | 'slow_file'
  | 'lost_file'
  | 'reaction'
  | 'reply'
  | 'edit'
  | 'unsend'
  /** Answers from a group. */
  | 'group'

export type CarriedBehaviour = Extract<Behaviour, { readonly kind: 'carried' }>

export const PERSON: CarriedBehaviour = {
  kind: 'carried',
  isDelivered: true,
  isRead: true,
  acceptMs: 0,
  answer: null,
  dropsLine: false,
}

export type SimulatedMessage = Carried & {
  readonly files: readonly FileRef[]
  readonly group: DeviceGroup | undefined
}

/** The part of the network that files of messages need. */
export type FileMaker = { readonly files: SimulatedFiles; newGuid(): string }

/** A message that a person, `from` in the answer, read at `at`. */
export type GotMessage = {
  readonly network: FileMaker
  readonly message: SimulatedMessage
  readonly from: string
  readonly at: number
}

/** Chooses behavior in place of the digits. `hookline fake` sets it: a script of people, and faults by call. */
export type NetworkScript = {
  /** Called for each try to send; null lets the digits decide. */
  readonly behaviourOf: (message: OutgoingMessage, line: string) => Behaviour | null
  /** Called for a message that a crash left open; returns the behavior of its last try. */
  readonly lastBehaviourOf: (message: OutgoingMessage, line: string) => Behaviour | null
  /** Called for each person who got a message; null lets the digits decide. */
  readonly answersOf: (got: GotMessage) => readonly PendingEvent[] | null
  /** The time until which the line is off; 0 if it is on. */
  readonly offUntil: (line: string) => number
}

export const BY_DIGITS: NetworkScript = {
  behaviourOf: () => null,
  lastBehaviourOf: () => null,
  answersOf: () => null,
  offUntil: () => 0,
}
