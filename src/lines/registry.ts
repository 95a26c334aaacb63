import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { LineRunner } from './line-runner.ts'
import type { LineSnapshot } from './line-state.ts'

type CreateRunner = (line: Line, onChange: (isState: boolean) => void) => LineRunner

export class LineRegistry {
  readonly #createRunner: CreateRunner
  readonly #runners = new Map<string, LineRunner>()
  readonly #running = new Map<LineRunner, Promise<void>>()
  readonly #listeners: ((id: LineId) => void)[] = []
  #signal: AbortSignal | null = null
  #lines: readonly LineSnapshot[] | null = null

  constructor(createRunner: CreateRunner) {
    this.#createRunner = createRunner
  }

  /** The same array until something changes: dispatch reads it thousands of times per second. */
  lines(): readonly LineSnapshot[] {
    this.#lines ??= this.runners().map((runner) => runner.snapshot())
    return this.#lines
  }

  runners(): readonly LineRunner[] {
    return [...this.#runners.values()]
  }

  ofDriver(kind: string): readonly LineRunner[] {
    return this.runners().filter((runner) => runner.line.driver === kind)
  }

  get(id: string): LineRunner | null {
    return this.#runners.get(id) ?? null
  }

  onChange(listener: (id: LineId) => void): void {
    this.#listeners.push(listener)
  }

  /** Replaces a line with the same id, and runs it if the relay runs. */
  add(line: Line): LineRunner {
    const runner = this.#createRunner(line, (isState) => this.#changed(line.id, isState))
    this.#runners.set(line.id, runner)
    this.#start(runner)
    this.#changed(line.id, true)
    return runner
  }

  /** Resolves once the line's run has ended. */
  async retire(runner: LineRunner): Promise<void> {
    runner.retire()
    await this.#running.get(runner)
  }

  unlist(runner: LineRunner): void {
    if (this.#runners.get(runner.line.id) === runner) this.#runners.delete(runner.line.id)
    this.#changed(runner.line.id, true)
  }

  start(signal: AbortSignal): void {
    this.#signal = signal
    for (const runner of this.#runners.values()) this.#start(runner)
  }

  /** Resolves once all runs have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  #start(runner: LineRunner): void {
    if (this.#signal === null || this.#signal.aborted) return
    const running = runner.run(this.#signal).finally(() => this.#running.delete(runner))
    this.#running.set(runner, running)
  }

  #changed(id: LineId, isState: boolean): void {
    this.#lines = null
    if (isState) for (const listener of this.#listeners) listener(id)
  }
}
