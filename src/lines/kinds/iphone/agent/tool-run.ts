// A program of somebody else that runs for as long as we need it. What it has said lately is kept, and it
// is ended by its process id and by nothing else: others may run programs of the same name.

import { withTimeout, type Clock } from '../../../../system/clock.ts'
import type { ReadProcess, StartReadProcess } from '../../../../system/process.ts'
import { LastLines, type OutputName } from './last-lines.ts'

export type ToolOrder = {
  /** The absolute path of the executable; no PATH is searched, and no shell is between. */
  readonly path: string
  readonly args: readonly string[]
  /** What it knows beside what every child of ours knows, which is nothing of our options. */
  readonly environment: Readonly<Record<string, string>>
}

export type ToolEnd = {
  /** Null where a signal ended it. */
  readonly exitCode: number | null
  readonly ranMs: number
  /** What it said last, oldest first. */
  readonly lines: readonly string[]
}

const FORCE_AFTER_MS = 5_000
/** A process that the kernel cannot end, because a device does not answer, is left behind. */
const GIVE_UP_MS = 5_000
const OUTPUT_WAIT_MS = 1_000

export class ToolRun {
  /** Never rejects. */
  readonly ended: Promise<ToolEnd>
  readonly #clock: Clock
  readonly #child: ReadProcess
  readonly #said = new LastLines()
  #hasEnded = false
  #stopping: Promise<void> | null = null

  /** Throws where the program cannot be started. */
  constructor(
    tools: { readonly clock: Clock; readonly start: StartReadProcess },
    order: ToolOrder,
  ) {
    this.#clock = tools.clock
    const onOutput = (chunk: Uint8Array, from: OutputName) => this.#said.take(chunk, from)
    this.#child = tools.start({ ...order, onOutput })
    this.ended = this.#end(tools.clock.monotonic())
  }

  /** What it has said lately, oldest first. */
  lines(): readonly string[] {
    return this.#said.all()
  }

  /** Ends it, by force after five seconds; resolves when it has ended. */
  stop(): Promise<void> {
    this.#stopping ??= this.#kill()
    return this.#stopping
  }

  async #kill(): Promise<void> {
    const { ended } = this.#child
    // Once it has ended, its id may be that of somebody else.
    if (this.#hasEnded) return
    this.#child.kill('SIGTERM')
    if ((await withTimeout(this.#clock, FORCE_AFTER_MS, ended, 'late')) !== 'late') return
    this.#child.kill('SIGKILL')
    await withTimeout(this.#clock, GIVE_UP_MS, ended, null)
  }

  async #end(startedAt: number): Promise<ToolEnd> {
    const exitCode = await this.#child.ended
    this.#hasEnded = true
    const ranMs = this.#clock.monotonic() - startedAt
    await withTimeout(this.#clock, OUTPUT_WAIT_MS, this.#child.outputEnded, null)
    this.#child.closeOutput()
    return { exitCode, ranMs, lines: this.#said.all() }
  }
}

/** Resolves when `tool` has ended, which an abort brings about; null then. */
export async function untilEnd(tool: ToolRun, signal: AbortSignal): Promise<ToolEnd | null> {
  const aborted = Promise.withResolvers<null>()
  const abort = () => aborted.resolve(null)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  const end = await Promise.race([tool.ended, aborted.promise])
  signal.removeEventListener('abort', abort)
  if (end === null) await tool.stop()
  return end
}
