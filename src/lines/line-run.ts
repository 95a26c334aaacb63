import type { DriverLine, LineDriver, LineEvent, LineListener } from './driver.ts'

/** How many events of one line may be on their way to the disk. */
const EVENTS_MAX = 1_000

type Core = {
  /** Makes an event durable; called in the order of the events. */
  readonly take: (event: LineEvent) => Promise<void>
  /** Called at once, and once, when the run fails. */
  readonly onFailure: (error: Error) => void
}

/**
 * One run of a line by its driver. It ends when it is ended, when the driver returns or throws, and when
 * an event could not be made durable: a later one, with its checkpoint, must not be taken then.
 */
export class LineRun implements LineListener {
  readonly #controller = new AbortController()
  readonly #pending = new Set<Promise<void>>()
  readonly #core: Core
  #hasFailed = false

  constructor(core: Core) {
    this.#core = core
  }

  get isOver(): boolean {
    return this.#controller.signal.aborted
  }

  /** Runs the line; resolves when the driver has returned and its last event is settled. */
  async run(driver: LineDriver, line: DriverLine): Promise<void> {
    try {
      await driver.run(line, this, this.#controller.signal)
      if (!this.isOver) this.#fail(new Error('The driver left the line by itself.'))
    } catch (error) {
      if (!this.isOver) this.#fail(error)
    }
    await Promise.allSettled(this.#pending)
  }

  end(): void {
    this.#controller.abort()
  }

  async onEvent(event: LineEvent): Promise<void> {
    if (this.isOver) throw new Error('This run of the line is over.')
    if (this.#pending.size >= EVENTS_MAX) {
      throw this.#fail(new Error(`More than ${EVENTS_MAX} events were not waited for.`))
    }
    const taken = this.#core.take(event)
    this.#pending.add(taken)
    try {
      await taken
    } catch (error) {
      throw this.#fail(error)
    } finally {
      this.#pending.delete(taken)
    }
  }

  #fail(cause: unknown): Error {
    const error = cause instanceof Error ? cause : new Error(String(cause))
    if (this.#hasFailed) return error
    this.#hasFailed = true
    this.end()
    this.#core.onFailure(error)
    return error
  }
}
