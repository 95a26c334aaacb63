import type { BridgeId, Timestamp } from './ids.ts'

/**
 * The way by which the shortcuts of an iPhone reach the relay, as it is listed: the token is stored as
 * its SHA-256 only.
 */
export type Bridge = {
  readonly id: BridgeId
  /** Of the line that it is, in E.164. */
  readonly number: string
  readonly label: string | null
  /** The first characters of the token. */
  readonly tokenHint: string
  readonly createdBy: string
  readonly createdAt: Timestamp
  readonly tokenCreatedAt: Timestamp
  /** When a shortcut last called, right to the minute. */
  readonly lastHeardAt: Timestamp | null
  readonly revokedAt: Timestamp | null
}

export const BRIDGE_TOKEN_PREFIX = 'hlb_'
export const BRIDGE_LABEL_LENGTH_MAX = 100
