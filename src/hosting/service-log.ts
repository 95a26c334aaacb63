// The log of the service, where the system keeps it: the journal on Linux, a file on macOS.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

import type { RunProcess } from '../system/process.ts'
import { useTool } from './system-tool.ts'
import { UNIT } from './systemd-unit.ts'

export type ServiceLog = {
  /** The newest lines, `count` at most. */
  newest(count: number, signal: AbortSignal): Promise<readonly string[]>
  /** The lines that came since the last call of either. */
  more(signal: AbortSignal): Promise<readonly string[]>
}

const JOURNALCTL = '/usr/bin/journalctl'
/** Log lines have 4,096 characters at most: this holds a thousand of them, and what comes after. */
const BYTES_MAX = 8 * 1_024 * 1_024
const MORE_LINES_MAX = 500

/** The journal of the unit, as journalctl(1) tells it, with the place up to which it was read. */
export class JournalLog implements ServiceLog {
  readonly #run: RunProcess
  #cursor: string | null = null

  constructor(run: RunProcess) {
    this.#run = run
  }

  newest(count: number, signal: AbortSignal): Promise<readonly string[]> {
    return this.#read([`--lines=${count}`], signal)
  }

  more(signal: AbortSignal): Promise<readonly string[]> {
    const after = this.#cursor === null ? [] : [`--after-cursor=${this.#cursor}`]
    return this.#read([`--lines=${MORE_LINES_MAX}`, ...after], signal)
  }

  async #read(which: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const how = ['--output=cat', '--quiet', '--no-pager', '--show-cursor']
    const args = ['--user', `--unit=${UNIT}`, ...how, ...which]
    const order = { path: JOURNALCTL, args, outputBytesMax: BYTES_MAX, purpose: 'read the journal' }
    const lines = linesOf(await useTool(this.#run, order, signal))
    const cursor = /^-- cursor: (.+)$/.exec(lines.at(-1) ?? '')?.[1]
    if (cursor === undefined) return lines
    this.#cursor = cursor
    return lines.slice(0, -1)
  }
}

/** The file that launchd has the relay write to, with the place up to which it was read. */
export class FileLog implements ServiceLog {
  readonly #path: string
  #position = 0
  #begun = ''

  constructor(path: string) {
    this.#path = path
  }

  async newest(count: number): Promise<readonly string[]> {
    const size = this.#size()
    this.#position = Math.max(0, size - BYTES_MAX)
    const isWhole = this.#position === 0
    const lines = this.#takeLines()
    // The first line may be the end of a longer one.
    return (isWhole ? lines : lines.slice(1)).slice(-count)
  }

  async more(): Promise<readonly string[]> {
    if (this.#size() < this.#position) {
      // It was emptied when it had grown too large.
      this.#position = 0
      this.#begun = ''
    }
    return this.#takeLines()
  }

  /** What stands behind the position; a line that has not come to its end waits for the next call. */
  #takeLines(): readonly string[] {
    const bytes = readFrom(this.#path, this.#position)
    this.#position += bytes.length
    const lines = (this.#begun + bytes.toString()).split('\n')
    this.#begun = lines.pop() ?? ''
    return lines
  }

  #size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }
}

/** At most BYTES_MAX bytes from `position` on; none where there is no file. */
function readFrom(path: string, position: number): Buffer {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const bytes = Buffer.alloc(Math.min(Math.max(size - position, 0), BYTES_MAX))
  if (bytes.length === 0) return bytes
  const descriptor = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, position))
  } finally {
    closeSync(descriptor)
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}
