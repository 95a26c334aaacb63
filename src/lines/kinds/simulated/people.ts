// People on the simulated network: its own lines, and people whose last four digits decide how they behave.
// The digits are documented, so that a developer can try every outcome of a message.

import { deviceHandle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { DeviceGroup } from '../../driver.ts'
import {
  PERSON,
  type Answer,
  type Behaviour,
  type CarriedBehaviour,
  type GotMessage,
  type SimulatedMessage,
} from './behaviour.ts'
import {
  available,
  eventAbout,
  fileThatWaits,
  messageFrom,
  type ChangeDetails,
  type Sender,
} from './events.ts'
import type { FileRef, Sample } from './files.ts'
import type { PendingEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'

const NUMBER_OF_LINE = /^\+1202555(\d{4})$/
const FIRST_LINE = 100
const SLOW_MS = 30_000
/** Longer than the relay waits for a file before it announces the message. */
const FILE_WAIT_MS = 15_000
const FIRST_TEXT = 'See you at 7.'

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
  '0189': { kind: 'no_sms' },
  '0190': { ...PERSON, isDelivered: false, isRead: false },
  '0191': { ...PERSON, isRead: false },
  '0192': { kind: 'not_on_imessage' },
  '0193': { kind: 'line_refuses' },
  '0194': { kind: 'nobody_knows', arrives: true },
  '0195': { ...PERSON, acceptMs: SLOW_MS },
  '0197': { ...PERSON, dropsLine: true },
  '0198': { kind: 'first_part', rest: 'refused' },
  '0199': { kind: 'first_part', rest: 'unknown' },
}

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
  /** If set, its members answer, but send no receipts. */
  readonly group?: DeviceGroup | undefined
  /** Number of files, plus the text if there is one. */
  readonly partCount: number
}

/** The behavior by `scripted`, or by the last four digits. Lines and email addresses behave normally. */
export function behaviourOf(
  addressed: Addressed,
  lineCount: number,
  scripted: Behaviour | null = null,
): Behaviour {
  const { to, service, group } = addressed
  if (group !== undefined) return bySms(scripted ?? PERSON)
  const behaviour = scripted ?? byDigits(addressed, lineCount)
  if (service === 'SMS') return to.startsWith('+') ? bySms(behaviour) : { kind: 'no_sms' }
  return behaviour.kind === 'no_sms' ? { kind: 'not_on_imessage' } : behaviour
}

function byDigits({ to, partCount }: Addressed, lineCount: number): Behaviour {
  const digits = to.startsWith('+') && !isLine(to, lineCount) ? to.slice(-4) : ''
  const person = { ...PERSON, answer: ANSWER_OF[digits] ?? null }
  const special = SPECIAL[digits] ?? person
  // A message with a single part can't be sent in part.
  return special.kind === 'first_part' && partCount < 2 ? person : special
}

/** True for a number whose digits decide its behavior, and for a line. */
export function isMagic(handle: string, lineCount: number): boolean {
  const digits = handle.slice(-4)
  return isLine(handle, lineCount) || digits in SPECIAL || digits in ANSWER_OF
}

function bySms(behaviour: Behaviour): Behaviour {
  if (behaviour.kind === 'not_on_imessage') return withoutReceipts(PERSON)
  return behaviour.kind === 'carried' ? withoutReceipts(behaviour) : behaviour
}

/** SMS and groups have no receipts. */
function withoutReceipts(carried: CarriedBehaviour): CarriedBehaviour {
  return { ...carried, isDelivered: false, isRead: false }
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
  const answers = (message.group?.participants ?? [to]).flatMap((from) => {
    const scripted = network.script.answersOf({ network, message, from, at: readAt })
    if (scripted !== null) return scripted
    const answer = message.group === undefined ? behaviour.answer : answerThere(from)
    if (answer === null) return []
    return ANSWERS[answer]({ network, message, from, guid: network.newGuid(), at: readAt })
  })
  return [...all, ...answers]
}

/** The answer of a person in a group. There, nobody answers by starting another group. */
function answerThere(person: string): Answer | null {
  const answer = ANSWER_OF[person.slice(-4)] ?? null
  return answer === 'group' ? null : answer
}

type Answering = GotMessage & { readonly network: SimulatedNetwork; readonly guid: string }

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
    const sender = { ...senderOf(answering), group: weekendGroupOf(answering.from) }
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

export function senderOf({ message, from, at }: GotMessage): Sender {
  const { line, group, service } = message
  return { line, from, group, service, at }
}

/** A group of three: `from`, a person who answers in it, and a person who reacts. */
export function weekendGroupOf(from: string): DeviceGroup {
  const identifier = `chat${from.replaceAll(/\D/g, '')}`
  const near = from.slice(0, -4)
  const participants = [from, `${near}0196`, `${near}0184`].map(deviceHandle)
  return { chatGuid: `iMessage;+;${identifier}`, identifier, name: 'Weekend', participants }
}
