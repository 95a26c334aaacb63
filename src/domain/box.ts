import type { BoxId, Timestamp } from './ids.ts'

/** Another machine whose devices this relay uses, as it is stored. */
export type Box = {
  readonly id: BoxId
  readonly name: string
  /** Its public nkey, which it signs in to the broker with; null until it has joined. */
  readonly publicKey: string | null
  /** The public nkey of its invitation; null once it was used or taken back. */
  readonly invitationKey: string | null
  readonly invitedUntil: Timestamp | null
  readonly createdAt: Timestamp
  readonly joinedAt: Timestamp | null
  readonly removedAt: Timestamp | null
  /** As the box last reported them; null before that. */
  readonly version: string | null
  readonly platform: string | null
  readonly lastHeardAt: Timestamp | null
}
