// The tunnel that starting an agent needs from iOS 17 on, one process for all phones. What the agent is
// told later goes over the cable without it.

import { mkdirSync } from 'node:fs'

import { normalUdid } from '../../../../domain/udid.ts'
import { whenAborted, type Clock } from '../../../../system/clock.ts'
import type { Log } from '../../../../system/log.ts'
import type { ProcessEnd } from '../../../../system/process.ts'
import { complaints, TUNNEL_WORDS } from './go-ios-words.ts'
import { CALLED_OFF, endWhy, startTrouble, troubleIn } from './launch-words.ts'
import { codeOf, type LauncherProcesses } from './launcher-processes.ts'
import type { LaunchTrouble } from './launcher.ts'
import { ToolRun, untilEnd } from './tool-run.ts'

export type TunnelTools = {
  readonly clock: Clock
  readonly log: Log
  readonly processes: LauncherProcesses
  readonly goIosPath: string
  /** Where go-ios keeps the identity with which it makes tunnels. */
  readonly folder: string
}

/** The phones that have a tunnel, as go-ios writes their UDIDs; or why nobody says. */
type Listing =
  | { readonly is: 'up'; readonly udids: readonly string[] }
  | { readonly is: 'down' }
  | { readonly is: 'absent'; readonly trouble: LaunchTrouble }

/** go-ios gives a tunnel ten seconds, and makes one after the other. */
const STAND_MS_MAX = 30_000
const LOOK_EVERY_MS = 1_000
const LOOK_LIMITS = { timeoutMs: 10_000, killAfterMs: 15_000 }
/** go-ios waits for the new tunnel for thirty seconds. */
const RENEW_LIMITS = { timeoutMs: 40_000, killAfterMs: 45_000 }
/** How often it is looked whether a tunnel process that somebody else has started is still there. */
const FOREIGN_EVERY_MS = 10_000
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** A tunnel process that ran for so long was a good one. */
const GOOD_MS = 60_000

export class GoIosTunnel {
  readonly #tools: TunnelTools
  readonly #needed = Promise.withResolvers<null>()
  #looking: { readonly at: number; readonly listing: Promise<Listing> } | null = null
  #isLooking = false
  #process: ToolRun | null = null
  /** Why it ended last, since it was good. */
  #trouble: LaunchTrouble | null = null
  /** The phones that have a tunnel, as go-ios writes them. */
  #names: readonly string[] = []
  /** Those whose tunnel is listed and did not carry. */
  readonly #doubted = new Set<string>()

  constructor(tools: TunnelTools) {
    this.#tools = tools
  }

