// Schemas of messages, events and outcomes on the link. Unknown fields are ignored. Every string and list is bounded.

import { Type, type Static, type TProperties, type TSchema } from 'typebox'

import { GROUP_CHANGES } from '../domain/conversation.ts'
import { FINDING_SEVERITIES } from '../domain/finding.ts'
import { deviceHandle, type Handle } from '../domain/handle.ts'
import type { AttachmentId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import { EXCHANGES, GROUP_ABILITIES } from '../domain/line.ts'
import { REACTION_TYPES } from '../domain/message-extras.ts'
import { RECEIPT_KINDS } from '../domain/message.ts'
import { LEFT_OUT_KINDS } from '../domain/not-relayed.ts'
import { DAY_MS } from '../domain/time.ts'

/** Deeply readonly, as the types of the domain are; optional fields may be undefined. */
export type Frozen<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : {
        readonly [K in keyof T]: object extends Pick<T, K> ? Frozen<T[K]> | undefined : Frozen<T[K]>
      }
export type Wire<Schema extends TSchema> = Frozen<Static<Schema>>

export const NOTE_LENGTH_MAX = 16_000
export const SENTENCE_LENGTH_MAX = 2_000
const CHECKPOINT_LENGTH_MAX = 400_000
const FILES_MAX = 1_000
/** End of the year 9999. */
const TIMESTAMP_MAX = 253_402_300_799_999

export const text = (maxLength: number) => Type.String({ maxLength })
export const oneOf = <Word extends string>(words: readonly Word[]) =>
  Type.Unsafe<Word>(Type.Enum([...words]))
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
export const listOf = <Schema extends TSchema>(item: Schema, maxItems: number) =>
  Type.Array(item, { maxItems })
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema)
export const kinded = <Word extends string, Fields extends TProperties>(
  type: Word,
  fields: Fields,
) => Type.Object({ type: Type.Literal(type), ...fields })

export const word = text(200)
export const sentence = text(SENTENCE_LENGTH_MAX)
const upTo = (maximum: number) => Type.Integer({ minimum: 0, maximum })
/** Nine digits, as many as an epoch has in a session's name: no number of a box can break the protocol. */
export const EPOCH_MAX = 999_999_999
export const count = upTo(EPOCH_MAX)
/** Bytes of a file, or of a disk. */
export const bytes = upTo(2 ** 50)
/** Messages that a device takes at once. */
const capacity = upTo(1_000)
export const note = nullable(text(NOTE_LENGTH_MAX))
export const checkpoint = nullable(text(CHECKPOINT_LENGTH_MAX))
export const guid = text(1_000)
/** Text of a message: the relay keeps 20,000 code points, of at most two UTF-16 units each. */
const content = text(40_000)
const isTrue = optional(Type.Literal(true))

// Drivers don't parse ids, so only the prefix is checked.
const id = (prefix: string) => Type.String({ pattern: `^${prefix}_.{1,100}$` })
export const lineId = Type.Unsafe<LineId>(id('line'))
export const messageId = Type.Unsafe<MessageId>(id('msg'))
const attachmentId = Type.Unsafe<AttachmentId>(id('att'))
export const timestamp = Type.Unsafe<Timestamp>(
  Type.Integer({ minimum: 0, maximum: TIMESTAMP_MAX }),
)
// A handle is normalized if making it again changes nothing.
export const handle = Type.Unsafe<Handle>(
  Type.Refine(Type.String({ maxLength: 255 }), (value) => deviceHandle(value) === value),
)

export const outgoingMessage = Type.Object({
  id: messageId,
  to: handle,
  text: content,
  createdAt: timestamp,
  platformGuid: nullable(guid),
  /** Without paths: the box fetches the bytes by hash. */
  attachments: optional(
    listOf(
      Type.Object({
        id: attachmentId,
        filename: sentence,
        mimeType: text(500),
        size: bytes,
        sha256: text(64),
      }),
      FILES_MAX,
    ),
  ),
  service: optional(oneOf(['iMessage', 'SMS'])),
  chatGuid: optional(guid),
})

