// Messages that people on the simulated network write: words, files, reactions and replies.

import { Type } from 'typebox'

import { enumOf, objectSchema, type Shape } from '../../../api/schema.ts'
import { invalidRequest, type Issue } from '../../../domain/errors.ts'
import { deviceHandle } from '../../../domain/handle.ts'
import type { ReactionType } from '../../../domain/message-extras.ts'
import type { DeviceGroup } from '../../driver.ts'
import {
  available,
  eventAbout,
  fileThatWaits,
  messageFrom,
  type Sender,
  type StoredAttachment,
} from './events.ts'
import { SAMPLES, type FileRef, type Sample, type SimulatedFiles } from './files.ts'
import type { Carried, PendingEvent } from './ledger.ts'

export const FILES_MAX = 20
export const AFTER_SECONDS_MAX = 3_600
const FILE_SECONDS = 15
const OTHER_KINDS = ['large', 'slow', 'never', 'missing'] as const

export const File = objectSchema('SimulatedFile', {
  filename: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  content_base64: Type.Optional(Type.String({ description: 'The bytes; else give `kind`.' })),
  kind: Type.Optional(
    enumOf(
      'SimulatedFileKind',
      [...(Object.keys(SAMPLES) as Sample[]), ...OTHER_KINDS],
      '`large` has 64 MiB; `slow` comes, and `never` fails, after `after_seconds`.',
    ),
  ),
  after_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: AFTER_SECONDS_MAX, default: FILE_SECONDS }),
  ),
})
export type File = Shape<typeof File>

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

/** An answer of a person. Without words, files and a reaction, the person is silent. */
export type Words = {
  readonly say?: string | undefined
  readonly files?: readonly File[] | undefined
  readonly react?: Exclude<ReactionType, 'emoji'> | undefined
  /** True for a reply to this very message. */
  readonly reply?: boolean | undefined
  readonly after_seconds?: number | undefined
}

/** The events of an answer. */
export function answeredBy(words: Words, got: GotMessage): readonly PendingEvent[] {
  const { say, files = [], react, reply, after_seconds: seconds = 0 } = words
  const { network, message } = got
  const at = got.at + seconds * 1_000
  const events: PendingEvent[] = []
  if (react !== undefined) {
    const change = { kind: 'reaction', action: 'added', type: react, emoji: null, part: 0 } as const
    const whose = { targetGuid: message.guid, handle: deviceHandle(got.from), isFromMe: false }
    const place = { line: message.line, guid: network.newGuid(), at }
    events.push(eventAbout('change', place, { ...change, ...whose, group: message.group }))
  }
  if (say !== undefined || files.length > 0) {
    const target = reply === true ? message.guid : undefined
    const answer = { guid: network.newGuid(), text: say ?? '', attachments: files, target }
    events.push(...written(network, senderOf({ ...got, at }), answer))
  }
  return events
}

export function senderOf({ message, from, at }: GotMessage): Sender {
  const { line, group, service } = message
  return { line, from, group, service, at }
}

/** The events of a message with files. */
export function written(
  network: FileMaker,
  sender: Sender,
  message: {
    readonly guid: string
    readonly text: string
    readonly attachments: readonly File[]
    /** The guid of the message that it replies to. */
    readonly target?: string | undefined
  },
): readonly PendingEvent[] {
  const { guid, text, attachments, target } = message
  const stage = { network, line: sender.line, at: sender.at }
  const files = attachments.map((file, index) => fileOf(stage, file, index, guid))
  const first = messageFrom(sender, guid, text, {
    attachments: files.map(({ now }) => now),
    ...(target === undefined ? {} : { replyTo: { guid: target, part: 0 } }),
  })
  return [first, ...files.flatMap(({ later }) => later ?? [])]
}

function fileOf(
  { network, line, at }: Pick<Sender, 'line' | 'at'> & { readonly network: FileMaker },
  file: File,
  index: number,
  messageGuid: string,
): { readonly now: StoredAttachment; readonly later?: PendingEvent } {
  const { filename, kind, after_seconds: seconds = FILE_SECONDS } = file
  const guid = network.newGuid()
  if (kind === 'slow' || kind === 'never') {
    const sample = kind === 'slow' ? network.files.sample('jpeg') : null
    const place = { line, guid, at: at + seconds * 1_000 }
    return fileThatWaits(sample, place, messageGuid, filename)
  }
  if (kind === 'missing') {
    const known = { guid, filename: filename ?? 'IMG_0003.JPG', declaredType: 'image/jpeg' }
    return { now: { ...known, size: null, state: 'missing' } }
  }
  const found = bytesOf(network, file, index)
  return { now: available({ ...found, filename: filename ?? found.filename }, guid) }
}

function bytesOf({ files }: FileMaker, file: File, index: number): FileRef {
  const issues = issuesOfFile(file, `attachments.${index}`)
  if (issues.length > 0) throw invalidRequest(...issues)
  const { content_base64: content = '', kind } = file
  if (kind === 'large') return files.large()
  if (kind !== undefined) return files.sample(kind as Sample) // The others were dealt with.
  const bytes = Uint8Array.fromBase64(content)
  return { filename: 'file', declaredType: 'application/octet-stream', ...files.write(bytes) }
}

/** The faults that the schema of files can't show. */
export function issuesOfFile(
  { content_base64: content, kind }: File,
  path: string,
): readonly Issue[] {
  if ((content === undefined) === (kind === undefined)) {
    return [{ path, message: 'needs either content_base64 or kind' }]
  }
  try {
    Uint8Array.fromBase64(content ?? '')
    return []
  } catch {
    return [{ path: `${path}.content_base64`, message: 'is not Base64' }]
  }
}
