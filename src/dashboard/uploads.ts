// Files attached to a message that is being written. Each uploads as soon as it is attached, so that sending is
// quick.

import { signal, type ReadonlySignal } from '@preact/signals'

import type { Attachment } from '../api/attachments.ts'
import type { Api, Failure } from './api.ts'
import { grouped } from './words/common.ts'

export type Upload = {
  readonly key: number
  readonly name: string
  readonly type: string
  readonly size: number
  /** The share of bytes sent, from 0 to 1. */
  readonly progress: number
  /** Null until it is uploaded. */
  readonly attachment: Attachment | null
  readonly failure: Failure | null
}

export const FILES_MAX = 10
/** Simultaneous uploads: browsers open six connections per host. */
const AT_ONCE = 2

export class Uploads {
  readonly #api: Pick<Api, 'upload'>
  readonly #now = signal<readonly Upload[]>([])
  readonly #refusal = signal<string | null>(null)
  readonly #contents = new Map<number, File>()
  readonly #running = new Map<number, AbortController>()
  #lastKey = 0

  readonly now: ReadonlySignal<readonly Upload[]> = this.#now
  /** The reason why some files were not accepted. */
  readonly refusal: ReadonlySignal<string | null> = this.#refusal

  constructor(api: Pick<Api, 'upload'>) {
    this.#api = api
  }

  /** The file itself; undefined once it is removed. */
  contentOf({ key }: Upload): File | undefined {
    return this.#contents.get(key)
  }

  get isComplete(): boolean {
    return this.#now.value.every(({ attachment }) => attachment !== null)
  }

  /** Ids of the uploaded files, in the order in which they were attached. */
  get ids(): readonly string[] {
    return this.#now.value.flatMap(({ attachment }) => attachment?.id ?? [])
  }

  add(files: readonly File[]): void {
    const room = FILES_MAX - this.#now.value.length
    const tooMany = `A message can have ${grouped(FILES_MAX)} attachments at most.`
    this.#refusal.value = files.length > room ? tooMany : null
    const added = files.slice(0, room).map((file) => {
      this.#lastKey += 1
      this.#contents.set(this.#lastKey, file)
      const { name, type, size } = file
      const upload = { key: this.#lastKey, name, type, size, progress: 0 }
      return { ...upload, attachment: null, failure: null }
    })
    this.#now.value = [...this.#now.value, ...added]
    this.#startNext()
  }

  remove(key: number): void {
    this.#running.get(key)?.abort()
    this.#running.delete(key)
    this.#contents.delete(key)
    this.#refusal.value = null
    this.#now.value = this.#now.value.filter((upload) => upload.key !== key)
    this.#startNext()
  }

  retry(key: number): void {
    this.#change(key, { failure: null, progress: 0 })
    this.#startNext()
  }

  /** Removes the sent files; files attached meanwhile belong to the next message. */
  removeSent(ids: readonly string[]): void {
    for (const { key, attachment } of this.#now.value) {
      if (attachment !== null && ids.includes(attachment.id)) this.remove(key)
    }
  }

  stop(): void {
    for (const end of this.#running.values()) end.abort()
  }

  #startNext(): void {
    for (const { key, attachment, failure } of this.#now.value) {
      if (this.#running.size >= AT_ONCE) return
      const isWaiting = attachment === null && failure === null && !this.#running.has(key)
      if (isWaiting) void this.#upload(key)
    }
  }

  async #upload(key: number): Promise<void> {
    const file = this.#contents.get(key)
    if (file === undefined) return
    const end = new AbortController()
    this.#running.set(key, end)
    const call = { query: { filename: file.name } }
    const answer = await this.#api.upload('uploadAttachment', call, file, {
      signal: end.signal,
      onProgress: (share) => this.#change(key, { progress: share }),
    })
    if (end.signal.aborted) return
    this.#running.delete(key)
    this.#change(key, answer.ok ? { attachment: answer.value } : { failure: answer.failure })
    this.#startNext()
  }

  #change(key: number, changes: Partial<Upload>): void {
    this.#now.value = this.#now.value.map((upload) =>
      upload.key === key ? { ...upload, ...changes } : upload,
    )
  }
}
