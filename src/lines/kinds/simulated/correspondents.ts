// People on the simulated network: its own lines, and persons whose last four digits decide how they
// behave. The digits are documented: a developer tries every outcome of a message with them.

/** Outcome of a message to a number. */
export type Behaviour =
  /** It leaves; the fields say what follows. */
  | {
      readonly kind: 'carried'
      readonly isDelivered: boolean
      readonly isRead: boolean
      /** Time until the network confirms the message, in milliseconds. */
      readonly acceptMs: number
      readonly isEchoed: boolean
      /** The line goes offline right after. */
      readonly dropsLine: boolean
    }
  /** Refused before anything happened: the recipient is not on iMessage. */
  | { readonly kind: 'not_on_imessage' }
  /** The line itself refuses, after its point of no return. */
  | { readonly kind: 'line_refuses' }
  /** Carried, but never confirmed. */
  | { readonly kind: 'nobody_knows' }

const NUMBER_OF_LINE = /^\+1202555(\d{4})$/
const FIRST_LINE = 100
const SLOW_MS = 30_000

const PERSON: Behaviour = {
  kind: 'carried',
  isDelivered: true,
  isRead: true,
  acceptMs: 0,
  isEchoed: false,
  dropsLine: false,
}

const SPECIAL: Readonly<Record<string, Behaviour>> = {
  '0190': { ...PERSON, isDelivered: false, isRead: false },
  '0191': { ...PERSON, isRead: false },
  '0192': { kind: 'not_on_imessage' },
  '0193': { kind: 'line_refuses' },
  '0194': { kind: 'nobody_knows' },
  '0195': { ...PERSON, acceptMs: SLOW_MS },
  '0196': { ...PERSON, isEchoed: true },
  '0197': { ...PERSON, dropsLine: true },
}

/** The number of the simulated line with this ordinal: +12025550101 is the first one. */
export function numberOfLine(ordinal: number): string {
  return `+1202555${String(FIRST_LINE + ordinal).padStart(4, '0')}`
}

function isLine(handle: string, count: number): boolean {
  const digits = NUMBER_OF_LINE.exec(handle)?.[1]
  if (digits === undefined) return false
  const ordinal = Number(digits) - FIRST_LINE
  return ordinal >= 1 && ordinal <= count
}

/** Behaviour by the last four digits; a line and an e-mail address are ordinary persons. */
export function behaviourOf(handle: string, lineCount: number): Behaviour {
  if (!handle.startsWith('+') || isLine(handle, lineCount)) return PERSON
  return SPECIAL[handle.slice(-4)] ?? PERSON
}

/** Event on a line that follows from a carried message. */
export type Effect = {
  /** Number of the line. */
  readonly line: string
  readonly afterMs: number
  readonly event:
    | { readonly kind: 'sent' | 'delivered' | 'read' }
    /** A message arrives; its guid is its own. */
    | { readonly kind: 'message'; readonly from: string; readonly text: string }
}

export type SimulatedMessage = { readonly line: string; readonly to: string; readonly text: string }

/** Effects of a carried message, soonest first. `delayMs` is one step of a person. */
export function effectsOf(
  { line, to, text }: SimulatedMessage,
  behaviour: Behaviour,
  network: { readonly delayMs: number; readonly lineCount: number },
): readonly Effect[] {
  if (behaviour.kind !== 'carried') return []
  const deliveredMs = behaviour.acceptMs + network.delayMs
  const readMs = deliveredMs + network.delayMs
  const all: Effect[] = []
  if (behaviour.acceptMs > 0) {
    all.push({ line, afterMs: behaviour.acceptMs, event: { kind: 'sent' } })
  }
  if (isLine(to, network.lineCount)) {
    all.push({ line: to, afterMs: deliveredMs, event: { kind: 'message', from: line, text } })
  }
  // `read` at the moment of `delivered` implies both.
  const isOneStep = behaviour.isRead && readMs === deliveredMs
  if (behaviour.isDelivered && !isOneStep) {
    all.push({ line, afterMs: deliveredMs, event: { kind: 'delivered' } })
  }
  if (behaviour.isRead) all.push({ line, afterMs: readMs, event: { kind: 'read' } })
  if (behaviour.isEchoed) {
    all.push({ line, afterMs: readMs, event: { kind: 'message', from: to, text } })
  }
  return all
}
