import type { Finding } from '../domain/finding.ts'
import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { deadline, type Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Found, LineDriver } from './driver.ts'

/** Consequences of a driver's answer for its known lines. */
export type Discovery = {
  readonly present: readonly { readonly id: LineId; readonly number: string | null }[]
  readonly absent: readonly LineId[]
  /** Vanished lines whose number came back on another device. */
  readonly takeOvers: readonly {
    readonly id: LineId
    readonly key: string
    readonly number: string
  }[]
  /** Devices that become new lines. One whose number is not known yet is not among them. */
  readonly arrivals: readonly { readonly key: string; readonly number: string }[]
}

/** `known` are all lines of one driver, `found` the devices attached now. */
export function discoveryOf(known: readonly Line[], found: readonly Found[]): Discovery {
  const devices = new Map(found.map((device) => [device.key, device]))
  const present: { id: LineId; number: string | null }[] = []
  const vanished = new Map<LineId, Line>()
  for (const line of known) {
    const device = devices.get(line.key)
    if (device === undefined) vanished.set(line.id, line)
    else present.push({ id: line.id, number: device.number })
    devices.delete(line.key)
  }

  const takeOvers: { id: LineId; key: string; number: string }[] = []
  const arrivals: { key: string; number: string }[] = []
  for (const { key, number } of devices.values()) {
    if (number === null) continue
    const [heir, ...others] = [...vanished.values()].filter((line) => line.number === number)
    if (heir === undefined || others.length > 0) {
      arrivals.push({ key, number })
      continue
    }
    vanished.delete(heir.id)
    takeOvers.push({ id: heir.id, key, number })
  }
  return { present, absent: [...vanished.keys()], takeOvers, arrivals }
}

type WatchTools = {
  readonly clock: Clock
  readonly log: Log
  readonly onFound: (found: readonly Found[]) => Promise<void>
  readonly onFailure: (error: Error) => void
}

const INTERVAL_MS = 5_000
const ANSWER_MS_MAX = 10_000

/** Asks one driver for its devices, again and again; one that hangs holds up no other. */
export class DriverWatch {
  readonly driver: LineDriver
  readonly #tools: WatchTools
  /** True while a question is open, be it overdue: a driver has one of each kind at most. */
  #isDiscovering = false
  #isCheckingUp = false
  #failure: Error | null = null

  constructor(driver: LineDriver, tools: WatchTools) {
    this.driver = driver
    this.#tools = tools
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#isDiscovering) await this.#discover(signal)
      await this.#tools.clock.sleep(INTERVAL_MS, signal)
    }
  }

  /** The driver's own findings, and one where it cannot look for devices. */
  async checkup(signal: AbortSignal): Promise<readonly Finding[]> {
    const { kind } = this.driver
    const own = this.#failure === null ? [] : [failureFinding(kind, this.#failure)]
    if (this.#isCheckingUp) return [...own, failureFinding(kind, null)]
    this.#isCheckingUp = true
    try {
      const answer = this.#ask(
        (limit) => this.driver.checkup(limit),
        signal,
        () => {
          this.#isCheckingUp = false
        },
      )
      return [...own, ...(await answer)]
    } catch (error) {
      return own.length > 0 ? own : [failureFinding(kind, errorOf(error))]
    }
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const { log, onFound, onFailure } = this.#tools
    const driver = this.driver.kind
    this.#isDiscovering = true
    try {
      const answer = this.#ask(
        (limit) => this.driver.discover(limit),
        signal,
        () => {
          this.#isDiscovering = false
        },
      )
      const found = await answer
      if (signal.aborted) return
      await onFound(found)
      if (this.#failure !== null) log.info('driver finds its devices again', { driver })
      this.#failure = null
    } catch (error) {
      if (signal.aborted) return
      if (this.#failure === null) log.warn('driver cannot look for devices', { driver, error })
      this.#failure = errorOf(error)
      onFailure(this.#failure)
    }
  }

  /** The answer, or an error after ten seconds; `onEnd` is called when the driver is done with it. */
  async #ask<T>(
    question: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    onEnd: () => void,
  ): Promise<T> {
    const limit = deadline(this.#tools.clock, ANSWER_MS_MAX, signal)
    const overdue = new Promise<never>((_, reject) => {
      const refuse = () => reject(new Error('The driver did not answer in time.'))
      if (limit.signal.aborted) refuse()
      else limit.signal.addEventListener('abort', refuse)
    })
    const answer = Promise.resolve(limit.signal).then(question).finally(onEnd)
    try {
      return await Promise.race([answer, overdue])
    } finally {
      limit.clear()
    }
  }
}

function failureFinding(kind: string, error: Error | null): Finding {
  return {
    code: 'driver_failed',
    severity: 'error',
    title: `The ${kind} driver cannot look for its devices`,
    why: error?.message ?? 'It has not answered for a while.',
    fix: 'It is tried again by itself; where this lasts, restart Hookline and look into its log.',
    key: null,
    depends_on: null,
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
