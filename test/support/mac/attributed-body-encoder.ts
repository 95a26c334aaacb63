// The column `attributedBody` as Messages writes it.

import { TypedStreamWriter, type ArchivedClass } from './typed-stream-writer.ts'

/** A stretch of the text; stretches with the very same attributes share one set. */
export type AttributedRun = {
  /** In UTF-16 units. */
  readonly length: number
  readonly attributes: Attributes
}

/** Numbers become NSNumber, strings NSString, bytes NSData. */
export type Attributes = Readonly<Record<string, number | bigint | string | Uint8Array>>

export type EncodeOptions = {
  readonly root?: keyof typeof ROOTS | undefined
  /** By default each U+FFFC, and each stretch between them, is a numbered part of the message. */
  readonly runs?: readonly AttributedRun[] | undefined
  /** The transfer guids of the U+FFFC in the text, in their order. */
  readonly attachments?: readonly string[] | undefined
}

const OBJECT = { name: 'NSObject', version: 0, parent: null }
const STRING = { name: 'NSString', version: 1, parent: OBJECT }
const MUTABLE_STRING = { name: 'NSMutableString', version: 1, parent: STRING }
const ATTRIBUTED = { name: 'NSAttributedString', version: 0, parent: OBJECT }
const MUTABLE_ATTRIBUTED = { name: 'NSMutableAttributedString', version: 0, parent: ATTRIBUTED }
const DICTIONARY = { name: 'NSDictionary', version: 0, parent: OBJECT }
const VALUE = { name: 'NSValue', version: 0, parent: OBJECT }
const NUMBER = { name: 'NSNumber', version: 0, parent: VALUE }
const DATA = { name: 'NSData', version: 0, parent: OBJECT }

type Root = { readonly self: ArchivedClass; readonly string: ArchivedClass }

/** The classes of the root, and of the string in it; they are one where the root is bare. */
const ROOTS = {
  NSAttributedString: { self: ATTRIBUTED, string: STRING },
  NSMutableAttributedString: { self: MUTABLE_ATTRIBUTED, string: MUTABLE_STRING },
  NSString: { self: STRING, string: STRING },
  NSMutableString: { self: MUTABLE_STRING, string: MUTABLE_STRING },
} as const satisfies Readonly<Record<string, Root>>

const MARK = '\uFFFC'
const PART = '__kIMMessagePartAttributeName'
const GUID = '__kIMFileTransferGUIDAttributeName'
const UTF8 = new TextEncoder()

/** `text` (well-formed) as a typedstream. */
export function encodeAttributedBody(text: string, options: EncodeOptions = {}): Uint8Array {
  const root = ROOTS[options.root ?? 'NSAttributedString']
  const writer = new TypedStreamWriter()
  writer.types('@')
  if (root.self === root.string) {
    writeString(writer, text, root.self)
    return writer.bytes
  }
  const runs = options.runs ?? partsOf(text, options.attachments ?? [])
  writer.object(Symbol('root'), root.self, () => {
    writer.types('@')
    writeString(writer, text, root.string)
    writeRuns(writer, runs)
  })
  return writer.bytes
}

function partsOf(text: string, guids: readonly string[]): readonly AttributedRun[] {
  const left = guids.values()
  return text
    .split(/(\uFFFC)/)
    .filter((part) => part !== '')
    .map((part, index) => {
      const guid = part === MARK ? left.next().value : undefined
      const attributes = guid === undefined ? { [PART]: index } : { [GUID]: guid, [PART]: index }
      return { length: part.length, attributes }
    })
}

function writeRuns(writer: TypedStreamWriter, runs: readonly AttributedRun[]): void {
  const sets = new Map<Attributes, number>()
  for (const { length, attributes } of runs) {
    const known = sets.get(attributes)
    writer.types('iI')
    writer.integer(known ?? sets.size + 1)
    writer.length(length)
    if (known !== undefined) continue
    sets.set(attributes, sets.size + 1)
    writeDictionary(writer, attributes)
  }
}

function writeDictionary(writer: TypedStreamWriter, attributes: Attributes): void {
  const pairs = Object.entries(attributes)
  writer.types('@')
  writer.object(attributes, DICTIONARY, () => {
    writer.types('i')
    writer.integer(pairs.length)
    for (const [key, value] of pairs) {
      writer.types('@')
      // Names of attributes are constants: the second time one is referred to.
      writeString(writer, key, STRING, key)
      writer.types('@')
      writeAttribute(writer, value)
    }
  })
}

function writeAttribute(writer: TypedStreamWriter, value: Attributes[string]): void {
  if (typeof value === 'string') return writeString(writer, value, STRING)
  if (value instanceof Uint8Array) return writeData(writer, value)
  const type = Math.abs(Number(value)) <= 0x7fff_ffff ? 'i' : 'q'
  writer.object(Symbol('number'), NUMBER, () => {
    writer.types('*')
    writer.cString(type)
    writer.types(type)
    writer.integer(value)
  })
}

function writeString(
  writer: TypedStreamWriter,
  text: string,
  ownClass: ArchivedClass,
  identity: unknown = Symbol('string'),
): void {
  writer.object(identity, ownClass, () => {
    writer.types('+')
    writer.counted(UTF8.encode(text))
  })
}

function writeData(writer: TypedStreamWriter, bytes: Uint8Array): void {
  writer.object(Symbol('data'), DATA, () => {
    writer.types('i')
    writer.integer(bytes.byteLength)
    writer.types(`[${bytes.byteLength}c]`)
    writer.raw(bytes)
  })
}
