// After a restore, everything that the owner ended since the backup stays ended. It is known from the audit trail,
// which a restore keeps. Renewed secrets are copied from the replaced database.

import type { Database } from 'bun:sqlite'

import type { AuditAction } from '../domain/audit.ts'
import type { Timestamp } from '../domain/ids.ts'
import { auditedUrl, keepTrail } from './audit.ts'
import { rowsAt } from './database.ts'
import type { Values } from './statement.ts'

/** Something that has access to the relay or its events again, and the command that ends that. */
export type CameBack = {
  readonly kind: keyof typeof COMMANDS
  readonly id: string
  readonly name: string
  readonly revoke: string
}

const COMMANDS = {
  key: 'hookline keys revoke',
  bridge: 'hookline bridges remove',
  box: 'hookline boxes remove',
  webhook: 'hookline webhooks remove',
  member: 'hookline members remove',
} as const

/** SQL: the ids in the audit entries with these actions. */
function about(actions: readonly AuditAction[], condition = 'true'): string {
  const names = actions.map((action) => `'${action}'`).join(', ')
  return `(SELECT about_id FROM audit WHERE action IN (${names}) AND ${condition})`
}

const ever = (...actions: readonly AuditAction[]) => about(actions)
const since = (...actions: readonly AuditAction[]) => about(actions, 'seq > $above')

/** SQL: whether a webhook got another URL or fewer rights since the backup; if so, it comes back paused. */
const NARROWED = `seq > $above AND (after ->> '$.is_active' = 0 OR json_type(after, '$.url') IS NOT NULL
  OR json_type(after, '$.attachment_links') IS NOT NULL
  OR json_type(after, '$.phone_line_ids') IS NOT NULL OR json_type(after, '$.site_ids') IS NOT NULL)`

/** SQL: whether a line was moved to another site, or out of its site, since the backup; it comes back without one. */
const MOVED = `seq > $above AND (json_type(before, '$.site_id') IS NOT NULL OR json_type(after, '$.site_id') IS NOT NULL)`

const ENDS: readonly string[] = [
  `UPDATE credentials SET revoked_at = $now
   WHERE revoked_at IS NULL AND id IN ${ever('key.revoked', 'bridge.removed')}`,
  `UPDATE credentials SET secret_sha256 = randomblob(32) WHERE id IN ${since('bridge.token_renewed')}`,
  `UPDATE boxes SET removed_at = $now WHERE removed_at IS NULL AND id IN ${ever('box.removed')}`,
  // No invitation works again. Until a box joins, its key is that of its invitation.
  'UPDATE boxes SET invitation_key = NULL, invited_until = NULL',
  'UPDATE boxes SET public_key = NULL WHERE joined_at IS NULL',
  `UPDATE webhooks SET deleted_at = $now, is_active = 0, updated_at = $now
   WHERE deleted_at IS NULL AND id IN ${ever('webhook.deleted')}`,
  `UPDATE webhooks SET is_active = 0, disabled_reason = NULL, paused_at = coalesce(paused_at, $now)
   WHERE id IN ${about(['webhook.changed'], NARROWED)}`,
  `DELETE FROM webhook_secrets WHERE webhook_id IN ${ever('webhook.deleted')}
   OR webhook_id IN ${since('webhook.secret_rotated')}`,
  `UPDATE lines SET site_seq = NULL WHERE id IN ${about(['line.changed'], MOVED)}`,
  `DELETE FROM alert_channels WHERE id IN ${ever('alert_channel.removed')}`,
  // No sign-in link works again.
  'UPDATE dashboard_members SET link_sha256 = NULL',
  `UPDATE dashboard_members SET password_hash = NULL WHERE id IN ${since('password.set')}`,
  `UPDATE dashboard_members SET removed_at = $now, password_hash = NULL
   WHERE id IN ${ever('member.removed')}`,
  `UPDATE lines SET deleted_at = $now WHERE deleted_at IS NULL AND id IN ${ever('line.deleted')}`,
  // If a line was paused and resumed, the last entry counts.
  `UPDATE lines SET is_enabled = 0 WHERE 0 = (SELECT after ->> '$.is_enabled' FROM audit
     WHERE action = 'line.changed' AND about_id = lines.id
       AND json_type(after, '$.is_enabled') IS NOT NULL ORDER BY seq DESC LIMIT 1)`,
  `UPDATE attachments SET state = 'deleted'
   WHERE state IN ('available', 'missing') AND id IN ${ever('attachment.deleted')}`,
]

