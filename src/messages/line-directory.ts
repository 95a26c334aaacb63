import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import type { QueuedReason, OutgoingMessage } from '../domain/message.ts'
import { unmetNeed, type Need, type RoutingLine } from '../domain/routing.ts'
import type { PointOfNoReturn, SendOutcome } from '../lines/driver.ts'
import type { LineSnapshot } from '../lines/line-state.ts'

/** Lines as messages see them; the supervisor implements it. */
export type LineDirectory = {
  /** Names of the kinds that are not real. */
  readonly practiceKinds: readonly string[]
  /** In order of creation. */
  lines(): readonly LineSnapshot[]
  find(id: string): LineSnapshot | null
  /** True where the device has history with `handle`; null when it cannot be asked in time. */
  knows(id: LineId, handle: Handle): Promise<boolean | null>
  send(
    id: LineId,
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
  ): Promise<{ readonly outcome: SendOutcome; readonly isSessionOver: boolean }>
}

export function toRoutingLine({ line, state, isReal, isConfigured }: LineSnapshot): RoutingLine {
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
export function takesMessages({ line, state }: LineSnapshot): boolean {
  return line.isEnabled && state.status === 'online' && state.imessageActive
}

/** The first need that the line does not meet now, or that its kind does not where it is offline. */
export function needUnmetBy(
  { state, abilities }: LineSnapshot,
  needs: readonly Need[],
): Need | null {
  return unmetNeed(state.status === 'online' ? state.capabilities : abilities, needs)
}

/** The reason of its line, for a message that waits without one of its own; null where the line is ready. */
export function waitReasonOf(
  directory: Pick<LineDirectory, 'find'>,
  lineId: LineId,
  hasRoom: boolean,
): QueuedReason | null {
  const found = directory.find(lineId)
  if (found !== null && !found.line.isEnabled) return 'line_disabled'
  if (found === null || !takesMessages(found)) return 'line_offline'
  return hasRoom ? null : 'storage_full'
}
