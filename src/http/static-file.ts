// Files served from memory. They are compressed once, by the build, and each encoding is one Blob, so that many
// clients at once need no more memory than their sockets.

import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib'

import { respondTo } from './respond.ts'

/** A packed file. Its other forms are made of `brotli` when a client asks for them. */
export type StaticFile = {
  /** The path of its URL, such as `/assets/main-1a2b3c4d.js`. */
  readonly path: string
  readonly type: string
  readonly hash: string
  readonly sizeBytes: number
  readonly brotli: Blob
}

type Encoding = 'br' | 'gzip' | null

/** A file in all its encodings. */
export type Served = {
  readonly type: string
  readonly hash: string
  /** True if clients may get it uncompressed. */
  readonly hasPlainForm: boolean
  readonly body: (encoding: Encoding) => Promise<Blob>
}

/**
 * Larger files are always served compressed, even to clients that don't accept it: copying 1.7 MB to each of a
 * thousand sockets blocks the event loop for four seconds, and no browser needs that.
 */
const PLAIN_BYTES_MAX = 512 * 1_024

const inGzip = promisify(gzip)
const inBrotli = promisify(brotliCompress)
const outOfBrotli = promisify(brotliDecompress)

/** `best` takes a second per 600 KB; `quick` is for runs from source. */
export type Effort = 'best' | 'quick'

export async function packFile(
  file: { readonly path: string; readonly type: string; readonly bytes: Uint8Array },
  effort: Effort,
): Promise<StaticFile> {
  const { path, type, bytes } = file
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [constants.BROTLI_PARAM_QUALITY]: effort === 'best' ? constants.BROTLI_MAX_QUALITY : 5,
  }
  return {
    path,
    type,
    hash: new Bun.CryptoHasher('sha256').update(bytes).digest('base64url').slice(0, 16),
    sizeBytes: bytes.length,
    brotli: new Blob([await inBrotli(bytes, { params })]),
  }
}

/** Makes each form at its first use, because most runs of the executable never serve the file. */
export function served({ type, hash, sizeBytes, brotli }: StaticFile): Served {
  const bodies = new Map<Encoding, Promise<Blob>>()
  const made = async (encoding: Encoding): Promise<Blob> => {
    const packed = await brotli.bytes()
    if (encoding === 'br') return new Blob([packed])
    const plain = await outOfBrotli(packed)
    if (encoding === null) return new Blob([plain])
    return new Blob([await inGzip(plain, { level: constants.Z_BEST_COMPRESSION })])
  }
  return {
    type,
    hash,
    hasPlainForm: sizeBytes <= PLAIN_BYTES_MAX,
    body(encoding) {
      const body = bodies.get(encoding) ?? made(encoding)
      bodies.set(encoding, body)
      return body
    },
  }
}

/** The file in the best encoding that the client accepts; 304 if the client has it. */
export async function answerFile(
  request: Request,
  file: Served,
  more: Readonly<Record<string, string>>,
): Promise<Response> {
  const accepted = encodingFor(request.headers)
  const encoding = accepted ?? (file.hasPlainForm ? null : 'gzip')
  // The encodings differ in bytes, so each one needs its own strong tag.
  const tag = `"${file.hash}${encoding === null ? '' : `-${encoding}`}"`
  const headers = { 'content-type': file.type, vary: 'accept-encoding', etag: tag, ...more }
  if (isKnown(tag, request.headers.get('if-none-match'))) {
    return respondTo(request, null, { status: 304, headers })
  }
  const encoded = encoding === null ? headers : { ...headers, 'content-encoding': encoding }
  return respondTo(request, await file.body(encoding), { headers: encoded })
}

/** The encodings that a client accepts: `q=0` excludes one. */
export function acceptedEncodings(headers: Headers): readonly string[] {
  return (headers.get('accept-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.replaceAll(' ', ''))
    .filter((part) => !/;q=0(\.0*)?$/.test(part))
    .map((part) => part.replace(/;.*$/, ''))
}

/** The best encoding that a client accepts; null if it accepts neither. */
function encodingFor(headers: Headers): Encoding {
  const names = acceptedEncodings(headers)
  if (names.includes('br')) return 'br'
  return names.includes('gzip') ? 'gzip' : null
}

/** True if the client already has the file with this tag. */
export function isKnown(tag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false
  const known = ifNoneMatch.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}
