// People on the simulated network: its own lines, and people whose last four digits decide how they behave.
// The digits are documented, so that a developer can try every outcome of a message.

import { deviceHandle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { DeviceGroup } from '../../driver.ts'
import {
  available,
  eventAbout,
  fileThatWaits,
  messageFrom,
  type ChangeDetails,
  type Sender,
} from './events.ts'
import type { FileRef, Sample } from './files.ts'
import type { Carried, PendingEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'

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
  /** Carried, but never confirmed. */
  | { readonly kind: 'nobody_knows' }
  /** Only the first file is sent; the rest is refused, or unknown. */
  | { readonly kind: 'first_part'; readonly rest: 'refused' | 'unknown' }

type Answer =
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

const NUMBER_OF_LINE = /^\+1202555(\d{4})$/
const FIRST_LINE = 100
const SLOW_MS = 30_000
/** Longer than the relay waits for a file before it announces the message. */
const FILE_WAIT_MS = 15_000
const FIRST_TEXT = 'See you at 7.'

type CarriedBehaviour = Extract<Behaviour, { readonly kind: 'carried' }>

const PERSON: CarriedBehaviour = {
  kind: 'carried',
  isDelivered: true,
  isRead: true,
  acceptMs: 0,
  answer: null,
  dropsLine: false,
}

const ANSWER_OF: Readonly<Record<string, Answer>> = {
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

/** The first simulated line is +12025550101. */
export function numberOfLine(ordinal: number): string {
  return `+1202555${String(FIRST_LINE + ordinal).padStart(4, '0')}`
}

function isLine(handle: string, count: number): boolean {
  const ordinal = Number(NUMBER_OF_LINE.exec(handle)?.[1] ?? 0) - FIRST_LINE
  return ordinal >= 1 && ordinal <= count
}

type Addressed = {
  readonly to: string
  readonly service?: string | undefined
  /** Its members answer, but send no receipts. */
  readonly group?: DeviceGroup | undefined
  /** Files and text. */
  readonly partCount: number
}

/** Behavior by the last four digits; a line and an email address behave normally. */
export function behaviourOf(
  { to, service, group, partCount }: Addressed,
  lineCount: number,
): Behaviour {
  if (group !== undefined) return withoutReceipts(PERSON)
  const digits = to.startsWith('+') && !isLine(to, lineCount) ? to.slice(-4) : ''
  const person = { ...PERSON, answer: ANSWER_OF[digits] ?? null }
  const special = SPECIAL[digits] ?? person
  // A single part is the whole message.
  const behaviour = special.kind === 'first_part' && partCount < 2 ? person : special
  if (service !== 'SMS') return behaviour
  return digits === WITHOUT_SMS || !to.startsWith('+') ? { kind: 'no_sms' } : bySms(behaviour)
}

function bySms(behaviour: Behaviour): Behaviour {
  if (behaviour.kind === 'not_on_imessage') return withoutReceipts(PERSON)
  return behaviour.kind === 'carried' ? withoutReceipts(behaviour) : behaviour
}

/** SMS and groups have no receipts. */
function withoutReceipts(carried: CarriedBehaviour): CarriedBehaviour {
  return { ...carried, isDelivered: false, isRead: false }
}

type SimulatedMessage = Carried & {
  readonly files: readonly FileRef[]
  readonly group: DeviceGroup | undefined
}

/** Events that follow from a carried message, soonest first. */
export function eventsAfter(
  network: SimulatedNetwork,
  message: SimulatedMessage,
  behaviour: Behaviour,
): readonly PendingEvent[] {
  if (behaviour.kind !== 'carried') return []
  const { line, guid, to, text, files, service } = message
  const { acceptMs, isDelivered, isRead } = behaviour
  const acceptedAt = message.at + acceptMs
  const deliveredAt = acceptedAt + network.delayMs
  const readAt = deliveredAt + network.delayMs
  const all: PendingEvent[] = []
  if (acceptMs > 0) all.push(eventAbout('sent', { line, guid, at: acceptedAt }))
  if (isLine(to, network.lineCount)) {
    const sender = { line: to, from: line, group: undefined, service, at: deliveredAt }
    const attachments = files.map((file) => available(file, network.newGuid()))
    all.push(messageFrom(sender, network.newGuid(), text, { attachments }))
  }
  // `read` at the time of `delivered` implies both.
  const isOneStep = isRead && readAt === deliveredAt
  if (isDelivered && !isOneStep) all.push(eventAbout('delivered', { line, guid, at: deliveredAt }))
  if (isRead) all.push(eventAbout('read', { line, guid, at: readAt }))
  const answers = answerersOf(message, behaviour).flatMap(([from, answer]) =>
    ANSWERS[answer]({ network, message, from, guid: network.newGuid(), at: readAt }),
  )
  return [...all, ...answers]
}

/** The people who answer, each with the answer. Nobody answers in a group by starting another. */
function answerersOf(
  { to, group }: SimulatedMessage,
  { answer }: CarriedBehaviour,
): readonly (readonly [person: string, answer: Answer])[] {
  if (group === undefined) return answer === null ? [] : [[to, answer]]
  return group.participants.flatMap((person) => {
    const answerThere = ANSWER_OF[person.slice(-4)] ?? 'group'
    return answerThere === 'group' ? [] : [[person, answerThere] as const]
  })
}

type Answering = {
  readonly network: SimulatedNetwork
  readonly message: SimulatedMessage
  readonly from: string
  readonly guid: string
  readonly at: number
}

const ANSWERS: Readonly<Record<Answer, (answering: Answering) => readonly PendingEvent[]>> = {
  echo: (answering) => [write(answering, answering.message.text, answering.message.files)],
  jpeg: (answering) => [write(answering, '', [sample(answering, 'jpeg')])],
  heic: (answering) => [write(answering, '', [sample(answering, 'heic')])],
  pdf: (answering) => [write(answering, '', [sample(answering, 'pdf')])],
  slow_file: (answering) => announce(answering, sample(answering, 'jpeg')),
  lost_file: (answering) => announce(answering, null),
  reaction: (answering) => {
    const { message, from } = answering
    const love = { action: 'added', type: 'love', emoji: null, part: 0, isFromMe: false } as const
    const whose = { targetGuid: message.guid, handle: deviceHandle(from) }
    return [change(answering, 0, { kind: 'reaction', ...love, ...whose })]
  },
  reply: (answering) => {
    const replyTo = { guid: answering.message.guid, part: 0 }
    return [messageFrom(senderOf(answering), answering.guid, 'Yes, that one.', { replyTo })]
  },
  edit: (answering) => {
    const { guid: targetGuid, at, network } = answering
    const edits = [{ text: FIRST_TEXT, at: timestamp(at) }]
    const edited = { kind: 'edited', targetGuid, text: 'See you at 8.', edits } as const
    return [write(answering, FIRST_TEXT), change(answering, network.delayMs, edited)]
  },
  unsend: (answering) => {
    const unsent = { kind: 'unsent', targetGuid: answering.guid } as const
    return [write(answering, FIRST_TEXT), change(answering, answering.network.delayMs, unsent)]
  },
  group: (answering) => {
    const sender = { ...senderOf(answering), group: weekendOf(answering.from) }
    return [messageFrom(sender, answering.guid, 'Here we all are.')]
  },
}

function sample({ network }: Answering, kind: Sample): FileRef {
  return network.files.sample(kind)
}

function write(answering: Answering, text: string, files: readonly FileRef[] = []): PendingEvent {
  const attachments = files.map((file) => available(file, answering.network.newGuid()))
  return messageFrom(senderOf(answering), answering.guid, text, { attachments })
}

function announce(answering: Answering, file: FileRef | null): readonly PendingEvent[] {
  const { message, guid, at, network } = answering
  const place = { line: message.line, guid: network.newGuid(), at: at + FILE_WAIT_MS }
  const { now, later } = fileThatWaits(file, place, guid)
  return [messageFrom(senderOf(answering), guid, '', { attachments: [now] }), later]
}

function change(answering: Answering, delayMs: number, details: ChangeDetails): PendingEvent {
  const { message, network, at } = answering
  const place = { line: message.line, guid: network.newGuid(), at: at + delayMs }
  return eventAbout('change', place, { group: message.group, ...details })
}

function senderOf({ message, from, at }: Answering): Sender {
  const { line, group, service } = message
  return { line, from, group, service, at }
}

/** A group with `from`, a person who answers there and a person who reacts. */
export function weekendOf(from: string): DeviceGroup {
  const identifier = `chat${from.replaceAll(/\D/g, '')}`
  const near = from.slice(0, -4)
  const participants = [from, `${near}0196`, `${near}0184`].map(deviceHandle)
  return { chatGuid: `iMessage;+;${identifier}`, identifier, name: 'Weekend', participants }
}
