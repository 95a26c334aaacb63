import type { Line, LineState } from '../domain/line.ts'
import type { DriverLine, LineEvent } from './driver.ts'

/** A line and what it is doing now. */
export type LineSnapshot = {
  /** Its checkpoint is that of the last start of its run. */
  readonly line: Line
  readonly state: LineState
  /** Practice lines are not real. */
  readonly isReal: boolean
  /** Whether this start asked for it; always true of real lines. */
  readonly isConfigured: boolean
  /** Sends that a driver has in hand. */
  readonly inFlight: number
  /** How many sends it takes at once; 0 while it has no session. */
  readonly capacity: number
}

/** What a device tells and must be written down. */
export type IntakeEvent = Extract<
  LineEvent,
  { readonly type: 'message' | 'left_out' | 'receipt' | 'settled' | 'checkpoint' | 'rejected' }
>

/** Makes an event durable: resolves then, and rejects where that is impossible now. */
export type Intake = (line: Line, event: IntakeEvent) => Promise<void>

/** The messages of a line that its driver must look for before it reads anything new. */
export type LoadUnfinished = (line: Line) => Pick<DriverLine, 'unsettled' | 'open'>
