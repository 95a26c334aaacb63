import { open, rm, type FileHandle } from 'node:fs/promises'

import { HEAD_BYTES } from './file-facts.ts'

const READ_BYTES = 256 * 1_024

/** A file on its way into the store: hashed while written, and flushed before it gets its name. */
export class IncomingFile {
  readonly path: string
  readonly #handle: FileHandle
  readonly #hasher = new Bun.CryptoHasher('sha256')
  #size = 0

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  static async create(path: string): Promise<IncomingFile> {
    return new IncomingFile(path, await open(path, 'wx+', 0o600))
  }

  /** Hashes a file that is already complete. */
  static async read(path: string): Promise<IncomingFile> {
    const incoming = new IncomingFile(path, await open(path, 'r+'))
    const buffer = new Uint8Array(READ_BYTES)
    for (;;) {
      const { bytesRead } = await incoming.#handle.read(buffer, 0, READ_BYTES, incoming.#size)
      if (bytesRead === 0) return incoming
      incoming.#note(buffer.subarray(0, bytesRead))
    }
  }

  get size(): number {
    return this.#size
  }

  /** The first bytes, read back from disk: slow uploads keep nothing in memory. */
  async head(): Promise<Uint8Array> {
    const head = Buffer.alloc(Math.min(this.#size, HEAD_BYTES))
    const { bytesRead } = await this.#handle.read(head, 0, head.length, 0)
    return head.subarray(0, bytesRead)
  }

  async append(chunk: Uint8Array): Promise<void> {
    this.#note(chunk)
    // A full disk takes the start of a chunk and reports the error only at the next write.
    for (let from = 0; from < chunk.length;) {
      from += (await this.#handle.write(chunk, from, chunk.length - from)).bytesWritten
    }
  }

  /** Returns the SHA-256 in hex once all bytes are on disk. */
  async finish(): Promise<string> {
    await this.#handle.sync()
    await this.#handle.close()
    return this.#hasher.digest('hex')
  }

  /** Deletes the file, unless it was moved into the store. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {})
    await rm(this.path, { force: true })
  }

  #note(chunk: Uint8Array): void {
    this.#hasher.update(chunk)
    this.#size += chunk.length
  }
}
