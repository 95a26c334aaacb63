import type { Finding } from '../domain/finding.ts'
import { deadline, whenAborted } from '../system/clock.ts'
import { Signal } from '../system/signal.ts'
import type { Found, LineDriver } from './driver.ts'
import type { KindHost } from './line-kind.ts'

type DeviceListener = {
  /** `found` is null if the driver cannot say. */
  readonly onFound: (found: readonly Found[] | null) => Promise<void>
  readonly onFailure: (error: Error) => void
}

const DISCOVER_EVERY_MS = 5_000
const ANSWER_MS_MAX = 10_000

/** Polls one driver for its devices; a driver that hangs delays no other. */
export class DriverWatch {
  readonly driver: LineDriver
  readonly #core: Pick<KindHost, 'clock' | 'log'>
  readonly #listener: DeviceListener
  /** Calls that have not returned, even if they timed out: a driver gets one of each kind at a time. */
  readonly #open = new Set<'discover' | 'checkup'>()
  #failure: Error | null = null
  readonly #wake: Signal

  constructor(core: Pick<KindHost, 'clock' | 'log'>, driver: LineDriver, listener: DeviceListener) {
    this.#core = core
    this.driver = driver
    this.#wake = driver.devicesChanged ?? new Signal()
    this.#listener = listener
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = this.#open.has('discover') ? null : await this.#discover(signal)
      await this.#report(found, signal)
      const { discoverEveryMs = DISCOVER_EVERY_MS } = this.driver
      // After a failure, the driver is asked again after the default interval.
      const isDone = this.#failure === null && !this.#open.has('discover')
      await this.#wake.wait(this.#core.clock, isDone ? discoverEveryMs : DISCOVER_EVERY_MS, signal)
    }
  }

  /** Asks for devices now, without waiting for the interval. */
  discoverNow(): void {
    this.#wake.notify()
  }

  /** The driver's own findings, plus a finding if it cannot list its devices. */
  async checkup(signal: AbortSignal): Promise<readonly Finding[]> {
    const { kind } = this.driver
    const own = this.#failure === null ? [] : [failureFinding(kind, this.#failure)]
    if (this.#open.has('checkup')) return [...own, failureFinding(kind, null)]
    try {
      const found = await this.#ask('checkup', (limit) => this.driver.checkup(limit), signal)
      return [...own, ...found]
    } catch (error) {
      return own.length > 0 ? own : [failureFinding(kind, errorOf(error))]
    }
  }

  /** Returns null if the driver cannot list its devices. */
  async #discover(signal: AbortSignal): Promise<readonly Found[] | null> {
    try {
      return await this.#ask('discover', (limit) => this.driver.discover(limit), signal)
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
      return null
    }
  }

  async #report(found: readonly Found[] | null, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { log } = this.#core
    const driver = this.driver.kind
    try {
      await this.#listener.onFound(found)
      if (found === null) return
      if (this.#failure !== null) log.info('driver finds its devices again', { driver })
      this.#failure = null
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    const { log } = this.#core
    const driver = this.driver.kind
    if (this.#failure === null) log.warn('driver cannot look for devices', { driver, error })
    this.#failure = errorOf(error)
    this.#listener.onFailure(this.#failure)
  }

  /** Rejects after ten seconds; the call counts as open until the driver returns. */
  async #ask<T>(
    name: 'discover' | 'checkup',
    question: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    this.#open.add(name)
    const limit = deadline(this.#core.clock, ANSWER_MS_MAX, signal)
    const overdue = whenAborted(limit.signal).then(() => {
      throw new Error('The driver did not answer in time.')
    })
    const answer = Promise.resolve(limit.signal)
      .then(question)
      .finally(() => this.#open.delete(name))
    try {
      return await Promise.race([answer, overdue])
    } finally {
      limit.clear()
    }
  }
}

export function failureFinding(kind: string, error: Error | null): Finding {
  return {
    code: 'driver_failed',
    severity: 'error',
    title: `The ${kind} driver cannot look for its devices`,
    why: error?.message ?? 'It has not answered for a while.',
    fix: 'Hookline retries automatically. If this persists, restart it and check its log.',
    key: null,
    depends_on: null,
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
