import type { LineId } from './ids.ts'
import type { DriverKind } from './line.ts'

/** A line as routing sees it, in order of creation. */
export type RoutingLine = {
  readonly id: LineId
  readonly driver: DriverKind
  readonly isEnabled: boolean
  readonly isOnline: boolean
  /** Asked only of an online line. */
  readonly imessageActive: boolean
  /** Whether this start asked for the line; always true of real ones. */
  readonly isConfigured: boolean
}

export type Route =
  | { readonly route: 'take'; readonly lineId: LineId }
  /** No line is online: it is queued on this one. */
  | { readonly route: 'queue'; readonly lineId: LineId }
  /** Every line that is available otherwise has spent its contacts of the day. */
  | { readonly route: 'full'; readonly lineId: LineId }
  | { readonly route: 'none' }

/**
 * The line for a message that names none: the first available one that is online, else the first
 * available one. Available = enabled, iMessage active, with budget, configured, and not simulated
 * while an enabled line of another kind exists. `lines` are in order of creation.
 */
export function chooseLine(
  lines: readonly RoutingLine[],
  hasBudget: (id: LineId) => boolean,
): Route {
  const usable = usableLines(lines)
  const first = usable[0]
  if (first === undefined) return { route: 'none' }

  const active = usable.filter((line) => !line.isOnline || line.imessageActive)
  const withBudget = active.filter((line) => hasBudget(line.id))
  const online = withBudget.find((line) => line.isOnline)
  if (online !== undefined) return { route: 'take', lineId: online.id }
  const waiting = withBudget[0]
  if (waiting !== undefined) return { route: 'queue', lineId: waiting.id }
  const full = active[0]
  if (full !== undefined) return { route: 'full', lineId: full.id }
  return { route: 'queue', lineId: first.id }
}

/** The lines that a message without a line may take at all, whatever their state now. */
export function usableLines(lines: readonly RoutingLine[]): readonly RoutingLine[] {
  const enabled = lines.filter((line) => line.isEnabled && line.isConfigured)
  const real = enabled.filter((line) => line.driver !== 'simulated')
  return real.length > 0 ? real : enabled
}
