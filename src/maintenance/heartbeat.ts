// Calls a monitor elsewhere while the relay works: a box that is dead or cut off cannot report itself.

import type { Finding } from '../domain/finding.ts'
import { grouped } from '../domain/number-words.ts'
import type { Core } from '../storage/core.ts'
import type { Service } from '../system/service.ts'
import { VERSION } from '../system/version.ts'

export type BeatResult =
  | { readonly result: 'answered'; readonly statusCode: number }
  /** `error` is one word, such as `timeout` or `forbidden_target`. */
  | { readonly result: 'failed'; readonly error: string }
  /** The box has no network, or `signal` aborted. */
  | { readonly result: 'unreachable' | 'aborted' }

type BeatRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** Calls a url by GET, once. Never rejects, and ends within ten seconds; `signal` ends it early. */
export type Beat = (request: BeatRequest, signal: AbortSignal) => Promise<BeatResult>

const FIRST_AFTER_MS = 30_000
const EVERY_MS = 300_000
/** Longest time until a new address is called, and an old one once the relay is well again. */
const LOOK_AGAIN_MS = 10_000
/** One call is easily lost, and a monitor forgives it. */
const FAILURES_MIN = 3

const HEADERS = { 'user-agent': `Hookline/${VERSION}` }

type Failing = { readonly url: string; readonly inRow: number; readonly why: string }

/** Calls the setting `heartbeat_url` every five minutes for as long as the relay is well. */
export class Heartbeat implements Service {
  readonly name = 'heartbeat'
  readonly #core: Core
  readonly #isWell: () => boolean
  readonly #beat: Beat
  #called: { readonly url: string; readonly at: number } | null = null
  #failing: Failing | null = null

  /** `isWell` is asked before each call: none goes out while the relay does not work. */
  constructor(
    core: Core,
    { isWell, beat }: { readonly isWell: () => boolean; readonly beat: Beat },
  ) {
    this.#core = core
    this.#isWell = isWell
    this.#beat = beat
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#core
    await clock.sleep(FIRST_AFTER_MS, signal)
    while (!signal.aborted) {
      const url = settings.get('heartbeat_url')
      if (url !== null && this.#isDue(url) && this.#isWell()) await this.#call(url, signal)
      await clock.sleep(LOOK_AGAIN_MS, signal)
    }
  }

  /** A finding once three calls in a row to the present address have failed. */
  findings(): readonly Finding[] {
    const failing = this.#failing
    if (failing === null || failing.inRow < FAILURES_MIN) return []
    if (failing.url !== this.#core.settings.get('heartbeat_url')) return []
    return [
      {
        code: 'heartbeat_failed',
        severity: 'warning',
        title: 'Heartbeat is failing',
        why: `The last ${grouped(failing.inRow)} calls to ${hostOf(failing.url)} failed (${failing.why}).`,
        fix: 'Check the monitor and the heartbeat URL in the settings. If the monitor is on your own network and Hookline runs on a Mac, also allow it in System Settings, Privacy & Security, Local Network.',
        key: null,
        depends_on: null,
      },
    ]
  }

  #isDue(url: string): boolean {
    const called = this.#called
    if (called === null || called.url !== url) return true
    return this.#core.clock.monotonic() - called.at >= EVERY_MS
  }

  async #call(url: string, signal: AbortSignal): Promise<void> {
    this.#called = { url, at: this.#core.clock.monotonic() }
    const result = await this.#beat({ url, headers: HEADERS }, signal)
    // A stop is no failure of the monitor.
    if (signal.aborted) return
    const why = failureOf(result)
    const before = this.#failing?.url === url ? this.#failing.inRow : 0
    this.#failing = why === null ? null : { url, inRow: before + 1, why }
    const { log } = this.#core
    const host = hostOf(url)
    if (why === null && before >= FAILURES_MIN) log.info('heartbeat works again', { host })
    if (why !== null && before + 1 === FAILURES_MIN) {
      log.warn('heartbeat is failing', { host, why })
    }
  }
}

/** Null where the monitor took the call. A redirect is a failure. */
function failureOf(result: BeatResult): string | null {
  if (result.result === 'failed') return result.error
  if (result.result !== 'answered') return result.result
  const { statusCode } = result
  return statusCode >= 200 && statusCode < 300 ? null : `returned ${statusCode}`
}

/** The host alone: path and query may carry a key. */
function hostOf(url: string): string {
  return new URL(url).host
}
