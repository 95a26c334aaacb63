// The log of the service: the journal on Linux, a file on macOS, which is rotated here.

import { closeSync, openSync, readSync, statSync, copyFileSync, truncateSync } from 'node:fs'

import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { RunProcess } from '../system/process.ts'
import type { Service } from '../system/service.ts'
import { stampOf } from './installation.ts'
import { useTool } from './system-tool.ts'

export type ServiceLog = {
  /** The newest lines, at most `count`. */
  newest(count: number, signal: AbortSignal): Promise<readonly string[]>
  /** The lines since the last call of either method. */
  more(signal: AbortSignal): Promise<readonly string[]>
}

/** Enough for more than a thousand log lines of 4,096 characters. */
const BYTES_MAX = 8 * 1_024 * 1_024
/** launchd lets its log files grow without limit. */
export const LOG_BYTES_MAX = 50 * 1_024 * 1_024
const ROTATION_MS = 3_600_000

export class JournalLog implements ServiceLog {
  readonly #run: RunProcess
  readonly #unit: string
  #cursor: string | null = null

  constructor(run: RunProcess, unit: string) {
    this.#run = run
    this.#unit = unit
  }

  newest(count: number, signal: AbortSignal): Promise<readonly string[]> {
    return this.#read([`--lines=${count}`], signal)
  }

  more(signal: AbortSignal): Promise<readonly string[]> {
    const after = this.#cursor === null ? [] : [`--after-cursor=${this.#cursor}`]
    return this.#read(['--lines=500', ...after], signal)
  }

  async #read(which: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const how = ['--output=cat', '--quiet', '--no-pager', '--show-cursor']
    const args = ['--user', `--unit=${this.#unit}`, ...how, ...which]
    const order = { path: '/usr/bin/journalctl', args, outputBytesMax: BYTES_MAX }
    const text = await useTool(this.#run, { ...order, purpose: 'read the journal' }, signal)
    const lines = text.split('\n').filter((line) => line !== '')
    const cursor = /^-- cursor: (.+)$/.exec(lines.at(-1) ?? '')?.[1]
    if (cursor === undefined) return lines
    this.#cursor = cursor
    return lines.slice(0, -1)
  }
}

/** The file that the relay writes under launchd. */
export class FileLog implements ServiceLog {
  readonly #path: string
  #position = 0
  #partialLine = ''

  constructor(path: string) {
    this.#path = path
  }

  async newest(count: number): Promise<readonly string[]> {
    const size = this.#size()
    this.#position = Math.max(0, size - BYTES_MAX)
    const isWhole = this.#position === 0
    const lines = this.#takeLines()
    // The first line may be cut.
    return (isWhole ? lines : lines.slice(1)).slice(-count)
  }

  async more(): Promise<readonly string[]> {
    if (this.#size() < this.#position) {
      // The rotation has emptied the file.
      this.#position = 0
      this.#partialLine = ''
    }
    return this.#takeLines()
  }

  /** Reads the whole lines after the position; an unfinished line waits for the next call. */
  #takeLines(): readonly string[] {
    const bytes = readFrom(this.#path, this.#position)
    this.#position += bytes.length
    const lines = (this.#partialLine + bytes.toString()).split('\n')
    this.#partialLine = lines.pop() ?? ''
    return lines
  }

  #size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }
}

/** At most BYTES_MAX bytes from `position` on; empty if there is no file. */
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

/**
 * Moves a log above 50 MB to `relay.log.1`, at the start and every hour. Copies and then empties it, because the
 * relay keeps the file open and a renamed file would go on growing. Nothing is lost in between, because only this
 * process writes and the rotation doesn't wait.
 */
export function logRotation(
  path: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Service {
  return {
    name: 'log-rotation',
    async run(signal) {
      while (!signal.aborted) {
        rotate(path, log)
        await clock.sleep(ROTATION_MS, signal)
      }
    },
  }
}

function rotate(path: string, log: Log): void {
  if ((stampOf(path)?.sizeBytes ?? 0) <= LOG_BYTES_MAX) return
  try {
    copyFileSync(path, `${path}.1`)
  } catch (error) {
    // On a full disk, the old lines are given up.
    log.warn('the old log could not be copied before it was emptied', { error })
  }
  truncateSync(path)
}
