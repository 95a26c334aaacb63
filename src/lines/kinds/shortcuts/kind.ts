import type { Finding } from '../../../domain/finding.ts'
import type { DriverLine, Found, LineDriver, LineListener } from '../../driver.ts'
import type { DeviceCalls, LineKind } from '../../line-kind.ts'
import { IncomingFiles } from './incoming-files.ts'
import {
  SHORTCUTS_CAPABILITIES,
  SILENT,
  ShortcutsLineRun,
  type ShortcutsLineTools,
} from './line-run.ts'

/** iPhones without a cable, whose shortcuts call the relay. */
export const SHORTCUTS_KIND: LineKind = {
  name: 'shortcuts',
  title: 'iPhone via Shortcuts',
  isReal: true,
  sharesNumber: false,
  abilities: SHORTCUTS_CAPABILITIES,
  options: {},
  reasons: {
    absent: {
      code: 'device_absent',
      title: 'The device is not connected',
      hint: 'The bridge of this line was removed: add one with its number, or delete the line.',
    },
    silent: { ...SILENT, title: 'No shortcut has checked for messages recently' },
  },
  failures: { refused_by_phone: 'The shortcut on the iPhone could not send the message.' },
  deletable: 'Shortcuts lines whose bridge was removed',
  checklist: [
    { title: "This line's bridge exists", codes: ['device_absent', 'driver_failed'] },
    { title: 'A shortcut checks for messages', codes: [SILENT.code] },
  ],
  create: (_options, { relayClock: clock, log, callers, pathOf }) => {
    const files = new IncomingFiles(pathOf('shortcuts-incoming'))
    const driver = new ShortcutsDriver({ clock, log, files, bridges: callers })
    return { driver, calls: driver }
  },
}

type Tools = ShortcutsLineTools & {
  /** The bridges that are not removed, by their ids. */
  readonly bridges: () => readonly { readonly key: string; readonly number: string }[]
}

/** iPhones without a cable: their shortcuts call by HTTP, each for its bridge. */
export class ShortcutsDriver implements LineDriver, DeviceCalls {
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

  receive: DeviceCalls['receive'] = async (key, message) =>
    this.#runs.get(key)?.receive(message) ?? 'not_ready'

  next: DeviceCalls['next'] = async (key, asker) => this.#runs.get(key)?.next(asker) ?? 'not_ready'

  done: DeviceCalls['done'] = async (key, report) =>
    this.#runs.get(key)?.done(report) ?? 'not_ready'
}
