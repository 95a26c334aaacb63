// What a preloaded recorder (shim.c) wrote down of a relay's files: each change and each flush, in order,
// over several lives of the process.

import { readFileSync, statSync } from 'node:fs'

import type { ScratchFolder } from '../../support/scratch-folder.ts'

/** A moment in the recording: how many bytes the log of which life had. */
export type Moment = { readonly life: number; readonly bytes: number }

export type Change =
  | {
      readonly kind: 'opened' | 'created'
      readonly life: number
      readonly file: number
      readonly path: string
    }
  | {
      readonly kind: 'written'
      readonly life: number
      readonly file: number
      readonly at: number
      readonly data: Uint8Array
    }
  | {
      readonly kind: 'truncated'
      readonly life: number
      readonly file: number
      readonly size: number
    }
  | { readonly kind: 'flushed'; readonly life: number; readonly file: number }
  | { readonly kind: 'unlinked'; readonly path: string }

const HEAD_BYTES = 17

/** The recorder as a library, compiled at the first call; null if this is no Linux with a C compiler. */
export function compileShim(folder: ScratchFolder): string | null {
  const compiler = Bun.which('cc')
  if (process.platform !== 'linux' || compiler === null) return null
  const library = folder.file('shim.so')
  const source = `${import.meta.dir}/shim.c`
  const command = [compiler, '-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`The recorder does not compile:\n${stderr.toString()}`)
  return library
}

/** Where the recorder writes; each life of the relay has a log of its own. */
export class Recorder {
  readonly #folder: ScratchFolder
  readonly #library: string
  #life = -1

  constructor(folder: ScratchFolder, library: string) {
    this.#folder = folder
    this.#library = library
  }

  /** The environment of the next life, which records the folder `recorded`. */
  nextLife(recorded: string): Readonly<Record<string, string>> {
    this.#life += 1
    return {
      LD_PRELOAD: this.#library,
      RECORD_FOLDER: recorded,
      RECORD_LOG: this.#logOf(this.#life),
    }
  }

  get now(): Moment {
    const status = statSync(this.#logOf(this.#life), { throwIfNoEntry: false })
    return { life: this.#life, bytes: status?.size ?? 0 }
  }

  read(): Recording {
    const logs = Array.from({ length: this.#life + 1 }, (_, life) =>
      readFileSync(this.#logOf(life)),
    )
    return new Recording(logs)
  }

  #logOf(life: number): string {
    return this.#folder.file(`life-${life}.log`)
  }
}

export class Recording {
  readonly changes: Change[] = []
  /** For each life how many changes were before it, and where in its log each of its changes ends. */
  readonly #lives: { readonly before: number; readonly ends: number[] }[] = []

  constructor(logs: readonly Buffer[]) {
    for (const [life, log] of logs.entries()) this.#read(life, log)
  }

  /** How many changes were recorded at `moment`. */
  indexOf({ life, bytes }: Moment): number {
    const lived = this.#lives[life]
    if (lived === undefined) throw new Error(`There was no life ${life}.`)
    let [low, high] = [0, lived.ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((lived.ends[middle] ?? 0) <= bytes) low = middle + 1
      else high = middle
    }
    return lived.before + low
  }

  #read(life: number, log: Buffer): void {
    const lived = { before: this.changes.length, ends: [] as number[] }
    this.#lives.push(lived)
    let at = 0
    while (at + HEAD_BYTES <= log.length) {
      const end = at + HEAD_BYTES + log.readUInt32LE(at + 13)
      // A process that was killed may have left half a record.
      if (end > log.length) return
      this.changes.push(changeOf(life, log, at, end))
      lived.ends.push(end)
      at = end
    }
  }
}

function changeOf(life: number, log: Buffer, at: number, end: number): Change {
  const kind = log.readInt8(at)
  const file = log.readInt32LE(at + 1)
  const offset = Number(log.readBigInt64LE(at + 5))
  const data = log.subarray(at + HEAD_BYTES, end)
  switch (kind) {
    case 1:
      return { kind: 'opened', life, file, path: data.toString() }
    case 2:
      return { kind: 'created', life, file, path: data.toString() }
    case 3:
      return { kind: 'written', life, file, at: offset, data }
    case 4:
      return { kind: 'truncated', life, file, size: offset }
    case 5:
      return { kind: 'flushed', life, file }
    case 6:
      return { kind: 'unlinked', path: data.toString() }
    default:
      throw new Error(`The recorder knows no record of kind ${kind}.`)
  }
}
