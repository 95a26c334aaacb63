// People on the simulated network: its own lines, and people whose last four digits decide how they behave.
// The digits are documented, so that a developer can try every outcome of a message.

import { deviceHandle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { DeviceGroup } from '../../driver.ts'
import {
  DEVICE_FAULTS,
  PERSON,
  type Answer,
  type Answering,
  type Behaviour,
  type CarriedBehaviour,
} from './behaviour.ts'
import { available, eventAbout, messageFrom, type ChangeDetails } from './events.ts'
import type { FileRef } from './files.ts'
import type { PendingEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'
import { answeredBy, senderOf, type SimulatedMessage } from './writing.ts'

const NUMBER_OF_LINE = /^\+1202555(\d{4})$/
const FIRST_LINE = 100
const FIRST_TEXT = 'See you at 7.'

const echo: Answer = (answering) => [
  write(answering, answering.message.text, answering.message.files),
]

const edit: Answer = (answering) => {
  const first = write(answering, FIRST_TEXT)
  const edits = [{ text: FIRST_TEXT, at: timestamp(answering.at) }]
  const edited = { kind: 'edited', targetGuid: first.guid, text: 'See you at 8.', edits } as const
  return [first, changeLater(answering, edited)]
}

const unsend: Answer = (answering) => {
  const first = write(answering, FIRST_TEXT)
  return [first, changeLater(answering, { kind: 'unsent', targetGuid: first.guid })]
}

/** Writes from a group. */
const fromGroup: Answer = (answering) => {
  const sender = { ...senderOf(answering), group: weekendGroupOf(answering.from) }
  return [messageFrom(sender, answering.network.newGuid(), 'Here we all are.')]
}

const ANSWER_OF: Readonly<Record<string, Answer>> = {
  '0180': fromGroup,
  '0181': { say: 'Yes, that one.', reply: true },
  '0182': unsend,
  '0183': edit,
  '0184': { react: 'love' },
  '0185': { files: [{ kind: 'never' }] },
  '0186': { files: [{ kind: 'slow' }] },
  '0187': { files: [{ kind: 'heic' }] },
  '0188': { files: [{ kind: 'jpeg' }] },
  '0196': echo,
}

const SPECIAL: Readonly<Record<string, Behaviour>> = {
  '0189': { kind: 'no_sms' },
  '0190': { ...PERSON, isDelivered: false, isRead: false },
  '0191': { ...PERSON, isRead: false },
  '0192': { kind: 'not_on_imessage' },
  '0193': DEVICE_FAULTS.refuses,
  '0194': DEVICE_FAULTS.uncertain,
  '0195': DEVICE_FAULTS.slow,
  '0197': DEVICE_FAULTS.drops_line,
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
    const got = { network, message, from, at: readAt }
    const byDigits = message.group === undefined ? behaviour.answer : answerThere(from)
    const answer = network.script.answerOf(got) ?? byDigits
    if (typeof answer === 'function') return answer({ ...got, delayMs: network.delayMs })
    return answer === null ? [] : answeredBy(answer, got)
  })
  return [...all, ...answers]
}

/** The answer of a person in a group. There, nobody answers by starting another group. */
function answerThere(person: string): Answer | null {
  const answer = ANSWER_OF[person.slice(-4)] ?? null
  return answer === fromGroup ? null : answer
}

/** True if the person answers by starting a group. */
export function startsGroup(behaviour: Behaviour): boolean {
  return behaviour.kind === 'carried' && behaviour.answer === fromGroup
}

function write(answering: Answering, text: string, files: readonly FileRef[] = []): PendingEvent {
  const { network } = answering
  const attachments = files.map((file) => available(file, network.newGuid()))
  return messageFrom(senderOf(answering), network.newGuid(), text, { attachments })
}

function changeLater(
  { message, network, at, delayMs }: Answering,
  details: Exclude<ChangeDetails, { readonly kind: 'group' }>,
): PendingEvent {
  const place = { line: message.line, guid: network.newGuid(), at: at + delayMs }
  return eventAbout('change', place, { group: message.group, ...details })
}

/** A group of three: `from`, a person who answers in it, and a person who reacts. */
export function weekendGroupOf(from: string): DeviceGroup {
  const identifier = `chat${from.replaceAll(/\D/g, '')}`
  const near = from.slice(0, -4)
  const participants = [from, `${near}0196`, `${near}0184`].map(deviceHandle)
  return { chatGuid: `iMessage;+;${identifier}`, identifier, name: 'Weekend', participants }
}
