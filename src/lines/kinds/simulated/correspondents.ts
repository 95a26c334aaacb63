// Whom the simulated network knows: its own lines, and persons whose last four digits say how they
// behave. All of it is public: it is how a developer tries each turn that a message can take.

/** How a message to a number ends. */
export type Behaviour =
  /** Carried: it leaves, and what follows is as the fields say. */
  | {
      readonly kind: 'carried'
      readonly isDelivered: boolean
      readonly isRead: boolean
      /** Milliseconds until the network says that it took the message. */
      readonly acceptMs: number
      readonly isEchoed: boolean
      /** Whether the line drops offline right after. */
      readonly dropsLine: boolean
    }
  /** Refused before anything happened: the recipient is not on iMessage. */
  | { readonly kind: 'not_on_imessage' }
  /** The line itself refuses, after its point of no return. */
  | { readonly kind: 'line_refuses' }
  /** Carried, but nobody ever says so. */
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

/** Whether `handle` is the number of one of the first `count` simulated lines. */
function isLine(handle: string, count: number): boolean {
  const digits = NUMBER_OF_LINE.exec(handle)?.[1]
  if (digits === undefined) return false
  const ordinal = Number(digits) - FIRST_LINE
  return ordinal >= 1 && ordinal <= count
}

/** What the last four digits of a number mean; a line, and an e-mail address, is an ordinary person. */
export function behaviourOf(handle: string, lineCount: number): Behaviour {
  if (!handle.startsWith('+') || isLine(handle, lineCount)) return PERSON
  return SPECIAL[handle.slice(-4)] ?? PERSON
}

/** Something that a line will be told because a message was carried. */
export type Consequence = {
  /** The number of the line that is told. */
  readonly line: string
  readonly afterMs: number
  readonly news:
    | { readonly kind: 'sent' | 'delivered' | 'read' }
    /** A message arrives; its guid is its own. */
    | { readonly kind: 'message'; readonly from: string; readonly text: string }
}

export type Letter = { readonly line: string; readonly to: string; readonly text: string }

/** What follows from a message that was carried, soonest first. `delayMs` is one step of a person. */
export function consequencesOf(
  { line, to, text }: Letter,
  behaviour: Behaviour,
  network: { readonly delayMs: number; readonly lineCount: number },
): readonly Consequence[] {
  if (behaviour.kind !== 'carried') return []
  const deliveredMs = behaviour.acceptMs + network.delayMs
  const readMs = deliveredMs + network.delayMs
  const all: Consequence[] = []
  if (behaviour.acceptMs > 0) {
    all.push({ line, afterMs: behaviour.acceptMs, news: { kind: 'sent' } })
  }
  if (isLine(to, network.lineCount)) {
    all.push({ line: to, afterMs: deliveredMs, news: { kind: 'message', from: line, text } })
  }
  // `read` at the moment of `delivered` says both.
  const isOneStep = behaviour.isRead && readMs === deliveredMs
  if (behaviour.isDelivered && !isOneStep) {
    all.push({ line, afterMs: deliveredMs, news: { kind: 'delivered' } })
  }
  if (behaviour.isRead) all.push({ line, afterMs: readMs, news: { kind: 'read' } })
  if (behaviour.isEchoed) {
    all.push({ line, afterMs: readMs, news: { kind: 'message', from: to, text } })
  }
  return all
}
