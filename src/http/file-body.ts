// The body of an upload: the bytes of a file, or a form with one field, `file`. It is read as a stream, so it
// may have any length.

import type { Upload } from '../attachments/attachments.ts'
import { filenameIn, parameterIn } from '../attachments/filename.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { chunksOf } from './input.ts'

export type FileBody = Omit<Upload, 'caller' | 'idempotencyKey'>

const FORM = /^multipart\/form-data\s*(?:;(.*))?$/is
const BOUNDARY = /(?:^|;)\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i
/** The most bytes that the boundaries and headers of a form with one field take. */
const FORM_BYTES_MAX = 8_192

export async function fileBodyOf({ headers, body }: Request): Promise<FileBody> {
  requirePlain(headers)
  const bytes = body === null ? noBytes() : chunksOf(body)
  const announced = headers.get('content-length')
  const length = announced === null ? null : Number(announced)
  const declaredType = headers.get('content-type')
  const boundary = boundaryIn(declaredType)
  if (boundary === null) {
    return { bytes, length, leastLength: length ?? 0, filename: null, declaredType }
  }
  const leastLength = Math.max(0, (length ?? 0) - FORM_BYTES_MAX)
  return { leastLength, length: null, ...(await onlyPartOf(bytes, boundary)) }
}

function requirePlain(headers: Headers): void {
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw new RelayError('unsupported_media_type', 'The file must not be compressed on its way.')
}

/** The boundary of a form; null for any other type. */
function boundaryIn(type: string | null): string | null {
  const form = FORM.exec(type ?? '')
  if (form === null) return null
  const match = BOUNDARY.exec(form[1] ?? '')
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined) throw badForm('It names no boundary.')
  return boundary
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

type Part = Pick<FileBody, 'bytes' | 'filename' | 'declaredType'>

/** Reads a form up to the bytes of its field `file`. */
async function onlyPartOf(chunks: AsyncGenerator<Uint8Array>, boundary: string): Promise<Part> {
  // The first boundary has no line before it.
  const form = new FormReader(chunks, Buffer.from('\r\n'))
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  await form.skipPast(delimiter)
  const headers = partHeaders((await form.skipPast(Buffer.from('\r\n\r\n'))).toString('utf8'))
  const disposition = headers.get('content-disposition') ?? ''
  if (parameterIn(disposition, 'name') !== 'file') throw badForm('Its first field must be "file".')
  return {
    bytes: form.upTo(delimiter),
    filename: filenameIn(disposition),
    declaredType: headers.get('content-type') ?? null,
  }
}

/** Reads a form through a window that moves over its bytes. */
class FormReader {
  readonly #chunks: AsyncGenerator<Uint8Array>
  #window: Buffer

  constructor(chunks: AsyncGenerator<Uint8Array>, start: Buffer) {
    this.#chunks = chunks
    this.#window = start
  }

  /** Moves the window behind `mark`, and returns the bytes before it. */
  async skipPast(mark: Buffer): Promise<Buffer> {
    for (;;) {
      const at = this.#window.indexOf(mark)
      if (at !== -1) return this.#take(at, mark.length)
      if (this.#window.length > FORM_BYTES_MAX) throw badForm('It is not well formed.')
      await this.#read()
    }
  }

  /** Yields the bytes before `delimiter`. Throws unless the form ends there. */
  async *upTo(delimiter: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#window.indexOf(delimiter)
      if (at !== -1) {
        yield this.#take(at, delimiter.length)
        return this.#requireEnd()
      }
      // The window may end within the delimiter.
      const certain = this.#window.length - delimiter.length + 1
      if (certain > 0) yield this.#take(certain, 0)
      await this.#read()
    }
  }

  async #requireEnd(): Promise<void> {
    while (this.#window.length < 2) await this.#read()
    if (this.#window.subarray(0, 2).toString() !== '--') {
      throw badForm('It must have the field "file" alone.')
    }
    await this.#chunks.return(undefined)
  }

  #take(length: number, skipped: number): Buffer {
    const taken = this.#window.subarray(0, length)
    this.#window = this.#window.subarray(length + skipped)
    return taken
  }

  async #read(): Promise<void> {
    const next = await this.#chunks.next()
    if (next.done === true) throw badForm('It ends before its last boundary.')
    const chunk: Uint8Array = next.value
    this.#window = Buffer.concat([this.#window, chunk])
  }
}

function partHeaders(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'))
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

function badForm(why: string): RelayError {
  return invalidRequest({ path: '', message: `The form cannot be read. ${why}` })
}
