import type { Duplex } from 'node:stream'

import type { Phone } from './phone-facts.ts'

/** The phones on the cable, and the way to a port of each. */
export type PhoneCable = {
  /** Those that are attached, and those that were since the relay started. */
  phones(): readonly Phone[]
  /** Whether it is known what is plugged in, and each phone was read once, be it in vain. */
  readonly isKnown: boolean
  /** Whether the system refuses us the socket of usbmuxd. */
  readonly isDenied: boolean
  /** A connection to a TCP port of a phone; rejects with a `MuxError`. */
  connect(udid: string, port: number, signal: AbortSignal): Promise<Duplex>
  /** Tells that `phones` may say something else now; what it returns ends that. */
  onChange(listener: () => void): () => void
}
