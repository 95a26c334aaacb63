import type { Timestamp, WebhookId } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { listSecrets } from '../storage/webhook-secrets.ts'
import type { Age } from '../system/confirmed-clock.ts'
import type { Seal } from '../system/seal.ts'

/** A signing secret in the open, in memory only. */
export type SigningSecret = { readonly secret: Uint8Array; readonly retiredAt: Timestamp | null }

const SIGNS_AFTER_MS = 24 * 3_600_000
export const SECRETS_MAX = 8

/**
 * The secrets of a webhook, newest first, or null where the present one cannot be opened: then
 * nothing may go out. A retired one that cannot be opened is left out.
 */
export function openSecrets(db: Db, seal: Seal, id: WebhookId): readonly SigningSecret[] | null {
  const [present, ...retired] = listSecrets(db, id).map(({ sealed, retiredAt }) => ({
    secret: seal.open(sealed, id),
    retiredAt,
  }))
  const all = [present, ...retired].flatMap((stored): SigningSecret[] =>
    stored === undefined || stored.secret === null
      ? []
      : [{ secret: stored.secret, retiredAt: stored.retiredAt }],
  )
  return present === undefined || present.secret === null ? null : all
}

/** Those that sign now: the present one and what was retired in the last 24 hours, eight at most. */
export function signingSecrets(secrets: readonly SigningSecret[], age: Age): Uint8Array[] {
  return secrets
    .filter(({ retiredAt }) => retiredAt === null || age.ageOf(retiredAt) < SIGNS_AFTER_MS)
    .slice(0, SECRETS_MAX)
    .map(({ secret }) => secret)
}
