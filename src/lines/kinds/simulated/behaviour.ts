// The ways in which a message may end on the simulated network, and a script that decides.

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
  /** Refused before anything happened. */
  | { readonly kind: 'not_on_imessage' | 'no_sms' }
  /** The line itself refuses, after its point of no return. */
  | { readonly kind: 'line_refuses' }
  /** Never confirmed, whether it arrives or not. */
  | { readonly kind: 'nobody_knows'; readonly arrives: boolean }
  /** Only the first file is sent; the rest is refused, or unknown. */
  | { readonly kind: 'first_part'; readonly rest: 'refused' | 'unknown' }

export type Answer =
  /** With the same text and files. */
  | 'echo'
  | Sample
  /** With a file that takes 15 s to come, or never comes. */
  | 'slow_file'
  | 'lost_file'
  | 'reaction'
  | 'reply'
  | 'edit'
  | 'unsend'
  /** By writing from a group. */
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

/** A message that a person, `from` in the answer, has read at `at`. */
export type GotMessage = {
  readonly network: FileMaker
  readonly message: SimulatedMessage
  readonly from: string
  readonly at: number
}

/** Decides before the digits do. `hookline fake` sets it: a script of people, and faults by call. */
export type NetworkScript = {
  /** Called for each try to send; null leaves it to the digits. */
  readonly behaviourOf: (message: OutgoingMessage, line: string) => Behaviour | null
  /** Called for a message that a crash left open: the behavior of its last try. */
  readonly lastBehaviourOf: (message: OutgoingMessage, line: string) => Behaviour | null
  /** Called for each person who got a message; null leaves it to the digits. */
  readonly answersOf: (got: GotMessage) => readonly PendingEvent[] | null
  /** The time until which the line is off; 0 if it isn't. */
  readonly offUntil: (line: string) => number
}

export const BY_DIGITS: NetworkScript = {
  behaviourOf: () => null,
  lastBehaviourOf: () => null,
  answersOf: () => null,
  offUntil: () => 0,
}
