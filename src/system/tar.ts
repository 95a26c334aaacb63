// Headers of tar archives (ustar, POSIX.1-1988), because no package does. Bun.Archive wants every byte in memory.
// tar-stream 3.2.2 brings 12 other packages, and makes the executable 524 kB larger. modern-tar 0.8.6 reads ahead: of
// an archive that has a strange file and is cut behind it, it reports only the cut.

export const TAR_BLOCK = 512
const PATH_BYTES_MAX = 100
/** The largest size in eleven octal digits; GNU tar writes a larger one in binary. */
const OCTAL_MAX = 8 ** 11 - 1
const BINARY = 0x80

export type TarFile = {
  /** That of a folder ends with a slash. */
  readonly path: string
  readonly sizeBytes: number
  readonly mode: number
  /** Number of user and group; root if it is not given. */
  readonly owner?: number | undefined
  /** Date of the file, since 1970. */
  readonly seconds: number
}

/** The bytes that fill a file of this size up to a whole block. */
export function tarPadding(sizeBytes: number): Uint8Array {
  return Buffer.alloc((TAR_BLOCK - (sizeBytes % TAR_BLOCK)) % TAR_BLOCK)
}

export function tarHeader({ path, sizeBytes, mode, owner = 0, seconds }: TarFile): Uint8Array {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new Error(`${path} is too long for ustar.`)
  const header = Buffer.alloc(TAR_BLOCK)
  header.write(path)
  header.write(octal(mode, 7), 100)
  header.write(octal(owner, 7), 108)
  header.write(octal(owner, 7), 116)
  if (sizeBytes <= OCTAL_MAX) header.write(octal(sizeBytes, 11), 124)
  else header.writeBigUInt64BE(BigInt(sizeBytes), 128)
  if (sizeBytes > OCTAL_MAX) header[124] = BINARY
  header.write(octal(seconds, 11), 136)
  header.write(path.endsWith('/') ? '5' : '0', 156)
  header.write('ustar\x0000', 257)
  header.write(`${octal(sumOf(header), 6)}\0 `, 148)
  return header
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

/** The checksum of a header, with its own field counted as spaces. */
function sumOf(header: Uint8Array): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0)
}

/**
 * Null if the block isn't a header. Archives that lack the name of the format are read too: early versions wrote such.
 * `isFile` is false for a link, a folder and other things, and for a path in two parts.
 */
export function readTarHeader(block: Buffer) {
  if (Number.parseInt(block.toString('latin1', 148, 156), 8) !== sumOf(block)) return null
  const [path = ''] = block.toString('utf8', 0, 100).split('\0')
  const digits = block.toString('latin1', 124, 136).replace(/[\0 ]+$/, '')
  const isBinary = block[124] === BINARY
  const size = isBinary ? Number(block.readBigUInt64BE(128)) : Number.parseInt(digits, 8)
  if (!Number.isSafeInteger(size) || size < 0) return null
  return { path, sizeBytes: size, isFile: block[156] === 0x30 && block[345] === 0 }
}
