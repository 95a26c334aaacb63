import type { SimulatedNetwork } from './network.ts'

/** Where a line left off in the ledger. */
export type Checkpoint = {
  /** What happened up to here was told. */
  readonly position: number
  /** What happened up to here was there before the relay was. */
  readonly historyUntil: number
}

/** `identity:position:historyUntil`. */
export function checkpointText(network: SimulatedNetwork, checkpoint: Checkpoint): string {
  return `${network.identity}:${checkpoint.position}:${checkpoint.historyUntil}`
}

/** Where to go on; without a checkpoint, all that the ledger holds is history. */
export function readCheckpoint(network: SimulatedNetwork, text: string | null): Checkpoint {
  if (text === null) return { position: 0, historyUntil: network.lastPosition() }
  const [identity, position, historyUntil] = text.split(':')
  // Another ledger than the one we read from: it was made anew, so all that it holds is new.
  if (identity !== network.identity) return { position: 0, historyUntil: 0 }
  return { position: Number(position), historyUntil: Number(historyUntil) }
}
