// The life of one phone as a line: it advances from stage to stage, each of which must be reached before the next is
// tried, and falls back to the stage of a blocker. A pulled cable takes it back to the first stage at once.

import { Signal } from '../../../system/signal.ts'
import type { KindHost } from '../../line-kind.ts'
import type { Launched, Launcher } from './agent/launcher.ts'
import type { PhoneAgent } from './agent/wda.ts'
import type { Phone } from './cable/lockdown.ts'
import type { PhoneCable } from './cable/phone-watch.ts'
import {
  attachBlocker,
  batteryBlocker,
  blockerOf,
  fallbackIndex,
  firstBlocker,
  fitnessBlocker,
  PHONE_STAGES,
  stageIndex,
  type BlockerCode,
  type PhoneBlocker,
  type PhoneStage,
} from './phone-blockers.ts'

export type PhoneLauncher = Pick<Launcher, 'prepare' | 'launch'>

/** An iPhone that is a line, with the ways to reach and to start its agent. */
export type DrivenPhone = {
  readonly udid: string
  readonly cable: PhoneCable
  readonly agent: PhoneAgent
  /** The way to start the agent; null if the owner does. */
  readonly launcher: PhoneLauncher | null
}

/** The line's work on a phone whose agent runs. Each function may throw the errors of the agent and the screens. */
export type LifeWork = {
  readonly show: (signal: AbortSignal) => Promise<null>
  readonly catchUp: (signal: AbortSignal) => Promise<null>
  readonly stay: (signal: AbortSignal) => Promise<PhoneBlocker>
  /** Called at every change of stage or blocker; if it rejects, the life ends. */
  readonly onChange: () => Promise<void>
}

const READY_EVERY_MS = 1_000
const READY_MS_MAX = 60_000
/** iOS prepares the phone when an agent is started for the first time. */
const FIRST_READY_MS_MAX = 180_000
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
const SHARED_DELAY_MS = 300_000
/** A line that was online at least this long restarts with the shortest delay. */
const GOOD_MS = 300_000
const FALLS_WITHIN_MS = 600_000
/** After more falls than this the agent is restarted; after twice as many, the line starts over. */
const FALLS_MAX = 3
/** Blockers that only a person can clear: restarting the agent doesn't help. */
const NEEDS_A_PERSON: ReadonlySet<BlockerCode> = new Set(['locked', 'alert', 'agent_shared'])
/** Blockers at the stages of the cable that a change of the cable can't clear. */
const NEEDS_THE_LAUNCHER: ReadonlySet<BlockerCode> = new Set([
  'launcher_absent',
  'image_mount_failed',
  'tunnel_failed',
])
const ABSENT: PhoneBlocker = { code: 'device_absent', detail: null }
const TOP = stageIndex('online')
const TRUSTED = stageIndex('trusted')
const PREPARED = stageIndex('prepared')

/** The step from each stage to the next; resolves with null once the next stage is reached. */
type Steps = Readonly<Record<PhoneStage, (signal: AbortSignal) => Promise<PhoneBlocker | null>>>

export class PhoneLife {
  readonly #host: KindHost
  readonly #phone: DrivenPhone
  readonly #work: LifeWork
  readonly #steps: Steps
  readonly #wake = new Signal()
  #reached = 0
  #blocker: PhoneBlocker | null = null
  #interrupt = new AbortController()
  #interruptedBy: PhoneBlocker | null = null
  #launched: Launched | null = null
  #hasRun = false
  #falls: number[] = []
  #delayMs = DELAY_MS_MIN
  #onlineSince: number | null = null

  constructor(host: KindHost, phone: DrivenPhone, work: LifeWork) {
    this.#host = host
    this.#phone = phone
    this.#work = work
    this.#steps = {
      absent: async () => (this.phone?.device == null ? ABSENT : null),
      attached: async () => attachBlocker(this.phone),
      trusted: async (signal) => fitnessBlocker(this.phone) ?? (await this.#prepare(signal)),
      prepared: async () => this.#launch(),
      agent_starting: (signal) => this.#awaitAgent(signal),
      agent_running: (signal) => work.show(signal),
      // Assumed here, because only sends can show whether iMessage works.
      ui_ready: async () => null,
      imessage_active: (signal) => work.catchUp(signal),
      online: (signal) => work.stay(signal),
    }
  }

