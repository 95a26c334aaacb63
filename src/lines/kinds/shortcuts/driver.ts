import type { Finding } from '../../../domain/finding.ts'
import type { DriverLine, Found, LineDriver, LineListener } from '../../driver.ts'
import {
  AttendedShortcutsLine,
  NOT_READY,
  type NotReady,
  type PhoneMessage,
  type PhoneReport,
  type ShortcutsLineTools,
} from './attended-line.ts'
import type { Asker, HandedOver } from './hand-over.ts'

type Tools = ShortcutsLineTools & {
  /** The bridges that are not removed, by their ids. */
  readonly bridges: () => readonly { readonly key: string; readonly number: string }[]
}

/** iPhones without a cable: what their shortcuts ask and tell comes by HTTP, each for its bridge. */
export class ShortcutsDriver implements LineDriver {
  readonly kind = 'shortcuts'
  readonly #tools: Tools
  readonly #attended = new Map<string, AttendedShortcutsLine>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  async discover(): Promise<readonly Found[]> {
    return this.#tools.bridges()
  }

  async checkup(): Promise<readonly Finding[]> {
    return [...this.#attended.values()].flatMap((line) => line.finding() ?? [])
  }

  async run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void> {
    const attended = new AttendedShortcutsLine(this.#tools, line, listener)
    this.#attended.set(line.key, attended)
    try {
      await attended.run(signal)
    } finally {
      if (this.#attended.get(line.key) === attended) this.#attended.delete(line.key)
    }
  }

  /** A message that came to the iPhone of the bridge `key`. */
  async receive(key: string, message: PhoneMessage): Promise<'stored' | 'name' | NotReady> {
    return this.#attended.get(key)?.receive(message) ?? NOT_READY
  }

  /** What the iPhone is to send next. */
  async next(key: string, asker: Asker): Promise<HandedOver | NotReady> {
    return this.#attended.get(key)?.next(asker) ?? NOT_READY
  }

  /** What became of a message that it was given. */
  async done(key: string, report: PhoneReport): Promise<'noted' | 'unknown' | NotReady> {
    return this.#attended.get(key)?.done(report) ?? NOT_READY
  }
}
