// The possible outcomes of a message on the simulated network, and a script that chooses them.

import type { OutgoingMessage } from '../../../domain/message.ts'
import type { PendingEvent } from './ledger.ts'
import type { GotMessage, Words } from './writing.ts'

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

/** An answer is words, or something that words can't say. */
export type Answer = Words | ((answering: Answering) => readonly PendingEvent[])

/** `delayMs` is the time that a person takes for a step. */
export type Answering = GotMessage & { readonly delayMs: number }

export type CarriedBehaviour = Extract<Behaviour, { readonly kind: 'carried' }>

export const PERSON: CarriedBehaviour = {
  kind: 'carried',
  isDelivered: true,
  isRead: true,
  acceptMs: 0,
  answer: null,
  dropsLine: false,
}

/** Faults of the device of a line. */
export const DEVICE_FAULTS = {
  uncertain: { kind: 'nobody_knows', arrives: true },
  lost: { kind: 'nobody_knows', arrives: false },
  refuses: { kind: 'line_refuses' },
  slow: { ...PERSON, acceptMs: 30_000 },
  drops_line: { ...PERSON, dropsLine: true },
} as const satisfies Readonly<Record<string, Behaviour>>

/** Chooses behavior in place of the digits. `hookline fake` sets it: a script of people, and faults by call. */
export type NetworkScript = {
  /** Called for each try to send; null lets the digits decide. */
  readonly behaviourOf: (message: OutgoingMessage, line: string) => Behaviour | null
  /** Called for a message that a crash left open; returns the behavior of its last try. */
  readonly lastBehaviourOf: (message: OutgoingMessage, line: string) => Behaviour | null
  /** Called for each person who got a message; null lets the digits decide. */
  readonly answerOf: (got: GotMessage) => Words | null
  /** The time until which the line is off; 0 if it is on. */
  readonly offUntil: (line: string) => number
}

export const BY_DIGITS: NetworkScript = {
  behaviourOf: () => null,
  lastBehaviourOf: () => null,
  answerOf: () => null,
  offUntil: () => 0,
}
