import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { LineDriver } from './driver.ts'
import { LineRunner, type LineRunnerTools } from './line-runner.ts'
import type { LineSnapshot } from './line-snapshot.ts'

type RegistryTools = Omit<LineRunnerTools, 'onChange'> & { readonly drivers: readonly LineDriver[] }

/** All lines by creation, each with its life. */
export class LineRegistry {
  readonly #tools: RegistryTools
  readonly #lives = new Map<string, LineRunner>()
  readonly #running = new Map<LineRunner, Promise<void>>()
  readonly #listeners: ((id: LineId) => void)[] = []
  #signal: AbortSignal | null = null
  #lines: readonly LineSnapshot[] | null = null

  constructor(tools: RegistryTools) {
    this.#tools = tools
  }

  /** The same array until something changes: dispatch reads it thousands of times per second. */
  lines(): readonly LineSnapshot[] {
    this.#lines ??= this.lives().map((life) => life.snapshot())
    return this.#lines
  }

  lives(): readonly LineRunner[] {
    return [...this.#lives.values()]
  }

  ofDriver(kind: string): readonly LineRunner[] {
    return this.lives().filter((life) => life.line.driver === kind)
  }

  get(id: string): LineRunner | null {
    return this.#lives.get(id) ?? null
  }

  onChange(listener: (id: LineId) => void): void {
    this.#listeners.push(listener)
  }

  /** Lists a line, in the place of the one with its id, and lets it run where the relay runs. */
  add(line: Line): LineRunner {
    const driver = this.#tools.drivers.find(({ kind }) => kind === line.driver) ?? null
    const onChange = (isState: boolean) => this.#touch(line.id, isState)
    const life = new LineRunner(line, driver, { ...this.#tools, onChange })
    this.#lives.set(line.id, life)
    this.#start(life)
    this.#touch(line.id, true)
    return life
  }

  /** Resolves when the line does not run any more. */
  async retire(life: LineRunner): Promise<void> {
    life.retire()
    await this.#running.get(life)
  }

  unlist(life: LineRunner): void {
    if (this.#lives.get(life.line.id) === life) this.#lives.delete(life.line.id)
    this.#touch(life.line.id, true)
  }

  start(signal: AbortSignal): void {
    this.#signal = signal
    for (const life of this.#lives.values()) this.#start(life)
  }

  /** Resolves when no line runs any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  #start(life: LineRunner): void {
    if (this.#signal === null || this.#signal.aborted) return
    const running = life.run(this.#signal).finally(() => this.#running.delete(life))
    this.#running.set(life, running)
  }

  #touch(id: LineId, isState: boolean): void {
    this.#lines = null
    if (isState) for (const listener of this.#listeners) listener(id)
  }
}
