// The life of one phone as a line: it climbs from state to state, each of which must hold before the next
// is tried, and falls back to where what has failed stands. A pulled cable is the bottom, at once.

import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import { Signal } from '../../../system/signal.ts'
import type { PhoneAgent } from './agent/agent.ts'
import type { Launched, Launcher } from './agent/launcher.ts'
import type { PhoneCable } from './cable/phone-cable.ts'
import type { Phone } from './cable/phone-facts.ts'
import { attachStop, batteryStop, fitnessStop } from './phone-fitness.ts'
import {
  heightOf,
  PHONE_STATES,
  placeOf,
  stopOf,
  type PhoneState,
  type PhoneStop,
  type PhoneStopCode,
} from './phone-stops.ts'

export type LifeTools = {
  readonly clock: Clock
  readonly log: Log
  readonly cable: PhoneCable
  readonly launcher: Launcher
  readonly agent: PhoneAgent
  readonly udid: string
}

/** What the line does with a phone whose agent runs. Each may throw what agent and screens throw. */
export type LifeWork = {
  /** Brings Messages to the front. */
  readonly show: (signal: AbortSignal) => Promise<null>
  /** Reads all that came in while nobody looked. */
  readonly catchUp: (signal: AbortSignal) => Promise<null>
  /** Works until something fails. */
  readonly stay: (signal: AbortSignal) => Promise<PhoneStop>
  /** Hears of every change; rejects where it could not be told, which ends the life. */
  readonly onChange: () => Promise<void>
}

const READY_EVERY_MS = 1_000
const READY_MS_MAX = 60_000
/** iOS prepares the phone when an agent is started for the first time. */
const FIRST_READY_MS_MAX = 180_000
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
const SHARED_DELAY_MS = 300_000
/** After so long at the top the next fall is the first one. */
const GOOD_MS = 300_000
const FALLS_WITHIN_MS = 600_000
/** So many falls onto one state, and it is climbed to anew; as many more, and all of it is. */
const FALLS_MAX = 3
/** No new agent helps against these. */
const FOR_PEOPLE: ReadonlySet<PhoneStopCode> = new Set(['locked', 'alert', 'agent_shared'])
/** These keep a phone as low as what the cable says, which does not say whether they have gone. */
const OF_LAUNCHER: ReadonlySet<PhoneStopCode> = new Set([
  'launcher_absent',
  'image_mount_failed',
  'tunnel_failed',
])
const ABSENT: PhoneStop = { code: 'device_absent', detail: null }
const TOP = heightOf('online')

/** From each state the way to the next: null once that is reached. */
type Rungs = Readonly<Record<PhoneState, (signal: AbortSignal) => Promise<PhoneStop | null>>>

export class PhoneLife {
  readonly #tools: LifeTools
  readonly #work: LifeWork
  readonly #rungs: Rungs
  readonly #wake = new Signal()
  #height = 0
  #stop: PhoneStop | null = null
  /** Ends what is done in the present state. */
  #cut = new AbortController()
  #cutBy: PhoneStop | null = null
  #launched: Launched | null = null
  #hasRun = false
  #falls: number[] = []
  #delayMs = DELAY_MS_MIN
  #onlineSince: number | null = null

  constructor(tools: LifeTools, work: LifeWork) {
    this.#tools = tools
    this.#work = work
    this.#rungs = this.#createRungs()
  }

  get state(): PhoneState {
    return PHONE_STATES[this.#height] ?? 'absent'
  }

  get isOnline(): boolean {
    return this.#height === TOP && this.#cutBy === null
  }

  /** What stopped it last, until it has climbed above that; null where nothing has. */
  get stop(): PhoneStop | null {
    return this.#cutBy ?? this.#stop
  }

  get udid(): string {
    return this.#tools.udid
  }

  get phone(): Phone | null {
    return this.#tools.cable.phones().find(({ udid }) => udid === this.udid) ?? null
  }

  /** Somebody else has met what stops the phone. It is offline from now on, and climbs again. */
  fail(stop: PhoneStop): void {
    const at = placeOf(stop)
    // It has fallen lower than that already, for another reason.
    if (at > this.#height) return
    if (this.#cutBy === null || at < placeOf(this.#cutBy)) this.#cutBy = stop
    this.#cut.abort()
  }

  /** Until `signal` aborts; nothing of it runs when it has resolved. */
  async run(signal: AbortSignal): Promise<void> {
    const end = this.#tools.cable.onChange(() => this.#hear())
    try {
      while (!signal.aborted) await this.#step(signal)
    } finally {
      end()
      await this.#release()
    }
  }

  /** One state up, or as far down as what stops it stands. */
  async #step(signal: AbortSignal): Promise<void> {
    this.#lookAtPhone()
    // What came between two steps counts like what comes in one.
    const stop = this.#cutBy ?? (await this.#climb(AbortSignal.any([signal, this.#cut.signal])))
    if (signal.aborted) return
    const why = this.#cutBy ?? stop
    if (why !== null) return await this.#fall(why, signal)
    this.#height += 1
    if (this.#isPast()) this.#stop = null
    if (this.#height === TOP) this.#onlineSince = this.#tools.clock.monotonic()
    await this.#work.onChange()
  }

  /** Whether it has climbed above what stopped it. That an agent is started again says nothing yet. */
  #isPast(): boolean {
    const isStarted = this.state === 'agent_starting'
    return this.#stop !== null && placeOf(this.#stop) < this.#height && !isStarted
  }

  /** Tries the next state; null where it is reached. */
  async #climb(signal: AbortSignal): Promise<PhoneStop | null> {
    try {
      return await this.#rungs[this.state](signal)
    } catch (error) {
      const stop = stopOf(error)
      if (stop === null && !signal.aborted) throw error
      return stop
    }
  }

  #createRungs(): Rungs {
    const { launcher, udid } = this.#tools
    const work = this.#work
    return {
      absent: async () => (this.phone?.device == null ? ABSENT : null),
      attached: async () => attachStop(this.phone),
      trusted: async (signal) =>
        fitnessStop(this.phone) ?? (await prepared(launcher, udid, signal)),
      prepared: (signal) => this.#launch(signal),
      agent_starting: (signal) => this.#awaitAgent(signal),
      agent_running: (signal) => work.show(signal),
      // Only sends can show whether iMessage works: until then it is taken to.
      ui_ready: async () => null,
      imessage_active: (signal) => work.catchUp(signal),
      online: (signal) => work.stay(signal),
    }
  }

  async #launch(signal: AbortSignal): Promise<PhoneStop | null> {
    const { launcher, udid } = this.#tools
    const launched = await launcher.launch(udid, signal)
    if ('code' in launched) return { code: launched.code, detail: launched.why }
    this.#launched = launched
    void this.#watch(launched)
    return null
  }

