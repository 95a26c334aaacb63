import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { LineDriver } from './driver.ts'
import { LineRunner, type LineRunnerTools } from './line-runner.ts'
import type { LineSnapshot } from './line-state.ts'

export type RegistryTools = Omit<LineRunnerTools, 'onChange'> & {
  readonly drivers: readonly LineDriver[]
}

export class LineRegistry {
  readonly #tools: RegistryTools
  readonly #runners = new Map<string, LineRunner>()
  readonly #running = new Map<LineRunner, Promise<void>>()
  readonly #listeners: ((id: LineId) => void)[] = []
  #signal: AbortSignal | null = null
  #lines: readonly LineSnapshot[] | null = null

  constructor(tools: RegistryTools) {
    this.#tools = tools
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

  /** Lists a line, in the place of the one with its id, and lets it run where the relay runs. */
  add(line: Line): LineRunner {
    const driver = this.#tools.drivers.find(({ kind }) => kind === line.driver) ?? null
    const onChange = (isState: boolean) => this.#changed(line.id, isState)
    const runner = new LineRunner(line, driver, { ...this.#tools, onChange })
    this.#runners.set(line.id, runner)
    this.#start(runner)
    this.#changed(line.id, true)
    return runner
  }

  /** Resolves when the line does not run any more. */
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

  /** Resolves when no line runs any more. */
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
