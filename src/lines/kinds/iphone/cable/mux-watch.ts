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

type WatchTools = { readonly mux: Usbmux; readonly clock: Clock; readonly log: Log }

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
  readonly #listeners = new Set<(change: MuxChange) => void>()
  /** Attachments that the present connection has announced, by device id. */
  readonly #attached = new Map<number, MuxDevice>()
  /** Phones of the connection before, by UDID, which this one has not announced yet. */
  readonly #left = new Map<string, MuxDevice>()
  /** Phones as the listeners know them, by UDID. */
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

  /** An entry for each phone: over the cable where it can also be reached by the network. */
  devices(): readonly MuxDevice[] {
    return [...this.#known.values()]
  }

  /** Returns what ends it. A listener must not throw. */
  onChange(listener: (change: MuxChange) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Listens until `signal` aborts; at the end no phone is there. */
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
      this.#drop()
    }
  }

  /** Follows a connection from its beginning to its end. */
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
    this.#attached.clear()
    for (const [udid, device] of this.#known) this.#left.set(udid, device)
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
        if (device !== undefined) this.#emit({ change: 'paired', device })
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

  #drop(): void {
    this.#dropLater()
    this.#attached.clear()
    this.#left.clear()
    this.#emitChanges()
  }

  /** Emits the changes since the last call. */
  #emitChanges(): void {
    const before = this.#known
    const now = new Map(this.#left)
    for (const device of this.#attached.values()) {
      const other = now.get(device.udid)
      if (other?.transport !== 'usb' || device.transport === 'usb') now.set(device.udid, device)
    }
    this.#known = now
    for (const [udid, device] of before) {
      if (!now.has(udid)) this.#emit({ change: 'detached', device })
    }
    for (const [udid, device] of now) {
      if (before.get(udid) !== device) this.#emit({ change: 'attached', device })
    }
  }

  #emit(change: MuxChange): void {
    for (const listener of this.#listeners) listener(change)
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
