// The requests and answers between a head and its boxes, checked when they are written and when they are read.

import { Type, type TProperties, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

import type { BoxId } from '../domain/ids.ts'
import type { Clock } from '../system/clock.ts'
import { type Link, LinkError, PAYLOAD_BYTES_MAX } from './link.ts'
import {
  bytes,
  checkpoint,
  count,
  EPOCH_MAX,
  finding,
  guid,
  handle,
  kinded,
  lineEvent,
  lineId,
  listOf,
  messageId,
  note,
  NOTE_LENGTH_MAX,
  SENTENCE_LENGTH_MAX,
  nullable,
  oneOf,
  outgoingMessage,
  sendOutcome,
  sentence,
  text,
  timestamp,
  type Wire,
  type WireEvent,
  word,
} from './wire-values.ts'

export const PROTOCOL = 1
/** Most items of a session that are on their way to the head. */
export const WINDOW = 128
/** Bytes of a file in one answer. */
export const CHUNK_BYTES = 524_288
/** Room for the signature of a text. */
const SIGNATURE_BYTES_MAX = 300
/** Bytes of entries in one page of a list. */
export const PAGE_BYTES = 524_288
/** A box that is silent for longer is away. Hellos come every two seconds, so two may be lost. */
export const SILENCE_MS = 7_000
/** A box doesn't use a grant that comes later than this after it asked. */
export const GRANT_MS = 8_000
/** Longest wait for the outcome of a send after its session is over. */
export const ENDING_MS = 90_000

/** The grant was never used and never will be: the box's journal proves it, or the box never got the grant. */
export const UNUSED = {
  outcome: 'not_sent',
  reason: 'withdrawn',
  blame: 'line',
  proof: true,
} as const

/** `<epoch>.<count>`: one run of one line on a box. */
const session = Type.String({ pattern: '^\\d{1,9}\\.\\d{1,9}$' })
const line = Type.Object({ id: lineId, key: text(500), number: word, checkpoint })
const chunk = Type.Union([
  Type.Object({ data: text(700_000), isLast: Type.Boolean() }),
  /** The file isn't there, or belongs to nothing that this side is working on. */
  Type.Object({ isMissing: Type.Literal(true) }),
])
const item = Type.Union([
  kinded('event', { event: lineEvent }),
  kinded('outcome', { send: count, outcome: sendOutcome }),
  kinded('ended', { error: nullable(sentence) }),
])
const isOver = Type.Object({ isOver: Type.Literal(true) })
const isTaken = Type.Object({ isTaken: Type.Literal(true) })
const isBusy = Type.Object({ isBusy: Type.Literal(true) })
const unsettled = Type.Object({ message: outgoingMessage, note })
const open = Type.Object({ guid, note })
const awaited = Type.Object({ messageGuid: guid, attachmentGuid: guid })
const pageOf = <Item extends TSchema>(entry: Item) => listOf(entry, 100_000)

const health = Type.Object({
  freeBytes: Type.Optional(bytes),
  system: Type.Optional(word),
  isOnBattery: Type.Optional(Type.Boolean()),
  startedAt: Type.Optional(timestamp),
})

const operation = <Request extends TProperties, Answer extends TSchema>(
  request: Request,
  answer: Answer,
) => ({ request: Type.Object(request), answer })

/** Every request with its answer, by name. Every number in them has a maximum. */
export const OPERATIONS = {
  hello: operation(
    {
      protocol: count,
      version: word,
      platform: word,
      boot: word,
      /** Highest epoch that the box has seen. */
      fence: count,
      sessions: listOf(session, 10_000),
      kinds: listOf(word, 100),
      devices: listOf(Type.Object({ kind: word, key: text(500), number: nullable(word) }), 1_000),
      health,
      /** The upgrade that is under way or has failed, if any. */
      upgrade: Type.Optional(
        Type.Object({
          order: word,
          to: word,
          state: oneOf(['downloading', 'installing', 'failed', 'rolled_back']),
          problem: nullable(sentence),
        }),
      ),
      isLeaving: Type.Optional(Type.Boolean()),
    },
    Type.Union([
      Type.Object({ refused: oneOf(['box_twice', 'box_removed', 'box_outdated']) }),
      Type.Object({
        epoch: count,
        /** Sessions of the hello that this head doesn't run. */
        closed: listOf(session, 10_000),
      }),
    ]),
  ),
  item: operation({ session, seq: count, item }, Type.Union([isTaken, isOver])),
  pass: operation(
    {
      session,
      send: count,
      note,
      /** Mark of the box's journal, raised for this request. */
      mark: Type.Optional(count),
    },
    Type.Object({ isGranted: Type.Boolean() }),
  ),
  page: operation(
    { session, list: oneOf(['unsettled', 'open', 'awaited']), from: count },
    Type.Union([
      Type.Object({
        unsettled: Type.Optional(pageOf(unsettled)),
        open: Type.Optional(pageOf(open)),
        awaited: Type.Optional(pageOf(awaited)),
        /** Index of the next page's first entry; null after the last page. */
        next: nullable(count),
      }),
      isOver,
    ]),
  ),
  /** Asks for a piece of a file of a message that a session was given. */
  outgoing_file: operation({ session, send: count, sha256: text(64), offset: bytes }, chunk),
  /** An answer shows that the process is alive. */
  ping: operation({}, Type.Object({})),
  run: operation(
    { session, kind: word, line },
    Type.Union([
      Type.Object({ isRunning: Type.Literal(true) }),
      isBusy,
      Type.Object({ refused: sentence }),
    ]),
  ),
  end: operation(
    {
      session,
      kind: word,
      key: text(500),
      /** Boot id of the process that the session ran in. */
      boot: word,
      /** Highest mark that this head knows from the journal of the process with this `boot`. */
      mark: Type.Optional(count),
      messages: listOf(messageId, 10_000),
    },
    Type.Union([
      isBusy,
      Type.Object({
        /** Without a row, `none` proves that the message never left; `lost` proves nothing. */
        records: listOf(
          Type.Object({
            message: messageId,
            state: oneOf(['none', 'row', 'lost']),
            outcome: nullable(sendOutcome),
          }),
          10_000,
        ),
      }),
    ]),
  ),
  send: operation(
    { session, deviceSession: count, send: count, message: outgoingMessage },
    Type.Union([isTaken, isOver]),
  ),
  knows: operation(
    { session, deviceSession: count, handle },
    Type.Object({ isKnown: nullable(Type.Boolean()) }),
  ),
  checkup: operation({ kind: word }, Type.Object({ findings: listOf(finding, 200) })),
  /** Asks a box to download and install an executable; an order is taken once, whatever its outcome. */
  upgrade: operation(
    {
      order: word,
      /** Epoch in which the executable is fetched: an outdated box learns it only from here. */
      epoch: count,
      to: word,
      name: Type.String({ pattern: '^[A-Za-z0-9][\\w.-]{0,99}$' }),
      sha256: text(64),
      size: bytes,
      /** Content of the release's file of checksums, and its signature. */
      sums: text(100_000),
      signature: nullable(text(10_000)),
      isUnverified: Type.Boolean(),
      /** Devices whose lines are online before the upgrade. */
      lines: listOf(Type.Object({ kind: word, key: text(500), name: sentence }), 1_000),
    },
    Type.Union([isTaken, Type.Object({ refused: sentence })]),
  ),
  /** Asks for a piece of that executable. */
  release_file: operation({ sha256: text(64), offset: bytes }, chunk),
  /** Asks for a piece of a file of an item that isn't answered yet. */
  received_file: operation({ session, seq: count, guid, offset: bytes }, chunk),
} as const

type Operations = typeof OPERATIONS
export type OperationName = keyof Operations
export type Request<Name extends OperationName> = Wire<Operations[Name]['request']>
export type Answer<Name extends OperationName> = Wire<Operations[Name]['answer']>
export type Item = Wire<typeof item>
export type Hello = Request<'hello'>
export type Chunk = Wire<typeof chunk>
export type { WireEvent }
export { EPOCH_MAX, SENTENCE_LENGTH_MAX }

/** The note of a point of no return on a box, as the head stores it. */
const boxNote = Type.Object({ box: word, boot: word, session, note, mark: Type.Optional(count) })
export type BoxNote = Wire<typeof boxNote>

const validators = new Map<TSchema, Validator>()

/** The value if it fits the schema, else null. Schemas are compiled when they are first needed. */
function fitting<Schema extends TSchema>(schema: Schema, value: unknown): Wire<Schema> | null {
  let validator = validators.get(schema)
  if (validator === undefined) validators.set(schema, (validator = Compile(schema)))
  return validator.Check(value) ? (value as Wire<Schema>) : null // Just checked.
}

/** The value in a text; null if it isn't JSON or doesn't fit the schema. */
export function parsed<Schema extends TSchema>(schema: Schema, json: string): Wire<Schema> | null {
  try {
    return fitting(schema, JSON.parse(json))
  } catch {
    return null
  }
}

/** Writes a value; throws if the other side would refuse it. */
function written(schema: TSchema, value: unknown, name: string | null = null): string {
  if (fitting(schema, value) === null) throw new Error(`${name ?? 'An answer'} has the wrong form.`)
  const json = JSON.stringify(name === null ? value : { op: name, ...(value as object) }) // Every request is an object.
  if (Buffer.byteLength(json) > PAYLOAD_BYTES_MAX - SIGNATURE_BYTES_MAX)
    throw new Error(`${name ?? 'An answer'} is too long.`)
  return json
}

/** True if an event fits the link unchanged. */
export function isWireEvent(event: unknown): event is WireEvent {
  if (fitting(lineEvent, event) === null) return false
  return Buffer.byteLength(JSON.stringify(event)) < PAYLOAD_BYTES_MAX - 1_000
}

export function writeBoxNote(value: BoxNote): string {
  return JSON.stringify(value)
}

/** Null for a note that wasn't made on a box. */
export function readBoxNote(stored: string | null): BoxNote | null {
  return stored === null || stored.length > 2 * NOTE_LENGTH_MAX ? null : parsed(boxNote, stored)
}

/** Asks once; rejects with a LinkError if no answer comes, or if it has the wrong form. */
export async function ask<Name extends OperationName>(
  { link, subject, timeoutMs }: Address,
  name: Name,
  request: Request<Name>,
): Promise<Answer<Name>> {
  const { request: schema, answer } = OPERATIONS[name]
  const json = await link.ask(subject, written(schema, request, name), timeoutMs)
  const value = parsed(answer as Operations[Name]['answer'], json) // The answer of the same operation.
  if (value === null) throw new LinkError(`The answer to ${name} has the wrong form.`)
  return value
}

export type Address = { readonly link: Link; readonly subject: string; readonly timeoutMs: number }

type Handlers = {
  readonly [Name in OperationName]?: (
    request: Request<Name>,
    box: BoxId,
  ) => Promise<Answer<Name> | null>
}

/**
 * Answers the requests that it has handlers for; a request of the wrong form gets no answer.
 * `boxAt` is the index of the box's id in the subject.
 */
export function serve(link: Link, subject: string, handlers: Handlers, boxAt = 3): () => void {
  return link.serve(subject, async (json, asked) => {
    const name = nameOf(json)
    if (name === null) return UNKNOWN
    const handle = handlers[name] as
      | ((request: unknown, box: string) => Promise<unknown>)
      | undefined // The handler of this operation.
    const { request: schema, answer: answerSchema } = OPERATIONS[name]
    const request = parsed(schema, json)
    if (handle === undefined) return UNKNOWN
    if (request === null) return null
    const answer = await handle(request, asked.split('.')[boxAt] ?? '')
    return answer === null ? null : written(answerSchema, answer)
  })
}

/** Answer to an operation that this version doesn't know or handle. */
const UNKNOWN = '{"isUnknown":true}'
const envelope = Type.Object({ op: word })

function nameOf(json: string): OperationName | null {
  const name = parsed(envelope, json)?.op ?? ''
  return Object.hasOwn(OPERATIONS, name) ? (name as OperationName) : null // A key of the table.
}

const AGAIN_MS = 250

/** The answer, or null if none came. */
export async function orNull<T extends object>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof LinkError) return null
    throw error
  }
}

/** Asks until an answer comes; null once `signal` aborts. */
export async function askUntil<T extends object>(
  clock: Clock,
  signal: AbortSignal,
  once: () => Promise<T>,
): Promise<T | null> {
  const over = Promise.withResolvers<null>()
  const onAbort = () => over.resolve(null)
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted) {
      const answer = await Promise.race([orNull(once()), over.promise])
      if (answer !== null) return answer
      await clock.sleep(AGAIN_MS, signal)
    }
    return null
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Epoch and count of a session, for comparing. */
export function sessionOrder(name: string): readonly [number, number] {
  const [epoch = 0, number = 0] = name.split('.').map(Number)
  return [epoch, number]
}

export function isNewer(one: string, other: string): boolean {
  const [epoch, number] = sessionOrder(one)
  const [otherEpoch, otherNumber] = sessionOrder(other)
  return epoch > otherEpoch || (epoch === otherEpoch && number > otherNumber)
}
