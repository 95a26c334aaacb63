// The phones on usbmuxd, by the one connection that listens for changes. usbmuxd comes and goes: on Linux it is started by the first phone and ends with the last one.

import type { Clock } from '../../../../system/clock.ts'
import type { Log } from '../../../../system/log.ts'
import { MuxError, type MuxErrorCode } from './mux-connection.ts'
import type { MuxDevice, MuxEvent, MuxListening, Usbmux } from './usbmux.ts'

/** A change of a phone, over all of its attachments. */
export type MuxChange = {
  /** `attached` also where it hangs on another `deviceId` than before. */
  readonly change: 'attached' | 'detached' | 'paired'
  readonly device: MuxDevice
}

type WatchTools = {
  readonly mux: Usbmux
  readonly clock: Clock
  readonly log: Log
  /** Must not throw. */
  readonly onChange: (change: MuxChange) => void
}

const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 10_000
/** A connection that held for so long was a good one: the next delay is the shortest again. */
const GOOD_MS = 10_000
/** Phones still count for so long when usbmuxd ends: it may just be restarting. */
const GRACE_MS = 3_000
/** A new connection has announced all attached phones after so long. */
const ROLL_CALL_MS = 1_000
const ATTACHMENTS_MAX = 200

export class MuxWatch {
  readonly #tools: WatchTools
  /** Attachments that the present connection has announced, by device id. */
  readonly #attached = new Map<number, MuxDevice>()
  /** Phones of the connection before, by UDID, which this one has not announced yet. */
  readonly #left = new Map<string, MuxDevice>()
  /** Phones as the changes so far have named them, by UDID. */
  #known: ReadonlyMap<string, MuxDevice> = new Map()
  #trouble: MuxErrorCode | null = 'absent'
  #hasBeenHeard = false
  #dropLater = () => {}

  constructor(tools: WatchTools) {
    this.#tools = tools
  }

  /** The reason for which the attached phones are unknown; null where they are known. */
  get trouble(): MuxErrorCode | null {
    return this.#trouble
  }

  /** True once usbmuxd has announced the attached phones, or could not be reached. */
  get hasBeenHeard(): boolean {
    return this.#hasBeenHeard
  }

  /** Listens until `signal` aborts; those of the end stay, for a send that is still under way. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    let delayMs = RETRY_MS_MIN
    try {
      while (!signal.aborted) {
        const from = clock.monotonic()
        await this.#follow(signal)
        if (clock.monotonic() - from >= GOOD_MS) delayMs = RETRY_MS_MIN
        await clock.sleep(delayMs, signal)
        delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)
      }
    } finally {
      this.#dropLater()
      this.#leaveAll()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let listening: MuxListening | null = null
    try {
      listening = await this.#tools.mux.listen(signal)
      this.#begin()
      for (;;) this.#take(await listening.next(signal))
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof MuxError)) throw error
      this.#lose(error.code)
    } finally {
      listening?.close()
    }
  }

  #begin(): void {
    this.#note(null)
    this.#dropIn(ROLL_CALL_MS)
  }

  #lose(code: MuxErrorCode): void {
    this.#note(code)
    if (this.#attached.size === 0) return
    this.#leaveAll()
    this.#dropIn(GRACE_MS)
  }

  #take(event: MuxEvent): void {
    switch (event.event) {
      case 'attached':
        if (this.#attached.size >= ATTACHMENTS_MAX) return
        this.#attached.set(event.device.deviceId, event.device)
        this.#left.delete(event.device.udid)
        this.#emitChanges()
        return
      case 'detached':
        this.#attached.delete(event.deviceId)
        this.#emitChanges()
        return
      case 'paired': {
        const device = this.#known.get(this.#attached.get(event.deviceId)?.udid ?? '')
        if (device !== undefined) this.#tools.onChange({ change: 'paired', device })
      }
    }
  }

  /** After `ms`, phones that the present connection has not announced are gone. */
  #dropIn(ms: number): void {
    this.#dropLater()
    this.#dropLater = this.#tools.clock.after(ms, () => {
      this.#left.clear()
      this.#hasBeenHeard = true
      this.#emitChanges()
    })
  }

  #leaveAll(): void {
    this.#attached.clear()
    for (const [udid, device] of this.#known) this.#left.set(udid, device)
  }

  /** Emits the changes since the last call, each for a phone over the cable where it is also in the network. */
  #emitChanges(): void {
    const before = this.#known
    const now = new Map(this.#left)
    for (const device of this.#attached.values()) {
      const other = now.get(device.udid)
      if (other?.transport !== 'usb' || device.transport === 'usb') now.set(device.udid, device)
    }
    this.#known = now
    for (const [udid, device] of before) {
      if (!now.has(udid)) this.#tools.onChange({ change: 'detached', device })
    }
    for (const [udid, device] of now) {
      if (before.get(udid) !== device) this.#tools.onChange({ change: 'attached', device })
    }
  }

  #note(trouble: MuxErrorCode | null): void {
    const { log } = this.#tools
    if (trouble !== null) this.#hasBeenHeard = true
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    if (trouble === null) log.info('usbmuxd is reached')
    else log[trouble === 'absent' ? 'info' : 'warn']('usbmuxd is not reached', { code: trouble })
  }
}
