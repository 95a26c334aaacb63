// A third-party program that runs as long as it is needed. It is ended only by its process id, because other users
// may run programs of the same name.

import { withTimeout, type Clock } from '../../../../system/clock.ts'
import type { ReadProcess } from '../../../../system/process.ts'
import type { KindHost } from '../../../line-kind.ts'

export type KeptEnd = {
  /** The exit code; null if a signal ended the process. */
  readonly exitCode: number | null
  readonly lines: readonly string[]
}

/** Characters kept of each output: its last lines say why a program failed. */
const KEPT_LENGTH = 16_384
const FORCE_AFTER_MS = 5_000
/** After this long, a process that the kernel can't end, because a device doesn't answer, is left behind. */
const GIVE_UP_MS = 5_000
/** A grandchild that outlives the process holds its outputs open. */
const OUTPUT_WAIT_MS = 1_000

export class KeptProcess {
  /** Never rejects. */
  readonly ended: Promise<KeptEnd>
  readonly startedAt: number
  readonly #clock: Clock
  readonly #child: ReadProcess
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  readonly #output = { stdout: '', stderr: '' }
  #isIgnored = false
  #hasEnded = false
  #stopping: Promise<void> | null = null

  /** Throws if the program cannot be started. `command` begins with its absolute path. */
  constructor(
    { clock, startRead }: KindHost,
    [path = '', ...args]: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#clock = clock
    this.startedAt = clock.monotonic()
    const onOutput = (chunk: Uint8Array, from: 'stdout' | 'stderr') => this.#keep(chunk, from)
    this.#child = startRead({ path, args, environment, onOutput })
    this.ended = this.#awaitEnd()
  }

  /** The last lines of both outputs, oldest first; a line without text is left out. */
  get lines(): readonly string[] {
    const { stdout, stderr } = this.#output
    return `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '')
  }

  /** Drops the output so far, and keeps no output from now on. */
  ignoreOutput(): void {
    this.#isIgnored = true
    this.#output.stdout = this.#output.stderr = ''
  }

  /** Ends the process, by force after five seconds; resolves when it has ended or is left behind. */
  stop(): Promise<void> {
    this.#stopping ??= this.#kill()
    return this.#stopping
  }

  #keep(chunk: Uint8Array, from: 'stdout' | 'stderr'): void {
    if (this.#isIgnored) return
    const text = this.#decoders[from].decode(chunk, { stream: true })
    this.#output[from] = (this.#output[from] + text).slice(-KEPT_LENGTH)
  }

  async #kill(): Promise<void> {
    const { ended } = this.#child
    // The id of an ended process may belong to another one.
    if (this.#hasEnded) return
    this.#child.kill('SIGTERM')
    if ((await withTimeout(this.#clock, FORCE_AFTER_MS, ended, 'late')) !== 'late') return
    this.#child.kill('SIGKILL')
    await withTimeout(this.#clock, GIVE_UP_MS, ended, null)
  }

  async #awaitEnd(): Promise<KeptEnd> {
    const exitCode = await this.#child.ended
    this.#hasEnded = true
    await withTimeout(this.#clock, OUTPUT_WAIT_MS, this.#child.outputEnded, null)
    this.#child.closeOutput()
    return { exitCode, lines: this.lines }
  }
}
