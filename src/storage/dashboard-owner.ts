import type { Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'

type Values = Record<string, string | number | null>

export type DashboardOwner = {
  readonly passwordHash: string
  /** The step of the set-up that comes next; null once it is done. */
  readonly setupStep: string | null
}

/** The owner of the relay; null until a password is set. */
export function getOwner(db: Db): DashboardOwner | null {
  return db.sqlite
    .query<DashboardOwner, []>(
      `SELECT password_hash AS passwordHash, setup_step AS setupStep FROM dashboard_owner
       WHERE id = 1`,
    )
    .get()
}

/** Sets the password; the first one begins the set-up at `firstStep`. */
export function savePassword(
  tx: Tx,
  password: {
    readonly passwordHash: string
    readonly firstStep: string
    readonly now: Timestamp
  },
): void {
  tx.sqlite
    .query<null, [Values]>(
      `INSERT INTO dashboard_owner (id, password_hash, password_set_at, setup_step)
       VALUES (1, $passwordHash, $now, $firstStep)
       ON CONFLICT DO UPDATE SET password_hash = $passwordHash, password_set_at = $now`,
    )
    .run({ ...password })
}

export function saveSetupStep(tx: Tx, step: string | null): void {
  tx.sqlite
    .query<null, [Values]>('UPDATE dashboard_owner SET setup_step = $step WHERE id = 1')
    .run({ step })
}
