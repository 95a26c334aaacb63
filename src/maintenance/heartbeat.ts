// Calls a monitor elsewhere while the relay works: a machine that is dead or cut off can't report itself.

import type { Finding } from '../domain/finding.ts'
import { grouped } from '../domain/number-words.ts'
import { isLasting } from '../storage/alerts.ts'
import type { Core } from '../storage/core.ts'
import type { Service } from '../system/service.ts'
import { VERSION } from '../system/version.ts'

export type BeatResult =
  | { readonly result: 'answered'; readonly statusCode: number }
  /** `error` is one word, such as `timeout` or `forbidden_target`. */
  | { readonly result: 'failed'; readonly error: string }
  /** The machine has no network, or `signal` aborted. */
  | { readonly result: 'unreachable' | 'aborted' }

/** Calls a URL by GET, once. Never rejects, and ends within ten seconds; `signal` ends it early. */
export type Beat = (
  request: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
) => Promise<BeatResult>

const FIRST_AFTER_MS = 30_000
const EVERY_MS = 300_000
/** The longest delay until a new URL is called, or the old one once the relay is well again. */
const RECHECK_MS = 10_000
/** Single calls are easily lost, and a monitor forgives that. */
const FAILURES_MIN = 3

/** Calls the setting `heartbeat_url` every five minutes for as long as the relay is well. */
export class Heartbeat implements Service {
  readonly name = 'heartbeat'
  readonly #core: Core
  readonly #isWell: () => boolean
  readonly #beat: Beat
  #called: { readonly url: string; readonly at: number } | null = null
  #failing: { readonly url: string; readonly inRow: number; readonly why: string } | null = null

  /** Asks `isWell` before each call, and makes no call while the relay doesn't work. */
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
      if (url !== null && this.#isDue(url) && this.#mayCall()) await this.#call(url, signal)
      await clock.sleep(RECHECK_MS, signal)
    }
  }

  /** Reports once three calls in a row to the current URL have failed. */
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

  /** False while the relay doesn't work, or while an alert lasts for which the owner wants it to stop. */
  #mayCall(): boolean {
    const { db, settings } = this.#core
    return this.#isWell() && !isLasting(db, settings.get('heartbeat_stops_for') ?? [])
  }

  #isDue(url: string): boolean {
    const called = this.#called
    if (called === null || called.url !== url) return true
    return this.#core.clock.monotonic() - called.at >= EVERY_MS
  }

  async #call(url: string, signal: AbortSignal): Promise<void> {
    this.#called = { url, at: this.#core.clock.monotonic() }
    const headers = { 'user-agent': `Hookline/${VERSION}` }
    const result = await this.#beat({ url, headers }, signal)
    // A stop of the relay isn't a failure of the monitor.
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

/** Returns null if the monitor took the call. A redirect is a failure. */
function failureOf(result: BeatResult): string | null {
  if (result.result === 'failed') return result.error
  if (result.result !== 'answered') return result.result
  const { statusCode } = result
  return statusCode >= 200 && statusCode < 300 ? null : `returned ${statusCode}`
}

/** Leaves out path and query, which may contain a key. */
function hostOf(url: string): string {
  return new URL(url).host
}
