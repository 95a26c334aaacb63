// People on the simulated network: its own lines, and persons whose last four digits decide how they
// behave. The digits are documented: a developer tries every outcome of a message with them.

import type { DeviceGroup } from '../../driver.ts'
import {
  answerOf,
  messageFrom,
  available,
  type Answer,
  type AnswerTools,
  type Effect,
  type ReadMessage,
} from './answers.ts'

/** Outcome of a message to a number. */
export type Behaviour =
  /** It leaves; the fields say what follows. */
  | {
      readonly kind: 'carried'
      readonly isDelivered: boolean
      readonly isRead: boolean
      /** Time until the network confirms the message, in milliseconds. */
      readonly acceptMs: number
      readonly answer: Answer | null
      /** The line goes offline right after. */
      readonly dropsLine: boolean
    }
  /** Refused before anything happened: the recipient is not on iMessage. */
  | { readonly kind: 'not_on_imessage' }
  /** The same for SMS. */
  | { readonly kind: 'no_sms' }
  /** The line itself refuses, after its point of no return. */
  | { readonly kind: 'line_refuses' }
  /** Carried, but never confirmed. */
  | { readonly kind: 'nobody_knows' }
  /** Only the first file goes; the rest is refused, or nobody knows. */
  | { readonly kind: 'first_part'; readonly rest: 'refused' | 'unknown' }

const NUMBER_OF_LINE = /^\+1202555(\d{4})$/
const FIRST_LINE = 100
const SLOW_MS = 30_000

type Carried = Extract<Behaviour, { readonly kind: 'carried' }>

const PERSON: Carried = {
  kind: 'carried',
  isDelivered: true,
  isRead: true,
  acceptMs: 0,
  answer: null,
  dropsLine: false,
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  '0180': 'group',
  '0181': 'reply',
  '0182': 'unsend',
  '0183': 'edit',
  '0184': 'reaction',
  '0185': 'lost_file',
  '0186': 'slow_file',
  '0187': 'heic',
  '0188': 'jpeg',
  '0196': 'echo',
}

const SPECIAL: Readonly<Record<string, Behaviour>> = {
  '0189': { kind: 'not_on_imessage' },
  '0190': { ...PERSON, isDelivered: false, isRead: false },
  '0191': { ...PERSON, isRead: false },
  '0192': { kind: 'not_on_imessage' },
  '0193': { kind: 'line_refuses' },
  '0194': { kind: 'nobody_knows' },
  '0195': { ...PERSON, acceptMs: SLOW_MS },
  '0197': { ...PERSON, dropsLine: true },
  '0198': { kind: 'first_part', rest: 'refused' },
  '0199': { kind: 'first_part', rest: 'unknown' },
}
const WITHOUT_SMS = '0189'

/** The number of the simulated line with this ordinal: +12025550101 is the first one. */
export function numberOfLine(ordinal: number): string {
  return `+1202555${String(FIRST_LINE + ordinal).padStart(4, '0')}`
}

function isLine(handle: string, count: number): boolean {
  const digits = NUMBER_OF_LINE.exec(handle)?.[1]
  if (digits === undefined) return false
  const ordinal = Number(digits) - FIRST_LINE
  return ordinal >= 1 && ordinal <= count
}

/** A message on its way, as far as its recipient decides what becomes of it. */
export type Addressed = {
  readonly to: string
  readonly service?: string | undefined
  /** The group that it goes to; its people answer, and report nothing. */
  readonly group?: DeviceGroup | undefined
  /** Files and text. */
  readonly partCount: number
}

/** Behaviour by the last four digits; a line and an e-mail address are ordinary persons. */
export function behaviourOf(message: Addressed, lineCount: number): Behaviour {
  const { to, service, group, partCount } = message
  if (group !== undefined) return withoutReceipts(PERSON)
  const digits = to.startsWith('+') && !isLine(to, lineCount) ? to.slice(-4) : ''
  const person: Carried = { ...PERSON, answer: ANSWERS[digits] ?? null }
  const special: Behaviour = SPECIAL[digits] ?? person
  // A single part is the whole message.
  const behaviour = special.kind === 'first_part' && partCount < 2 ? person : special
  if (service !== 'SMS') return behaviour
  return digits === WITHOUT_SMS || !to.startsWith('+') ? { kind: 'no_sms' } : bySms(behaviour)
}

function bySms(behaviour: Behaviour): Behaviour {
  if (behaviour.kind === 'not_on_imessage') return withoutReceipts(PERSON)
  return behaviour.kind === 'carried' ? withoutReceipts(behaviour) : behaviour
}

/** SMS and groups have none. */
function withoutReceipts(carried: Carried): Carried {
  return { ...carried, isDelivered: false, isRead: false }
}

export type SimulatedMessage = ReadMessage & { readonly to: string }

type Network = Omit<AnswerTools, 'afterMs'> & { readonly lineCount: number }

/** Effects of a carried message, soonest first. `delayMs` is one step of a person. */
export function effectsOf(
  message: SimulatedMessage,
  behaviour: Behaviour,
  network: Network,
): readonly Effect[] {
  if (behaviour.kind !== 'carried') return []
  const deliveredMs = behaviour.acceptMs + network.delayMs
  const readMs = deliveredMs + network.delayMs
  const receipt = (kind: 'sent' | 'delivered' | 'read', afterMs: number): Effect => {
    const { line, guid } = message
    return { line, kind, guid, handle: null, text: null, details: null, afterMs }
  }
  const all: Effect[] = []
  if (behaviour.acceptMs > 0) all.push(receipt('sent', behaviour.acceptMs))
  if (isLine(message.to, network.lineCount)) all.push(arrival(message, deliveredMs, network))
  // `read` at the moment of `delivered` implies both.
  const isOneStep = behaviour.isRead && readMs === deliveredMs
  if (behaviour.isDelivered && !isOneStep) all.push(receipt('delivered', deliveredMs))
  if (behaviour.isRead) all.push(receipt('read', readMs))
  const answers = answerersOf(message, behaviour).flatMap(([person, answer]) =>
    answerOf(answer, person, message, { ...network, afterMs: readMs }),
  )
  return [...all, ...answers]
}

/** The people who answer, each with the answer. In a group nobody begins another one. */
function answerersOf(
  { to, group }: SimulatedMessage,
  { answer }: Carried,
): readonly (readonly [person: string, answer: Answer])[] {
  if (group === undefined) return answer === null ? [] : [[to, answer]]
  return group.participants.flatMap((person) => {
    const answerThere = ANSWERS[person.slice(-4)] ?? 'group'
    return answerThere === 'group' ? [] : [[person, answerThere] as const]
  })
}

/** A message from one line to another. */
function arrival(message: SimulatedMessage, afterMs: number, { newGuid }: Network): Effect {
  const { line: from, to: line, service, text, files } = message
  const attachments = files.map((file) => available(file, newGuid()))
  return messageFrom({ line, from, group: undefined, service, afterMs }, newGuid(), text, {
    attachments,
  })
}
