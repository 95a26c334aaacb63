import type { Finding } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { saveClockMemory } from '../storage/clock-memory.ts'
import { bringBackChanges, wakeHeldBack } from '../storage/message-queue.ts'
import type { Writer } from '../storage/writer.ts'
import type { ClockDoubt, ClockMemory, ConfirmedClock } from '../system/confirmed-clock.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'
import type { Stamps } from '../system/stamps.ts'

export type ClockWatchTools = {
  readonly clock: ConfirmedClock
  readonly stamps: Stamps
  readonly log: Log
  readonly writer: Pick<Writer, 'write'>
  /** Called when something came into doubt, or was settled. */
  readonly onChange: () => void
}

const LOOK_MS = 30_000
/** How much time a start may have to take for time off although the relay ran. */
const SAVE_MS = 10 * 60_000
const SAVE_IN_DOUBT_MS = 60_000
/** Stamps that are less ahead wait until the clock has caught up. */
const AHEAD_MS_MAX = 24 * 3_600_000

/** Remembers the time that the relay goes by, and believes the wall clock where it was steady. */
export class ClockWatch implements Service {
  readonly name = 'clock-watch'
  readonly #tools: ClockWatchTools
  /** What was told last. */
  #doubt: ClockDoubt | null = null
  #savedAt = -Infinity

  constructor(tools: ClockWatchTools) {
    this.#tools = tools
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    while (!signal.aborted) {
      await clock.settle((memory) => this.#save(memory))
      const doubt = clock.doubt()
      const isNew = !isSame(doubt, this.#doubt)
      if (isNew || this.#isDue(doubt)) await this.#save(clock.memory())
      if (isNew) await this.#tell(doubt)
      if (this.#isAhead && doubt === null && clock.isSteady()) await this.#bringBack()
      await clock.sleep(LOOK_MS, signal)
    }
  }

  /** What is on hold because of the clock, and until when. */
  findings(): readonly Finding[] {
    const doubt = this.#tools.clock.doubt()
    const words = doubt === null ? null : wordsFor(doubt)
    const found = words ?? (this.#isAhead ? wordsForAhead(this.#tools.stamps.aheadMs) : null)
    return found === null ? [] : [{ code: 'clock_jumped', ...found, key: null, depends_on: null }]
  }

  #isDue(doubt: ClockDoubt | null): boolean {
    const savedMs = this.#tools.clock.monotonic() - this.#savedAt
    return savedMs >= (doubt === null ? SAVE_MS : SAVE_IN_DOUBT_MS)
  }

  get #isAhead(): boolean {
    return this.#tools.stamps.aheadMs > AHEAD_MS_MAX
  }

  /** The clock was in the future before, for long enough to be believed. */
  async #bringBack(): Promise<void> {
    const { clock, stamps, writer, log } = this.#tools
    log.warn('dates came back from the future', { ms: Math.round(stamps.aheadMs) })
    await writer.write((tx) => {
      bringBackChanges(tx, clock.now())
      stamps.comeBack()
    })
  }

  async #save(memory: ClockMemory): Promise<void> {
    await this.#tools.writer.write((tx) => saveClockMemory(tx, memory))
    this.#savedAt = this.#tools.clock.monotonic()
  }

  async #tell(doubt: ClockDoubt | null): Promise<void> {
    const { log } = this.#tools
    this.#doubt = doubt
    if (doubt === null) log.info('the clock is in doubt no more')
    else log.warn('the clock is in doubt', { doubt: doubt.doubt, ms: Math.round(doubt.ms) })
    await this.#letGo()
  }

  /** What was held back goes out, expires or is held back again, by what is known now. */
  async #letGo(): Promise<void> {
    const { clock, writer, onChange } = this.#tools
    await writer.write((tx) => wakeHeldBack(tx, timestamp(clock.now())))
    onChange()
  }
}

function isSame(a: ClockDoubt | null, b: ClockDoubt | null): boolean {
  return a?.doubt === b?.doubt && a?.since === b?.since
}

type Words = Pick<Finding, 'severity' | 'title' | 'why' | 'fix'>

function wordsForAhead(ms: number): Words {
  return {
    severity: 'warning',
    title: `What the relay recorded last is dated ${lengthOf(ms)} in the future`,
    why: 'The clock of this machine was ahead for more than an hour and was set back. Until it has run steadily for an hour, what happens is dated by the later time, so that nothing changes its order.',
    fix: 'If the clock is right now, there is nothing to do: after that hour the relay dates by it again by itself.',
  }
}

/** Every case settles by itself: there is nothing that the owner must say. */
function wordsFor({ doubt, ms, until }: ClockDoubt): Words {
  const time = lengthOf(ms)
  const end = isoTime(timestamp(Math.ceil(until)))
  switch (doubt) {
    case 'jumped':
      return {
        severity: 'warning',
        title: `The clock of this machine jumped forward by ${time}`,
        why: `No other clock confirms it. Until ${end} the relay dates by the time before the jump, and nothing grows old by it: no message expires, no Idempotency-Key is forgotten, no webhook is switched off.`,
        fix: 'If the clock is right now, there is nothing to do: the relay takes the new time over by itself. If it is wrong, set it right, best by the network; then this ends within a minute.',
      }
    case 'was_off':
      return {
        severity: 'info',
        title: `By the clock of this machine the relay was off for ${time}`,
        why: `Until ${end} that is not certain. Messages that would be older than 24 hours by it are neither sent nor expired, and nothing that is kept for a time is deleted because of it.`,
        fix: 'If the clock is right, there is nothing to do: from then on the time off counts. If it is wrong, set it right, best by the network; then this ends within a minute.',
      }
    case 'is_behind':
      return {
        severity: 'warning',
        title: `The clock of this machine is ${time} behind`,
        why: `When the relay ran before, it was later than the clock says now. Until ${end} the relay goes by the time that it remembers.`,
        fix: 'Set the clock right, best by the network; then this ends within a minute. If it is right now and was wrong before, there is nothing to do: the relay follows it by itself.',
      }
  }
}

function lengthOf(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