  async #watch(launched: Launched): Promise<void> {
    const { code, why } = await launched.ended
    if (this.#launched === launched) this.fail({ code, detail: why })
  }

  async #awaitAgent(signal: AbortSignal): Promise<PhoneStop | null> {
    const { clock, launcher, agent } = this.#tools
    const isOurs = launcher.name !== 'attach'
    const until = clock.monotonic() + (this.#hasRun ? READY_MS_MAX : FIRST_READY_MS_MAX)
    while (!(await agent.health(signal).then(() => true, isNotReady))) {
      if (signal.aborted) return null
      if (isOurs && clock.monotonic() >= until) return this.#silence()
      await this.#say({ code: isOurs ? 'agent_starting' : 'agent_down', detail: null })
      await clock.sleep(READY_EVERY_MS, signal)
    }
    this.#hasRun = true
    return null
  }

  /** Why an agent that was started does not answer: iOS waits for a passcode, or nobody knows. */
  #silence(): PhoneStop {
    const isLocked = this.phone?.facts?.isLocked === true
    return { code: isLocked ? 'passcode_prompt' : 'agent_down', detail: null }
  }

  async #fall(stop: PhoneStop, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#tools
    const now = clock.monotonic()
    if (this.#onlineSince !== null && now - this.#onlineSince >= GOOD_MS)
      this.#delayMs = DELAY_MS_MIN
    this.#onlineSince = null
    if (this.#stop?.code !== stop.code) {
      const { code } = stop
      // A flash message is an alert: its title is a text that somebody wrote.
      const detail = code === 'alert' ? null : stop.detail
      log.warn('phone line stopped', { code, at: this.state, detail })
    }
    this.#cut = new AbortController()
    this.#cutBy = null
    this.#stop = stop
    this.#height = Math.min(this.#height, this.#landing(stop, now))
    if (this.#height <= heightOf('prepared')) await this.#release()
    await this.#work.onChange()
    const delayMs = stop.code === 'agent_shared' ? SHARED_DELAY_MS : this.#delayMs
    this.#delayMs = Math.min(this.#delayMs * 2, DELAY_MS_MAX)
    await this.#wake.wait(clock, delayMs, signal)
  }

  /** Where a stop leaves the phone: lower where falling so far did not help several times. */
  #landing(stop: PhoneStop, now: number): number {
    const height = placeOf(stop)
    if (height <= heightOf('trusted') || FOR_PEOPLE.has(stop.code)) return height
    this.#falls = [...this.#falls.filter((at) => now - at < FALLS_WITHIN_MS), now]
    if (this.#falls.length <= FALLS_MAX) return height
    const isHopeless = this.#falls.length > 2 * FALLS_MAX
    return Math.min(height, heightOf(isHopeless ? 'attached' : 'prepared'))
  }

  /** Something has changed at the cable. */
  #hear(): void {
    this.#lookAtPhone()
    const { phone, stop } = this
    const now = this.#cutBy ?? attachStop(phone) ?? fitnessStop(phone)
    // The agent and what starts it are not hurried by a reading of this phone, or of another one.
    if (stop === null || !isAtCable(stop) || now?.code === this.#stop?.code) return
    this.#delayMs = DELAY_MS_MIN
    this.#wake.notify()
  }

  #lookAtPhone(): void {
    const { phone } = this
    const isGone = this.#height > 0 && phone?.device == null
    const isEmpty = this.#height > heightOf('trusted') && batteryStop(phone) !== null
    if (isGone) this.fail(ABSENT)
    else if (isEmpty) this.fail({ code: 'battery_empty', detail: null })
  }

  /** Where nothing else is known that stopped it. */
  async #say(stop: PhoneStop): Promise<void> {
    if (this.#stop !== null) return
    this.#stop = stop
    await this.#work.onChange()
  }

  async #release(): Promise<void> {
    const launched = this.#launched
    this.#launched = null
    await launched?.stop()
  }
}

/** Whether it is the cable that says so, or the phone over it. */
function isAtCable(stop: PhoneStop): boolean {
  return placeOf(stop) <= heightOf('trusted') && !OF_LAUNCHER.has(stop.code)
}

function isNotReady(error: unknown): false {
  if (stopOf(error) === null) throw error
  return false
}

async function prepared(
  launcher: Launcher,
  udid: string,
  signal: AbortSignal,
): Promise<PhoneStop | null> {
  const trouble = await launcher.prepare(udid, signal)
  return trouble === null ? null : { code: trouble.code, detail: trouble.why }
}