  /** Null once there is a tunnel to this phone, which the first call brings about for all of them. */
  async stand(udid: string, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const { clock } = this.#tools
    const until = clock.monotonic() + STAND_MS_MAX
    while (!signal.aborted) {
      const listing = await Promise.race([this.#look(), whenAborted(signal)])
      if (listing === null) break
      // Not before: a program that is not there need not be started again and again.
      if (listing.is === 'absent') return listing.trouble
      this.#needed.resolve(null)
      const isListed =
        listing.is === 'up' && listing.udids.some((name) => normalUdid(name) === normalUdid(udid))
      if (isListed && !this.#doubted.delete(udid)) return null
      if (isListed) await this.#renew(udid, signal)
      if (clock.monotonic() >= until) return await this.#giveUp(listing)
      await clock.sleep(LOOK_EVERY_MS, signal)
    }
    return CALLED_OFF
  }

  /** The tunnel to this phone did not carry: the next `stand` has it made anew. */
  doubt(udid: string): void {
    this.#doubted.add(udid)
  }

  /** The UDID as go-ios writes it, which knows no other writing. */
  nameOf(udid: string): string {
    return this.#names.find((name) => normalUdid(name) === normalUdid(udid)) ?? udid
  }

  /** Keeps the process alive from the first need until `signal` aborts, and then ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    await Promise.race([this.#needed.promise, whenAborted(signal)])
    let delayMs = DELAY_MS_MIN
    while (!signal.aborted) {
      if (await this.#keep(signal)) delayMs = DELAY_MS_MIN
      await clock.sleep(delayMs, signal)
      delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)
    }
  }

  /** One process, from its start to its end; whether it was a good one. */
  async #keep(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#tools
    while ((await this.#list()).is === 'up') await clock.sleep(FOREIGN_EVERY_MS, signal)
    if (signal.aborted) return true
    const from = clock.monotonic()
    const cancel = clock.after(GOOD_MS, () => this.#settle())
    const trouble = await this.#live(signal)
    cancel()
    if (trouble !== null) this.#note(trouble)
    return clock.monotonic() - from >= GOOD_MS
  }

  /** Why the process has ended; null where we ended it. */
  async #live(signal: AbortSignal): Promise<LaunchTrouble | null> {
    const started = this.#start()
    if (!(started instanceof ToolRun)) return started
    this.#process = started
    const end = await untilEnd(started, signal)
    this.#process = null
    if (end === null) return null
    return troubleOf(end.lines) ?? { code: 'tunnel_failed', why: endWhy(end) }
  }

  #start(): ToolRun | LaunchTrouble {
    const { processes, goIosPath: path, folder } = this.#tools
    const args = ['tunnel', 'start', '--userspace', `--pair-record-path=${folder}`]
    try {
      // What is kept there is a private key. Without the option go-ios keeps it where it was started.
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      return { code: 'tunnel_failed', why: `Its folder cannot be made: ${codeOf(error)}.` }
    }
    return processes.start({ path, args, environment: {} })
  }

  /** Only this phone's: the agents of the others hang on theirs. Whether it stands shows in the list. */
  async #renew(udid: string, signal: AbortSignal): Promise<void> {
    const { processes, goIosPath: path } = this.#tools
    const args = ['tunnel', 'refresh', `--udid=${this.nameOf(udid)}`]
    await processes.run({ path, args, ...RENEW_LIMITS }, signal)
  }

  #note(trouble: LaunchTrouble): void {
    if (this.#trouble === null) {
      this.#tools.log.warn('the tunnel of go-ios ended', { why: trouble.why })
    }
    this.#trouble = trouble
  }

  #settle(): void {
    if (this.#trouble !== null) this.#tools.log.info('the tunnel of go-ios stands again')
    this.#trouble = null
  }

  async #giveUp({ is }: Listing): Promise<LaunchTrouble> {
    const said = this.#process === null ? null : troubleOf(this.#process.lines())
    // A process that runs and answers nobody makes room for another.
    if (is === 'down') await this.#process?.stop()
    return said ?? this.#trouble ?? { code: 'tunnel_failed', why: 'go-ios made no tunnel to it.' }
  }

  /** One look for all who want to know within a second: each is a process. */
  #look(): Promise<Listing> {
    const now = this.#tools.clock.monotonic()
    const last = this.#looking
    if (last !== null && (this.#isLooking || now - last.at < LOOK_EVERY_MS)) return last.listing
    this.#isLooking = true
    const listing = this.#list().finally(() => {
      this.#isLooking = false
    })
    this.#looking = { at: now, listing }
    return listing
  }

  async #list(): Promise<Listing> {
    const { processes, goIosPath: path } = this.#tools
    const order = { path, args: ['tunnel', 'ls'], ...LOOK_LIMITS }
    // Several may wait for the answer, so it ends with none of them.
    const listing = listingOf(await processes.run(order, processes.over))
    if (listing.is === 'up') this.#names = listing.udids
    return listing
  }
}

function troubleOf(lines: readonly string[]): LaunchTrouble | null {
  return troubleIn(complaints(lines), TUNNEL_WORDS)
}

/** go-ios prints an array of objects with a `udid`, or fails where no tunnel process answers. */
function listingOf(end: ProcessEnd): Listing {
  if (end.end === 'not_started' && end.why !== 'aborted') {
    return { is: 'absent', trouble: startTrouble(end.why) }
  }
  if (end.end !== 'exited' || end.exitCode !== 0) return { is: 'down' }
  const udids = udidsIn(end.stdout)
  return udids === null ? { is: 'down' } : { is: 'up', udids }
}

function udidsIn(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.flatMap(udidOf) : null
  } catch {
    return null
  }
}

function udidOf(entry: unknown): readonly string[] {
  const isNamed = typeof entry === 'object' && entry !== null && 'udid' in entry
  return isNamed && typeof entry.udid === 'string' ? [entry.udid] : []
}