  get stage(): PhoneStage {
    return PHONE_STAGES[this.#reached] ?? 'absent'
  }

  get isOnline(): boolean {
    return this.#reached === TOP && this.#interruptedBy === null
  }

  /** The last blocker; null once the phone has advanced past its stage. */
  get blocker(): PhoneBlocker | null {
    return this.#interruptedBy ?? this.#blocker
  }

  get udid(): string {
    return this.#phone.udid
  }

  get phone(): Phone | null {
    return this.#phone.cable.phones().find(({ udid }) => udid === this.udid) ?? null
  }

  /** Takes the phone offline for a blocker found elsewhere; it advances again from that stage. */
  fail(blocker: PhoneBlocker): void {
    const at = fallbackIndex(blocker)
    // The phone is at a lower stage already, for another reason.
    if (at > this.#reached) return
    if (this.#interruptedBy === null || at < fallbackIndex(this.#interruptedBy)) {
      this.#interruptedBy = blocker
    }
    this.#interrupt.abort()
  }

  /** Runs until `signal` aborts; when it resolves, everything has been stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#phone.cable.onChange(() => this.#onCableChange())
    try {
      while (!signal.aborted) await this.#step(signal)
    } finally {
      unsubscribe()
      await this.#stopAgent()
    }
  }

  /** Goes up a stage, or down to the blocker's stage. */
  async #step(signal: AbortSignal): Promise<void> {
    this.#checkPhone()
    // An interruption may also come between two steps.
    const blocker =
      this.#interruptedBy ??
      (await this.#advance(AbortSignal.any([signal, this.#interrupt.signal])))
    if (signal.aborted) return
    const cause = this.#interruptedBy ?? blocker
    if (cause !== null) return await this.#fallBack(cause, signal)
    this.#reached += 1
    if (this.#isPastBlocker()) this.#blocker = null
    if (this.#reached === TOP) this.#onlineSince = this.#host.clock.monotonic()
    await this.#work.onChange()
  }

  /** True if the blocker's stage is passed. A restarted agent alone doesn't prove that the blocker is over. */
  #isPastBlocker(): boolean {
    const isStarting = this.stage === 'agent_starting'
    return this.#blocker !== null && fallbackIndex(this.#blocker) < this.#reached && !isStarting
  }

  async #advance(signal: AbortSignal): Promise<PhoneBlocker | null> {
    try {
      return await this.#steps[this.stage](signal)
    } catch (error) {
      const blocker = blockerOf(error)
      if (blocker === null && !signal.aborted) throw error
      return blocker
    }
  }

  async #prepare(signal: AbortSignal): Promise<PhoneBlocker | null> {
    const device = this.phone?.device
    if (device == null) return ABSENT
    const trouble = await this.#phone.launcher?.prepare(device, signal)
    return trouble == null ? null : { code: trouble.code, detail: trouble.why }
  }

  #launch(): PhoneBlocker | null {
    const device = this.phone?.device
    if (device == null) return ABSENT
    const launched = this.#phone.launcher?.launch(device) ?? null
    if (launched === null) return null
    if ('code' in launched) return { code: launched.code, detail: launched.why }
    this.#launched = launched
    void this.#watchAgent(launched)
    return null
  }

  async #watchAgent(launched: Launched): Promise<void> {
    const { code, why } = await launched.ended
    if (this.#launched !== launched) return
    const blocker: PhoneBlocker = { code, detail: why }
    this.fail(code === 'launch_failed' ? this.#orPasscode(blocker) : blocker)
  }

  /** A phone with a passcode asks for it whenever an agent starts. */
  #orPasscode(blocker: PhoneBlocker): PhoneBlocker {
    return this.phone?.facts?.isLocked === true ? { ...blocker, code: 'passcode_prompt' } : blocker
  }

