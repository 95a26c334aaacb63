import type { Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'

type Values = Record<string, string | number>

/** Networks that are remembered, those that signed in last. */
const NETWORKS_MAX = 100

/** Whether the password was given from this network after `after`. */
export function hasSignedIn(db: Db, network: string, after: Timestamp): boolean {
  const found = db.sqlite
    .query<{ network: string }, [Values]>(
      `SELECT network FROM dashboard_networks
       WHERE network = $network AND signed_in_at > $after`,
    )
    .get({ network, after })
  return found !== null
}

/** Notes that the password was given from this network, and forgets those from before `after`. */
export function noteSignIn(
  tx: Tx,
  signIn: { readonly network: string; readonly now: Timestamp; readonly after: Timestamp },
): void {
  const { network, now, after } = signIn
  tx.sqlite
    .query<null, [Values]>(
      `INSERT INTO dashboard_networks (network, signed_in_at) VALUES ($network, $now)
       ON CONFLICT DO UPDATE SET signed_in_at = $now`,
    )
    .run({ network, now })
  tx.sqlite
    .query<null, [Values]>(
      `DELETE FROM dashboard_networks WHERE signed_in_at <= $after OR network NOT IN (
         SELECT network FROM dashboard_networks ORDER BY signed_in_at DESC LIMIT $max)`,
    )
    .run({ after, max: NETWORKS_MAX })
}