const carried = { service: optional(word) }
const partGuids = optional(listOf(guid, FILES_MAX))
const sentParts = listOf(attachmentId, FILES_MAX)
const accepted = { guid: nullable(guid), partGuids, ...carried }
const outcomeOf = <Word extends string, Fields extends TProperties>(
  outcome: Word,
  fields: Fields,
) => Type.Object({ outcome: Type.Literal(outcome), ...fields })
const settlements = [
  outcomeOf('accepted', accepted),
  outcomeOf('held', { ...accepted, guid }),
  outcomeOf('not_sent', {
    reason: word,
    blame: oneOf(['line', 'message']),
    proof: isTrue,
    strayGuid: optional(guid),
  }),
  outcomeOf('partly_sent', { reason: word, sent: sentParts }),
  outcomeOf('unknown', { reason: word, sent: optional(sentParts) }),
] as const
const settlement = Type.Union([...settlements])
const postponed = {
  reason: Type.Literal('pacing'),
  delayMs: Type.Number({ minimum: 0, maximum: 7 * DAY_MS }),
}
export const sendOutcome = Type.Union([...settlements, outcomeOf('postponed', postponed)])

const exchange = optional(oneOf(EXCHANGES))
const capabilities = Type.Object({
  new_contacts: Type.Boolean(),
  choose_service: Type.Boolean(),
  delivered: Type.Boolean(),
  read: Type.Boolean(),
  guid: Type.Boolean(),
  attachments: Type.Boolean(),
  receives_attachments: isTrue,
  groups: optional(oneOf(GROUP_ABILITIES)),
  reactions: exchange,
  replies: exchange,
  edits: exchange,
})

const deviceAttachment = Type.Object({
  guid,
  filename: sentence,
  declaredType: nullable(text(500)),
  size: nullable(bytes),
  file: Type.Union([
    /** The head fetches its `size` bytes from the box. */
    Type.Object({ state: Type.Literal('available'), size: bytes }),
    Type.Object({ state: oneOf(['pending', 'failed', 'missing', 'not_kept']) }),
  ]),
})

const group = Type.Object({
  chatGuid: guid,
  identifier: guid,
  name: nullable(sentence),
  participants: listOf(handle, 1_000),
})

const deviceMessage = Type.Object({
  guid,
  handle,
  text: content,
  isFromMe: Type.Boolean(),
  service: word,
  at: timestamp,
  isHistory: Type.Boolean(),
  withheld: optional(nullable(oneOf(['spam', 'unplaced']))),
  attachments: optional(listOf(deviceAttachment, FILES_MAX)),
  group: optional(group),
  replyTo: optional(Type.Object({ guid, part: count })),
})

const changeRow = { guid, at: timestamp, isHistory: Type.Boolean() }
const changeOf = <Word extends string, Fields extends TProperties>(kind: Word, fields: Fields) =>
  Type.Object({ kind: Type.Literal(kind), ...changeRow, ...fields })
const ofMessage = { targetGuid: guid, group: optional(group) }
const change = Type.Union([
  changeOf('reaction', {
    ...ofMessage,
    action: oneOf(['added', 'removed']),
    type: oneOf(REACTION_TYPES),
    emoji: nullable(word),
    part: count,
    handle,
    isFromMe: Type.Boolean(),
  }),
  changeOf('edited', {
    ...ofMessage,
    text: content,
    edits: listOf(Type.Object({ text: content, at: timestamp }), 1_000),
  }),
  changeOf('unsent', ofMessage),
  changeOf('group', {
    group,
    change: oneOf(GROUP_CHANGES),
    actor: nullable(handle),
    target: nullable(handle),
    replaced: optional(handle),
  }),
])

const receipt = Type.Object({
  guid,
  kind: oneOf(RECEIPT_KINDS),
  at: timestamp,
  reason: nullable(word),
  ...carried,
})

export const lineEvent = Type.Union([
  kinded('online', {
    /** Number of the driver's session object: the same object has the same number each time. */
    deviceSession: count,
    capacity,
    number: word,
    imessageActive: Type.Boolean(),
    capabilities,
  }),
  kinded('offline', {
    reason: Type.Object({ code: word, hint: sentence, title: optional(sentence) }),
  }),
  kinded('message', { message: deviceMessage, checkpoint }),
  kinded('receipt', { receipt, checkpoint }),
  kinded('attachment', { messageGuid: guid, attachment: deviceAttachment, checkpoint }),
  kinded('change', { change, checkpoint }),
  kinded('settled', { messageId, outcome: settlement }),
  kinded('checkpoint', { checkpoint: text(CHECKPOINT_LENGTH_MAX) }),
  kinded('left_out', {
    leftOut: Type.Object({
      guid,
      kind: oneOf(LEFT_OUT_KINDS),
      at: timestamp,
    }),
    checkpoint,
  }),
])
export type WireEvent = Wire<typeof lineEvent>

export const finding = Type.Object({
  code: word,
  severity: oneOf(FINDING_SEVERITIES),
  title: sentence,
  why: sentence,
  fix: sentence,
  key: nullable(text(500)),
  depends_on: nullable(word),
})
