// Answers of simulated people: by text, file, reaction, reply, edit, unsend, and from a group.

import { deviceHandle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { DeviceGroup } from '../../driver.ts'
import type { FileRef, Sample } from './files.ts'
import type { PendingEvent } from './ledger-tables.ts'
import { type ChangeDetails, type MessageDetails, type StoredAttachment } from './network-events.ts'

/** An event on a line that follows from something after a while. */
export type Effect = Omit<PendingEvent, 'at'> & { readonly afterMs: number }

/** The way in which a person answers. */
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

/** A message as its recipient reads it. */
export type ReadMessage = {
  /** Number of the line that sent it. */
  readonly line: string
  readonly text: string
  readonly guid: string
  readonly service: string | null
  readonly files: readonly FileRef[]
  /** The group that it was sent to. */
  readonly group: DeviceGroup | undefined
}

export type AnswerTools = {
  /** Time of the message. */
  readonly now: number
  /** Time from the message to the answer. */
  readonly afterMs: number
  /** Time from the answer to the next step of the person. */
  readonly delayMs: number
  readonly newGuid: () => string
  readonly sample: (kind: Sample) => FileRef
}

/** The place of a message that comes in: a line, its sender, and the group if it is of one. */
export type Sender = {
  readonly line: string
  readonly from: string
  readonly group: DeviceGroup | undefined
  /** Null for the network's own. */
  readonly service: string | null
  readonly afterMs: number
}

/** Longer than the relay waits for a file before it announces the message. */
const FILE_WAIT_MS = 15_000
const FIRST_TEXT = 'See you at 7.'

/** A person who answers, and the guid of the answer. */
type Answering = AnswerTools & {
  readonly message: ReadMessage
  readonly from: string
  readonly guid: string
}

const ANSWERS: Readonly<Record<Answer, (answering: Answering) => readonly Effect[]>> = {
  echo: (answering) => [write(answering, answering.message.text, answering.message.files)],
  jpeg: (answering) => [write(answering, '', [answering.sample('jpeg')])],
  heic: (answering) => [write(answering, '', [answering.sample('heic')])],
  pdf: (answering) => [write(answering, '', [answering.sample('pdf')])],
  slow_file: (answering) => announce(answering, answering.sample('jpeg')),
  lost_file: (answering) => announce(answering, null),
  reaction: (answering) => [change(answering, 0, loveFrom(answering))],
  reply: (answering) => {
    const replyTo = { guid: answering.message.guid, part: 0 }
    return [messageFrom(senderOf(answering), answering.guid, 'Yes, that one.', { replyTo })]
  },
  edit: (answering) => {
    const { guid: targetGuid, now, afterMs, delayMs } = answering
    const edits = [{ text: FIRST_TEXT, at: timestamp(now + afterMs) }]
    const edited = { kind: 'edited', targetGuid, text: 'See you at 8.', edits } as const
    return [write(answering, FIRST_TEXT), change(answering, delayMs, edited)]
  },
  unsend: (answering) => {
    const unsent = { kind: 'unsent', targetGuid: answering.guid } as const
    return [write(answering, FIRST_TEXT), change(answering, answering.delayMs, unsent)]
  },
  group: (answering) => {
    const sender = { ...senderOf(answering), group: weekendOf(answering.from) }
    return [messageFrom(sender, answering.guid, 'Here we all are.')]
  },
}

/** Events of the answer that `from` gives, soonest first. */
export function answerOf(
  answer: Answer,
  from: string,
  message: ReadMessage,
  tools: AnswerTools,
): readonly Effect[] {
  return ANSWERS[answer]({ ...tools, from, message, guid: tools.newGuid() })
}

function write(answering: Answering, text: string, files: readonly FileRef[] = []): Effect {
  const attachments = files.map((file) => available(file, answering.newGuid()))
  return messageFrom(senderOf(answering), answering.guid, text, { attachments })
}

/** A message whose file is there later. */
function announce(answering: Answering, file: FileRef | null): readonly Effect[] {
  const { message, guid: messageGuid, afterMs, newGuid } = answering
  const waiting = fileThatWaits(file, { line: message.line, guid: newGuid(), messageGuid })
  const attachments = [waiting.now]
  return [
    messageFrom(senderOf(answering), messageGuid, '', { attachments }),
    waiting.after(afterMs + FILE_WAIT_MS),
  ]
}

function change(answering: Answering, delayMs: number, details: ChangeDetails): Effect {
  const { message, newGuid, afterMs } = answering
  const { line, group } = message
  const place = { line, guid: newGuid(), afterMs: afterMs + delayMs }
  return changeOn(place, { ...(group === undefined ? {} : { group }), ...details })
}

function senderOf({ message, from, afterMs }: Answering): Sender {
  const { line, group, service } = message
  return { line, from, group, service, afterMs }
}

function loveFrom({ from, message }: Answering): ChangeDetails {
  const handle = deviceHandle(from)
  const reaction = { action: 'added', type: 'love', emoji: null, part: 0 } as const
  return { kind: 'reaction', targetGuid: message.guid, ...reaction, handle, isFromMe: false }
}

/** A group with `from`, with a person who answers there and with one who reacts. */
export function weekendOf(from: string): DeviceGroup {
  const identifier = `chat${from.replaceAll(/\D/g, '')}`
  const near = from.slice(0, -4)
  const participants = [from, `${near}0196`, `${near}0184`].map(deviceHandle)
  return { chatGuid: `iMessage;+;${identifier}`, identifier, name: 'Weekend', participants }
}

export function messageFrom(
  { line, from, group, service, afterMs }: Sender,
  guid: string,
  text: string,
  { attachments = [], replyTo }: Pick<MessageDetails, 'attachments' | 'replyTo'> = {},
): Effect {
  const details: MessageDetails = {
    ...(service === null ? {} : { service }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(group === undefined ? {} : { group, sender: deviceHandle(from) }),
    ...(replyTo === undefined ? {} : { replyTo }),
  }
  // A direct text is a row without JSON, as most are. A group's row never has the handle of a direct one.
  const isPlain = Object.keys(details).length === 0
  const handle = group === undefined ? from : null
  return {
    line,
    kind: 'message',
    guid,
    handle,
    text,
    details: isPlain ? null : JSON.stringify(details),
    afterMs,
  }
}

export function available(file: FileRef, guid: string): StoredAttachment {
  return { guid, ...file, state: 'available' }
}

/** A file that is announced now and comes later; null for one that never comes. */
export function fileThatWaits(
  file: FileRef | null,
  place: {
    readonly line: string
    readonly guid: string
    readonly messageGuid: string
    readonly filename?: string | undefined
  },
) {
  const { line, guid, messageGuid, filename = 'IMG_0002.JPG' } = place
  const known = { guid, filename, declaredType: 'image/jpeg', size: null }
  const now: StoredAttachment = { ...known, state: 'pending' }
  const end: StoredAttachment =
    file === null ? { ...known, state: 'failed' } : available({ ...file, filename }, guid)
  const details = JSON.stringify({ messageGuid, attachment: end })
  return {
    now,
    after: (afterMs: number): Effect => {
      return { line, kind: 'attachment', guid, handle: null, text: null, details, afterMs }
    },
  }
}

export function changeOn(
  {
    line,
    guid,
    afterMs,
  }: { readonly line: string; readonly guid: string; readonly afterMs: number },
  change: ChangeDetails,
): Effect {
  const details = JSON.stringify(change)
  return { line, kind: 'change', guid, handle: null, text: null, details, afterMs }
}
