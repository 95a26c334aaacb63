// Decodes the column `attributedBody` of a message. Its root is an NSAttributedString: the text, then for
// each run the number of its attribute set and its length in UTF-16 units. The set itself, a dictionary,
// follows only the first time its number appears.

import {
  BLOB_BYTES_MAX,
  isKindOf,
  readTypedStream,
  TypedStreamError,
  type TypedGroup,
  type TypedObject,
  type TypedValue,
} from './typed-stream.ts'

export type DecodedBody =
  | {
      readonly ok: true
      /** Contains U+FFFC for each attachment and each part of an app balloon. */
      readonly text: string
      /** Transfer guids, in the order of the text. */
      readonly attachmentGuids: readonly string[]
      /** Pictures within the text (Genmoji). */
      readonly inlineEmoji?: readonly InlineEmoji[] | undefined
    }
  /** `problem` quotes nothing from the message. */
  | { readonly ok: false; readonly problem: string }

/** `at` is the offset of its mark in the text, in UTF-16 units. */
export type InlineEmoji = { readonly at: number; readonly guid: string }

const MARK = '\uFFFC'
const GUID_BYTES_MAX = 255
const STREAM_AS_TEXT = '\u0004\u000Bstreamtyped'
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const STRICT_UTF16 = new TextDecoder('utf-16le', { fatal: true })

/**
 * Never throws, and ends within 50 ms for any input. Some bodies are UTF-16 with a byte order mark, and
 * some columns are of type TEXT (imsg): such a string is the text itself.
 */
export function decodeAttributedBody(blob: Uint8Array | string): DecodedBody {
  if (blob.length > BLOB_BYTES_MAX) return { ok: false, problem: 'the body is too long' }
  try {
    return typeof blob === 'string' ? decodeText(blob) : decodeBytes(blob)
  } catch (error) {
    // Even a bug of the decoder must not keep later rows from being read.
    const isFound = error instanceof TypedStreamError
    return { ok: false, problem: isFound ? error.message : 'the reader itself failed' }
  }
}

export function withoutMarks(text: string): string {
  return text.replaceAll(MARK, '')
}

function decodeText(text: string): DecodedBody {
  if (!text.startsWith(STREAM_AS_TEXT)) return { ok: true, text, attachmentGuids: [] }
  // SQLite returns TEXT as UTF-8, with U+FFFD in the place of invalid bytes, which are lost.
  if (/[^\0-\xFF]/.test(text)) throw new TypedStreamError('the stream was stored as text')
  return decodeStream(Buffer.from(text, 'latin1'))
}

function decodeBytes(blob: Uint8Array): DecodedBody {
  const isUtf16 = blob[0] === 0xff && blob[1] === 0xfe
  if (!isUtf16) return decodeStream(blob)
  return { ok: true, text: strictly(STRICT_UTF16, blob), attachmentGuids: [] }
}

function decodeStream(blob: Uint8Array): DecodedBody {
  const [root] = readTypedStream(blob).values
  if (isKindOf(root, 'NSString')) return { ok: true, text: textOf(root), attachmentGuids: [] }
  if (isKindOf(root, 'NSAttributedString')) return decodeAttributed(root)
  throw new TypedStreamError('the stream holds no text')
}

/** The run lengths are the only checksum: a damaged stream often reads like a whole one. */
function decodeAttributed({ groups: [first, ...rest] }: TypedObject): DecodedBody {
  const [string] = first?.values ?? []
  if (!isKindOf(string, 'NSString')) throw new TypedStreamError('the attributed string has no text')
  const text = textOf(string)
  const runs = runsOf(rest)
  const length = runs.reduce((sum, run) => sum + run.length, 0)
  if (length !== text.length) throw new TypedStreamError('the runs do not fit the text')
  const guids = runs.map((run) => run.guid).filter((guid) => guid !== null)
  const inlineEmoji = runs.flatMap(({ at, guid, isEmoji }) =>
    isEmoji && guid !== null && text[at] === MARK ? [{ at, guid }] : [],
  )
  // An attachment whose run is split by another attribute is still one attachment.
  const attachmentGuids = [...new Set(guids)]
  return { ok: true, text, attachmentGuids, ...(inlineEmoji.length > 0 && { inlineEmoji }) }
}

type Marking = { readonly guid: string | null; readonly isEmoji: boolean }

type Run = Marking & { readonly at: number; readonly length: number }

const UNMARKED: Marking = { guid: null, isEmoji: false }

function runsOf(groups: readonly TypedGroup[]): readonly Run[] {
  const markingOf = new Map<number, Marking>()
  // Many attribute sets may share one dictionary, so each dictionary is searched only once.
  const markingIn = new Map<TypedObject, Marking>()
  const runs: Run[] = []
  const left = groups.values()
  let at = 0
  for (const { encoding, values } of left) {
    const [set, length] = values
    if (encoding !== 'iI' || typeof set !== 'number' || typeof length !== 'number') {
      throw new TypedStreamError('something else stands where a run should be')
    }
    if (!markingOf.has(set)) markingOf.set(set, markingInSet(left.next().value, markingIn))
    runs.push({ ...(markingOf.get(set) ?? UNMARKED), at, length })
    at += length
  }
  return runs
}

function markingInSet(group: TypedGroup | undefined, known: Map<TypedObject, Marking>): Marking {
  const [dictionary] = group?.values ?? []
  if (dictionary === null) return UNMARKED
  if (!isKindOf(dictionary, 'NSDictionary')) throw new TypedStreamError('a run has no attributes')
  const found = known.get(dictionary)
  if (found !== undefined) return found
  const marking = markingInDictionary(dictionary)
  known.set(dictionary, marking)
  return marking
}

/** A dictionary holds its number of pairs, then names and values in turn. */
function markingInDictionary({ groups: [count, ...rest] }: TypedObject): Marking {
  const values = rest.map((group) => group.values[0])
  if (count?.values[0] !== values.length / 2) {
    throw new TypedStreamError('a dictionary does not have as many pairs as it says')
  }
  const valueOf = (wanted: string) => {
    const at = values.findIndex((name, index) => index % 2 === 0 && isNamed(name, wanted))
    return at < 0 ? undefined : values[at + 1]
  }
  const bytes = bytesOf(valueOf('__kIMFileTransferGUIDAttributeName'))
  // An impossible guid is skipped, because the text is still good.
  const isGuid = bytes !== null && bytes.byteLength <= GUID_BYTES_MAX
  const emoji = valueOf('__kIMEmojiImageAttributeName')
  return {
    guid: isGuid ? strictly(STRICT_UTF8, bytes) : null,
    isEmoji: isKindOf(emoji, 'NSNumber') && emoji.groups.at(-1)?.values[0] === 1,
  }
}

/** Compares the length first: a long name with many references would otherwise cost seconds. */
function isNamed(name: TypedValue | undefined, wanted: string): boolean {
  const bytes = bytesOf(name)
  if (bytes?.byteLength !== wanted.length) return false
  return strictly(STRICT_UTF8, bytes) === wanted
}

function textOf(string: TypedObject): string {
  const bytes = bytesOf(string)
  if (bytes === null) throw new TypedStreamError('a string has no text')
  return strictly(STRICT_UTF8, bytes)
}

function bytesOf(value: TypedValue | undefined): Uint8Array | null {
  const bytes = isKindOf(value, 'NSString') ? value.groups[0]?.values[0] : undefined
  return bytes instanceof Uint8Array ? bytes : null
}

function strictly(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new TypedStreamError('the text is not well-formed', { cause })
  }
}
