import type { Finding } from '../../../domain/finding.ts'
import type { DriverLine, Found, LineDriver, LineListener } from '../../driver.ts'
import type { Asker, HandedOver } from './hand-over.ts'
import {
  NOT_READY,
  ShortcutsLineRun,
  type NotReady,
  type PhoneMessage,
  type PhoneReport,
  type ShortcutsLineTools,
} from './line-run.ts'

type Tools = ShortcutsLineTools & {
  /** The bridges that are not removed, by their ids. */
  readonly bridges: () => readonly { readonly key: string; readonly number: string }[]
}

/** iPhones without a cable: their shortcuts call by HTTP, each for its bridge. */
export class ShortcutsDriver implements LineDriver {
  readonly kind = 'shortcuts'
  readonly #tools: Tools
  readonly #runs = new Map<string, ShortcutsLineRun>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  async discover(): Promise<readonly Found[]> {
    return this.#tools.bridges()
  }

  async checkup(): Promise<readonly Finding[]> {
    return [...this.#runs.values()].flatMap((run) => run.finding() ?? [])
  }

  async run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void> {
    const run = new ShortcutsLineRun(this.#tools, line, listener, signal)
    this.#runs.set(line.key, run)
    try {
      await run.run()
    } finally {
      if (this.#runs.get(line.key) === run) this.#runs.delete(line.key)
    }
  }

  /** Takes a message that came to the iPhone of the bridge `key`. */
  async receive(key: string, message: PhoneMessage): Promise<'stored' | 'name' | NotReady> {
    return this.#runs.get(key)?.receive(message) ?? NOT_READY
  }

  /** The next message for the iPhone to send. */
  async next(key: string, asker: Asker): Promise<HandedOver | NotReady> {
    return this.#runs.get(key)?.next(asker) ?? NOT_READY
  }

  /** Takes the outcome of a message that the iPhone was given. */
  async done(key: string, report: PhoneReport): Promise<'noted' | 'unknown' | NotReady> {
    return this.#runs.get(key)?.done(report) ?? NOT_READY
  }
}
