// Writes typedstreams as NSArchiver does on a current macOS: the counterpart of the driver's reader.

/** A class with its version, and the classes that it is made from. */
export type ArchivedClass = {
  readonly name: string
  readonly version: number
  readonly parent: ArchivedClass | null
}

const FIRST_REFERENCE = -110
const UTF8 = new TextEncoder()

export class TypedStreamWriter {
  readonly #bytes: number[] = []
  readonly #strings = new Map<string, number>()
  /** Numbers by what was written: objects and classes by identity, C strings by their text. */
  readonly #numbers = new Map<unknown, number>()
  #numbered = 0

  constructor() {
    this.#bytes.push(4, 11, ...UTF8.encode('streamtyped'))
    this.integer(1_000)
  }

  get bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }

  /** Says of which types the next values are. */
  types(encoding: string): void {
    this.#sharedString(encoding)
  }

  /** A whole number in the shortest form that holds it. */
  integer(value: number | bigint): void {
    const number = Number(value)
    if (number >= FIRST_REFERENCE && number <= 127) return this.#little(8, number)
    if (number >= -0x8000 && number <= 0x7fff) return this.#tagged(0x81, 16, number)
    if (number >= -0x8000_0000 && number <= 0x7fff_ffff) return this.#tagged(0x82, 32, number)
    this.#tagged(0x87, 64, value)
  }

  /** A length, which is unsigned. */
  length(value: number): void {
    if (value <= 127) return this.#little(8, value)
    if (value <= 0xffff) return this.#tagged(0x81, 16, value)
    this.#tagged(0x82, 32, value)
  }

  /** A length and as many bytes. */
  counted(bytes: Uint8Array): void {
    this.length(bytes.byteLength)
    this.raw(bytes)
  }

  raw(bytes: Uint8Array): void {
    for (const byte of bytes) this.#bytes.push(byte)
  }

  cString(text: string): void {
    const isKnown = this.#refer(`C string ${text}`)
    if (!isKnown) this.#sharedString(text)
  }

  /** An object with what `writeContent` writes; a reference where `identity` was written before. */
  object(identity: unknown, ownClass: ArchivedClass, writeContent: () => void): void {
    if (this.#refer(identity)) return
    this.#class(ownClass)
    writeContent()
    this.#bytes.push(0x86)
  }

  #class(archived: ArchivedClass | null): void {
    if (archived === null) return void this.#bytes.push(0x85)
    if (this.#refer(archived)) return
    this.#sharedString(archived.name)
    this.integer(archived.version)
    this.#class(archived.parent)
  }

  #sharedString(text: string): void {
    const known = this.#strings.get(text)
    if (known !== undefined) return this.#reference(known)
    this.#strings.set(text, this.#strings.size)
    this.#bytes.push(0x84)
    this.counted(UTF8.encode(text))
  }

  /** Whether `identity` was written before, and is now referred to; otherwise it begins here. */
  #refer(identity: unknown): boolean {
    const known = this.#numbers.get(identity)
    if (known === undefined) {
      this.#numbers.set(identity, this.#numbered)
      this.#numbered += 1
      this.#bytes.push(0x84)
      return false
    }
    this.#reference(known)
    return true
  }

  #reference(number: number): void {
    this.integer(number + FIRST_REFERENCE)
  }

  #tagged(tag: number, bits: number, value: number | bigint): void {
    this.#bytes.push(tag)
    this.#little(bits, value)
  }

  #little(bits: number, value: number | bigint): void {
    let rest = BigInt.asUintN(bits, BigInt(value))
    for (let written = 0; written < bits; written += 8) {
      this.#bytes.push(Number(rest & 0xffn))
      rest >>= 8n
    }
  }
}