/** Rows of the replaced database, and the statement that copies each of them. */
const TAKEN_OVER: readonly (readonly [rows: string, take: string])[] = [
  [
    'SELECT id, secret_sha256 AS secret, hint, secret_created_at AS at FROM credentials',
    `UPDATE credentials SET secret_sha256 = $secret, hint = $hint, secret_created_at = $at
     WHERE id = $id AND id IN ${since('bridge.token_renewed')}`,
  ],
  [
    'SELECT webhook_id AS id, sealed, created_at AS at, retired_at AS retired FROM webhook_secrets ORDER BY seq',
    `INSERT INTO webhook_secrets (webhook_id, sealed, created_at, retired_at)
     SELECT id, $sealed, $at, $retired FROM webhooks
     WHERE id = $id AND deleted_at IS NULL AND id IN ${since('webhook.secret_rotated')}`,
  ],
  [
    'SELECT id, password_hash AS hash FROM dashboard_members WHERE removed_at IS NULL',
    `UPDATE dashboard_members SET password_hash = $hash
     WHERE id = $id AND removed_at IS NULL AND id IN ${since('password.set')}`,
  ],
  [
    'SELECT id, site_ids AS sites FROM dashboard_members',
    `UPDATE dashboard_members SET site_ids = $sites
     WHERE id = $id AND id IN ${since('member.changed')}`,
  ],
  // Not taken from another relay's database, such as that of a new relay whose data are replaced at once.
  [
    'SELECT password_hash AS hash, password_set_at AS at FROM dashboard_owner',
    `UPDATE dashboard_owner SET password_hash = $hash, password_set_at = $at
     WHERE $isSame AND password_set_at <= $at`,
  ],
  // The second factor, so that no code works twice, and a factor turned on or off since the backup stays so.
  [
    'SELECT totp_sealed AS sealed, totp_step AS step, recovery_sha256 AS codes FROM dashboard_owner',
    `UPDATE dashboard_owner SET totp_sealed = $sealed, totp_step = $step, recovery_sha256 = $codes
     WHERE $isSame`,
  ],
  [
    'SELECT id FROM conversations WHERE automation_paused = 1',
    'UPDATE conversations SET automation_paused = 1 WHERE id = $id',
  ],
]

/**
 * Ends again everything that the audit trails of this database and of the one at `path` say was ended. If that one
 * can't be read, or is another relay's, returns everything that may have been ended since the backup.
 */
export function endAgain(sqlite: Database, path: string, now: Timestamp): readonly CameBack[] {
  const trail = keepTrail(sqlite, path)
  for (const end of ENDS) sqlite.query<null, [Values]>(end).run({ now, above: trail.above })
  for (const [rows, take] of TAKEN_OVER) {
    const taking = sqlite.query<null, [Values]>(take)
    for (const row of rowsAt<Values>(path, rows) ?? []) taking.run({ ...row, ...trail })
  }
  if (trail.isSame) return []
  return sqlite
    .query<Omit<CameBack, 'revoke'>, []>(VALID)
    .all()
    .map(({ kind, id, name }) => ({
      kind,
      id,
      name: kind === 'webhook' ? auditedUrl(name) : name,
      revoke: `${COMMANDS[kind]} ${id}`,
    }))
}

const VALID = `SELECT kind, id, coalesce(name, phone_number, id) AS name FROM credentials
     WHERE revoked_at IS NULL
   UNION ALL SELECT 'box', id, name FROM boxes WHERE removed_at IS NULL
   UNION ALL SELECT 'webhook', id, url FROM webhooks WHERE deleted_at IS NULL
   UNION ALL SELECT 'member', id, name FROM dashboard_members WHERE removed_at IS NULL`
