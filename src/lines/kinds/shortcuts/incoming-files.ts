// Files that shortcuts posted, until the relay has its own copy.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export class IncomingFiles {
  readonly #folder: string
  #opened: Promise<unknown> | null = null
  #isClean = false
  #count = 0

  /** The first write deletes the files of an earlier start. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** The path of a new file with these bytes; null if it can't be written now. */
  async write(bytes: Blob): Promise<string | null> {
    this.#count += 1
    const path = join(this.#folder, String(this.#count))
    try {
      await (this.#opened ??= this.#open())
      await Bun.write(path, bytes)
      return path
    } catch {
      this.#opened = null
      await this.remove(path)
      return null
    }
  }

  async remove(path: string): Promise<void> {
    await rm(path, { force: true })
  }

  async #open(): Promise<void> {
    if (!this.#isClean) await rm(this.#folder, { recursive: true, force: true })
    this.#isClean = true
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
  }
}
