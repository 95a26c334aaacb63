import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import type { Line, LineState } from '../domain/line.ts'
import type { QueuedReason, OutgoingMessage } from '../domain/message.ts'
import type { RoutingLine } from '../domain/routing.ts'
import type { PointOfNoReturn, SendOutcome } from '../lines/driver.ts'

/** A line and what it is doing now. */
export type BoardLine = {
  readonly line: Line
  readonly state: LineState
  /** Practice lines are not real. */
  readonly isReal: boolean
  /** This start asked for it. */
  readonly isConfigured: boolean
  /** Sends that it may have in flight; 0 while it has no session. */
  readonly capacity: number
}

/** The lines as messages see them; the supervisor is one. */
export type LineBoard = {
  /** Names of the kinds that are not real. */
  readonly practiceKinds: readonly string[]
  /** In order of creation. */
  lines(): readonly BoardLine[]
  find(id: string): BoardLine | null
  /** True where the device has history with `handle`; null when it cannot be asked in time. */
  knows(id: LineId, handle: Handle): Promise<boolean | null>
  send(
    id: LineId,
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
  ): Promise<{ readonly outcome: SendOutcome; readonly isSessionOver: boolean }>
}

export function toRoutingLine({ line, state, isReal, isConfigured }: BoardLine): RoutingLine {
  return {
    id: line.id,
    isReal,
    isEnabled: line.isEnabled,
    isOnline: state.status === 'online',
    imessageActive: state.status === 'online' && state.imessageActive,
    isConfigured,
  }
}

/** True where dispatch may give the line a message now. */
export function takesMessages({ line, state }: BoardLine): boolean {
  return line.isEnabled && state.status === 'online' && state.imessageActive
}

/** The reason of its line, for a message that waits without a reason of its own; null where the line is ready. */
export function waitReasonOf(
  board: Pick<LineBoard, 'find'>,
  lineId: LineId,
  hasRoom: boolean,
): QueuedReason | null {
  const found = board.find(lineId)
  if (found !== null && !found.line.isEnabled) return 'line_disabled'
  if (found === null || !takesMessages(found)) return 'line_offline'
  return hasRoom ? null : 'storage_full'
}
