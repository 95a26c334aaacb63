// A disk that is cut off from its power. It keeps what was flushed; of what was not, it keeps all, nothing,
// or any part, down to single sectors. The entry of a new file is kept from the first flush of the file
// or of its folder on, as ext4, XFS, Btrfs and APFS have it.

import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Change } from './recording.ts'

/** What becomes of the writes that were not flushed. */
export const LOSSES = [
  'nothing kept',
  'all kept',
  'first kept',
  'any kept',
  'torn 512',
  'torn 4096',
] as const
export type Loss = (typeof LOSSES)[number]

type Pending = { readonly at: number; readonly data: Uint8Array } | { readonly size: number }

type File = { content: Bytes; pending: Pending[] }

/** Bytes that grow as they are written. */
class Bytes {
  #bytes: Uint8Array
  #size: number

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = bytes.slice()
    this.#size = bytes.length
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  apply(change: Pending): void {
    if ('size' in change) this.#resize(change.size)
    else {
      this.#resize(Math.max(this.#size, change.at + change.data.length))
      this.#bytes.set(change.data, change.at)
    }
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(size, this.#bytes.length * 2))
      grown.set(this.bytes)
      this.#bytes = grown
    }
    if (size < this.#size) this.#bytes.fill(0, size, this.#size)
    this.#size = size
  }
}

const ROOT = ''

export class CrashDisk {
  /** Files by their paths, as a program sees them, and as the folder on the disk has them. */
  readonly #seen = new Map<string, File>()
  readonly #kept = new Map<string, File>()
  /** Open files by life and descriptor; null for the folder itself. */
  readonly #open = new Map<string, File | null>()
  readonly #ignoresFlush: (path: string) => boolean

  /** `ignoresFlush` names files whose flushes do nothing: the control of a test. */
  constructor(ignoresFlush: (path: string) => boolean = () => false) {
    this.#ignoresFlush = ignoresFlush
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'opened':
      case 'created':
        this.#openFile(change)
        return
      case 'written':
        this.#fileOf(change)?.pending.push({ at: change.at, data: change.data })
        return
      case 'truncated':
        this.#fileOf(change)?.pending.push({ size: change.size })
        return
      case 'flushed':
        this.#flush(this.#fileOf(change))
        return
      case 'unlinked':
        this.#seen.delete(change.path)
    }
  }

  /** What is on the disk after the cut. `isSafe` names files that lose nothing. */
  image(
    loss: Loss,
    random: SeededRandom,
    isSafe: (path: string) => boolean,
  ): ReadonlyMap<string, Uint8Array> {
    const image = new Map<string, Uint8Array>()
    for (const path of new Set([...this.#seen.keys(), ...this.#kept.keys()])) {
      const file = isSafe(path) ? this.#seen.get(path) : this.#entryOf(path, loss, random)
      if (file === undefined) continue
      image.set(path, contentOf(file, isSafe(path) ? 'all kept' : loss, random))
    }
    return image
  }

  #openFile({ life, file, path, kind }: Extract<Change, { kind: 'opened' | 'created' }>): void {
    const key = `${life} ${file}`
    if (path === ROOT) {
      this.#open.set(key, null)
      return
    }
    const known = kind === 'opened' ? this.#seen.get(path) : undefined
    const opened = known ?? { content: new Bytes(), pending: [] }
    this.#seen.set(path, opened)
    this.#open.set(key, opened)
  }

  #fileOf({ life, file }: { readonly life: number; readonly file: number }): File | null {
    return this.#open.get(`${life} ${file}`) ?? null
  }

  /** A flush of the folder keeps its entries; that of a file its content and its entry. */
  #flush(file: File | null): void {
    const own = [...this.#seen].find(([, seen]) => seen === file)?.[0]
    if (own !== undefined && this.#ignoresFlush(own)) return
    if (file === null) {
      this.#kept.clear()
      for (const [path, seen] of this.#seen) this.#kept.set(path, seen)
      return
    }
    for (const change of file.pending) file.content.apply(change)
    file.pending = []
    if (own !== undefined) this.#kept.set(own, file)
  }

  /** The file that the folder on the disk has under this name. */
  #entryOf(path: string, loss: Loss, random: SeededRandom): File | undefined {
    const [seen, kept] = [this.#seen.get(path), this.#kept.get(path)]
    if (seen === kept || loss === 'all kept') return seen
    if (loss === 'nothing kept') return kept
    return random.chance() < 0.5 ? seen : kept
  }
}

function contentOf({ content, pending }: File, loss: Loss, random: SeededRandom): Uint8Array {
  if (pending.length === 0) return content.bytes
  const bytes = new Bytes(content.bytes)
  for (const change of survivorsOf(pending, loss, random)) bytes.apply(change)
  return bytes.bytes
}

function survivorsOf(
  pending: readonly Pending[],
  loss: Loss,
  random: SeededRandom,
): readonly Pending[] {
  const survives = () => random.chance() < 0.5
  switch (loss) {
    case 'nothing kept':
      return []
    case 'all kept':
      return pending
    case 'first kept':
      return pending.slice(0, Math.floor(random.chance() * (pending.length + 1)))
    case 'any kept':
      return pending.filter(survives)
    case 'torn 512':
      return pending.flatMap((change) => sectorsOf(change, 512)).filter(survives)
    case 'torn 4096':
      return pending.flatMap((change) => sectorsOf(change, 4_096)).filter(survives)
  }
}

/** The parts of a write that a disk may keep apart from each other. */
function sectorsOf(change: Pending, size: number): readonly Pending[] {
  if ('size' in change) return [change]
  const parts: Pending[] = []
  let at = change.at
  const end = change.at + change.data.length
  while (at < end) {
    const next = Math.min((Math.floor(at / size) + 1) * size, end)
    parts.push({ at, data: change.data.subarray(at - change.at, next - change.at) })
    at = next
  }
  return parts
}
