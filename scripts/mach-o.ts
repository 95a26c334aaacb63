// Reads an executable as macOS checks it before a start: its oldest system, and a signature that fits its
// bytes. The layouts are those of Apple's headers mach-o/loader.h and
// kern/cs_blobs.h; load commands are little-endian, all of a signature is big-endian.

import { createHash } from 'node:crypto'

export type MachO = {
  readonly processor: 'arm64' | 'x64'
  /** Oldest macOS that runs it, such as `13.0`; null if the file has none. */
  readonly minimumMacos: string | null
  readonly signature: Signature | null
}

export type Signature = {
  readonly identifier: string
  /** Signed without a certificate: valid, but it names no signer. */
  readonly isAdHoc: boolean
  readonly isMadeByLinker: boolean
  /** Hardened runtime: the process may do only what its entitlements allow. */
  readonly isHardened: boolean
  readonly hasEntitlements: boolean
  readonly hashName: 'sha1' | 'sha256'
  readonly pageCount: number
  /** Pages that differ from the signed ones; the system kills a process that touches one. */
  readonly wrongPageCount: number
  /** True if everything in front of the signature is signed. */
  readonly coversAll: boolean
}

const MAGIC_64 = 0xfeedfacf
const HEADER_LENGTH = 32
const PROCESSORS: Readonly<Record<number, MachO['processor']>> = {
  0x0100000c: 'arm64',
  0x01000007: 'x64',
}

const CODE_SIGNATURE = 0x1d
const BUILD_VERSION = 0x32
const PLATFORM_MACOS = 1

const SUPER_BLOB = 0xfade0cc0
const CODE_DIRECTORY = 0xfade0c02
const ENTITLEMENTS = 0xfade7171
const HASH_NAMES: Readonly<Record<number, Signature['hashName']>> = { 1: 'sha1', 2: 'sha256' }
const FLAG_AD_HOC = 0x2
const FLAG_RUNTIME = 0x10000
const FLAG_LINKER_SIGNED = 0x20000

/** Reads a thin 64-bit executable; throws if it is none, or if it ends too early. */
export function readMachO(bytes: Uint8Array): MachO {
  const view = viewOf(bytes)
  const processor = PROCESSORS[view.getUint32(4, true)]
  if (view.getUint32(0, true) !== MAGIC_64 || processor === undefined) {
    throw new Error('Not a thin 64-bit executable for macOS.')
  }
  let minimumMacos: string | null = null
  let signature: Signature | null = null
  const commandCount = view.getUint32(16, true)
  for (let index = 0, at = HEADER_LENGTH; index < commandCount; index += 1) {
    const command = view.getUint32(at, true)
    const [first, second] = [view.getUint32(at + 8, true), view.getUint32(at + 12, true)]
    if (command === BUILD_VERSION && first === PLATFORM_MACOS) minimumMacos = versionOf(second)
    if (command === CODE_SIGNATURE) signature = readSignature(bytes, first, second)
    at += view.getUint32(at + 4, true)
  }
  return { processor, minimumMacos, signature }
}

/** Reason why macOS would not run it, as the end of a sentence; null if it would. */
export function signatureProblem({ signature }: MachO): string | null {
  if (signature === null) return 'has no signature'
  const { wrongPageCount, pageCount, coversAll } = signature
  if (wrongPageCount > 0)
    return `differs from its signature in ${wrongPageCount} of ${pageCount} pages`
  return coversAll ? null : 'is longer than what was signed'
}

/** `13.0` for 0x000d0000: sixteen bits, then two times eight, of which the last is left out. */
function versionOf(packed: number): string {
  return `${packed >>> 16}.${(packed >>> 8) & 0xff}`
}

/** Reads the blobs of the signature that lies at `offset`. */
function readSignature(bytes: Uint8Array, offset: number, length: number): Signature {
  const blob = bytes.subarray(offset, offset + length)
  const view = viewOf(blob)
  if (view.getUint32(0) !== SUPER_BLOB) throw new Error('The signature has no super blob.')
  const blobs = Array.from({ length: view.getUint32(8) }, (_, index) => {
    const at = view.getUint32(12 + 8 * index + 4)
    return { magic: view.getUint32(at), content: blob.subarray(at, at + view.getUint32(at + 4)) }
  })
  const directory = blobs.find(({ magic }) => magic === CODE_DIRECTORY)
  if (directory === undefined) throw new Error('The signature has no code directory.')
  const hasEntitlements = blobs.some(({ magic }) => magic === ENTITLEMENTS)
  return { ...readDirectory(bytes, directory.content, offset), hasEntitlements }
}

/** Compares the hashes of a code directory with the pages of the file that they are for. */
function readDirectory(
  bytes: Uint8Array,
  directory: Uint8Array,
  signatureOffset: number,
): Omit<Signature, 'hasEntitlements'> {
  const view = viewOf(directory)
  const flags = view.getUint32(12)
  const [hashesAt, identifierAt] = [view.getUint32(16), view.getUint32(20)]
  const [pageCount, end] = [view.getUint32(28), view.getUint32(32)]
  const hashLength = view.getUint8(36)
  const hashName = HASH_NAMES[view.getUint8(37)]
  if (hashName === undefined) throw new Error('The pages are hashed with an unknown algorithm.')
  const pageLength = 2 ** view.getUint8(39)
  if (hashesAt + pageCount * hashLength > directory.length) {
    throw new Error('The code directory ends before its hashes do.')
  }

  const isWrong = (page: number) => {
    const start = page * pageLength
    const content = bytes.subarray(start, Math.min(start + pageLength, end))
    const hashAt = hashesAt + page * hashLength
    const hash = createHash(hashName).update(content).digest()
    return !hash.equals(directory.subarray(hashAt, hashAt + hashLength))
  }
  const pages = Array.from({ length: pageCount }, (_, page) => page)
  return {
    identifier: textAt(directory, identifierAt),
    isAdHoc: (flags & FLAG_AD_HOC) !== 0,
    isMadeByLinker: (flags & FLAG_LINKER_SIGNED) !== 0,
    isHardened: (flags & FLAG_RUNTIME) !== 0,
    hashName,
    pageCount,
    wrongPageCount: pages.filter(isWrong).length,
    coversAll: end === signatureOffset && pageCount * pageLength >= end,
  }
}

function textAt(bytes: Uint8Array, start: number): string {
  return new TextDecoder().decode(bytes.subarray(start, bytes.indexOf(0, start)))
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