  async #awaitAgent(signal: AbortSignal): Promise<PhoneBlocker | null> {
    const { clock } = this.#host
    const { launcher, agent } = this.#phone
    const isOurs = launcher !== null
    const until = clock.monotonic() + (this.#hasRun ? READY_MS_MAX : FIRST_READY_MS_MAX)
    while (!(await agent.health(signal).then(() => true, isNotReady))) {
      if (signal.aborted) return null
      if (isOurs && clock.monotonic() >= until) {
        return this.#orPasscode({ code: 'agent_down', detail: null })
      }
      if (this.#blocker === null) {
        this.#blocker = { code: isOurs ? 'agent_starting' : 'agent_down', detail: null }
        await this.#work.onChange()
      }
      await clock.sleep(READY_EVERY_MS, signal)
    }
    this.#hasRun = true
    this.#launched?.ignoreOutput()
    return null
  }

  async #fallBack(blocker: PhoneBlocker, signal: AbortSignal): Promise<void> {
    const { clock } = this.#host
    const now = clock.monotonic()
    const wasGood = this.#onlineSince !== null && now - this.#onlineSince >= GOOD_MS
    if (wasGood) this.#delayMs = DELAY_MS_MIN
    this.#onlineSince = null
    if (this.#blocker?.code !== blocker.code) this.#logBlocker(blocker)
    this.#interrupt = new AbortController()
    this.#interruptedBy = null
    this.#blocker = blocker
    this.#reached = Math.min(this.#reached, this.#fallbackStage(blocker, now))
    if (this.#reached <= PREPARED) await this.#stopAgent()
    await this.#work.onChange()
    const delayMs = blocker.code === 'agent_shared' ? SHARED_DELAY_MS : this.#delayMs
    this.#delayMs = Math.min(this.#delayMs * 2, DELAY_MS_MAX)
    await this.#wake.wait(clock, delayMs, signal)
  }

  #logBlocker({ code, detail }: PhoneBlocker): void {
    // The title of an alert may be a message: a flash SMS is shown as one.
    const fields = { code, at: this.stage, detail: code === 'alert' ? null : detail }
    this.#host.log.warn('phone line stopped', fields)
  }

  /** Index of the stage to fall back to: below the blocker's own if several falls to that one did not help. */
  #fallbackStage(blocker: PhoneBlocker, now: number): number {
    const index = fallbackIndex(blocker)
    if (index <= TRUSTED || NEEDS_A_PERSON.has(blocker.code)) return index
    this.#falls = [...this.#falls.filter((at) => now - at < FALLS_WITHIN_MS), now]
    if (this.#falls.length <= FALLS_MAX) return index
    const isHopeless = this.#falls.length > 2 * FALLS_MAX
    return Math.min(index, isHopeless ? stageIndex('attached') : PREPARED)
  }

  #onCableChange(): void {
    this.#checkPhone()
    const { phone, blocker } = this
    const present = this.#interruptedBy ?? firstBlocker(phone)
    // A reading of another phone must not hurry the agent or its launcher.
    if (blocker === null || !isOfCable(blocker) || present?.code === this.#blocker?.code) return
    this.#delayMs = DELAY_MS_MIN
    this.#wake.notify()
  }

  #checkPhone(): void {
    const { phone } = this
    const isGone = this.#reached > 0 && phone?.device == null
    const isEmpty = this.#reached > TRUSTED && batteryBlocker(phone) !== null
    if (isGone) this.fail(ABSENT)
    else if (isEmpty) this.fail({ code: 'battery_empty', detail: null })
  }

  async #stopAgent(): Promise<void> {
    const launched = this.#launched
    this.#launched = null
    await launched?.stop()
  }
}

/** True if the cable, or the phone over it, can show that the blocker is over. */
function isOfCable(blocker: PhoneBlocker): boolean {
  return fallbackIndex(blocker) <= TRUSTED && !NEEDS_THE_LAUNCHER.has(blocker.code)
}

function isNotReady(error: unknown): false {
  if (blockerOf(error) === null) throw error
  return false
}
