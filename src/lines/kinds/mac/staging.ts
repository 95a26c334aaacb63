// Copies files for Messages, which runs in a sandbox and reads few folders: it accepts a file elsewhere, and fails
// later (Jared, imsg). Most programs use its own folder of attachments (imsg, BlueBubbles); others use Pictures
// (imessage-max, imessage-kit).

import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
} from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import type { OutgoingAttachment } from '../../../domain/message.ts'
import { type NotSent, notSent } from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import type { StagedFile } from './expectation.ts'

/** Messages keeps referring to the copy of a sent file (BlueBubbles), so copies are kept for this long. */
const KEPT_MS = 30 * 86_400_000
const FOLDER_BYTES = 16
const FOLDER_NAME = /^[0-9a-f]{32}$/
/** Name of the file with the time at which Messages was done with the copy. */
const PROOF = '.done'
const NAME_BYTES_MAX = 200

export class Staging {
  readonly #host: KindHost
  readonly #folder: string

  constructor(host: KindHost, folder: string) {
    this.#host = host
    this.#folder = folder
  }

  /** False if Messages' folder cannot be written to, so that no file can be sent. */
  get isWritable(): boolean {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      accessSync(this.#folder, constants.W_OK)
      return true
    } catch {
      return false
    }
  }

  pathOf({ path }: StagedFile): string {
    return join(this.#folder, path)
  }

  /** Copies all files, or returns the outcome if a file cannot be copied; then no copy remains. */
  async stageAll(
    attachments: readonly OutgoingAttachment[],
  ): Promise<readonly StagedFile[] | NotSent> {
    const staged: StagedFile[] = []
    for (const { id, filename, path: source, size } of attachments) {
      const folder = Buffer.from(this.#host.random.bytes(FOLDER_BYTES)).toString('hex')
      const file = { id, path: `${folder}/${safeName(filename)}` }
      staged.push(file)
      const refusal = await this.#copy(source, this.pathOf(file), size)
      if (refusal === null) continue
      await this.remove(staged)
      return refusal
    }
    return staged
  }

  /** Copies only the bytes, without attributes such as the download quarantine mark. */
  async #copy(source: string, copy: string, size: number): Promise<NotSent | null> {
    const missing = notSent('attachment_missing', 'message')
    try {
      await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
      const written = createWriteStream(copy, { mode: 0o600, flags: 'wx' })
      await pipeline(createReadStream(source), written)
      return written.bytesWritten === size ? null : missing
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (code === 'ENOENT' && !existsSync(source)) return missing
      this.#host.log.warn('a file cannot be put where Messages reads it', { code })
      return notSent('staging_failed', 'line')
    }
  }

  /** Removes copies that were never handed to Messages. */
  async remove(files: readonly StagedFile[]): Promise<void> {
    for (const file of files) {
      await rm(dirname(this.pathOf(file)), { recursive: true, force: true }).catch(() => {})
    }
  }

  /** Called when Messages is done with the file: the copy is kept for 30 days from now on. */
  async markDone(file: StagedFile): Promise<void> {
    const proof = join(dirname(this.pathOf(file)), PROOF)
    await writeFile(proof, String(this.#host.clock.now()), { mode: 0o600 }).catch(() => {})
  }

  /** Removes copies that Messages was done with 30 days ago. Others stay, because their sends may still go on. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => [])
    for (const name of names.filter((each) => FOLDER_NAME.test(each))) {
      const text = await readFile(join(this.#folder, name, PROOF), 'utf8').catch(() => '')
      const doneAt = Number(text)
      const isOld = text !== '' && this.#host.clock.now() - doneAt > KEPT_MS
      if (isOld) await rm(join(this.#folder, name), { recursive: true, force: true })
    }
  }
}

/** A file name that is valid on every disk; the recipient sees it. */
function safeName(filename: string): string {
  const name = basename(filename).replaceAll(/[\p{Cc}/:\\]/gu, '_')
  const whole = name === '' || name.startsWith('.') ? `file${name}` : name
  if (Buffer.byteLength(whole) <= NAME_BYTES_MAX) return whole
  const end = /\.[^.]{1,16}$/.exec(whole)?.[0] ?? ''
  const points = Array.from(whole.slice(0, whole.length - end.length))
  while (Buffer.byteLength(points.join('') + end) > NAME_BYTES_MAX) points.pop()
  return points.join('') + end
}
