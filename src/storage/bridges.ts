import type { Bridge } from '../domain/bridge.ts'
import type { BridgeId, Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { prepared } from './statement.ts'

type Values = Record<string, string | number | null | Uint8Array>

/** What is stored of a new token: its hash, and the characters by which a person knows it again. */
export type NewToken = {
  readonly tokenSha256: Uint8Array
  readonly tokenHint: string
  readonly tokenCreatedAt: Timestamp
}

export type NewBridge = NewToken &
  Pick<Bridge, 'id' | 'number' | 'label' | 'createdBy' | 'createdAt'>

/** What authentication asks of a token. */
export type TokenOwner = { readonly id: BridgeId; readonly revokedAt: Timestamp | null }

/** A bridge in a list, with its place in it. */
export type ListedBridge = Bridge & { readonly seq: number }

const COLUMNS = `rowid AS seq, id, phone_number AS number, label, token_hint AS tokenHint,
  created_by AS createdBy, created_at AS createdAt, token_created_at AS tokenCreatedAt,
  last_heard_at AS lastHeardAt, revoked_at AS revokedAt`

export function insertBridge(tx: Tx, bridge: NewBridge): void {
  tx.sqlite
    .query(
      `INSERT INTO bridges (id, phone_number, label, token_sha256, token_hint, created_by,
         created_at, token_created_at)
       VALUES ($id, $number, $label, $tokenSha256, $tokenHint, $createdBy, $createdAt,
         $tokenCreatedAt)`,
    )
    .run({ ...bridge })
}

const byToken = prepared(({ sqlite }) =>
  sqlite.prepare<TokenOwner, [Values]>(
    'SELECT id, revoked_at AS revokedAt FROM bridges WHERE token_sha256 = $tokenSha256',
  ),
)

/** Asked for every call of a shortcut: a token that was replaced fails at once. */
export function findTokenOwner(db: Db, tokenSha256: Uint8Array): TokenOwner | null {
  return byToken(db).get({ tokenSha256 })
}

/** The bridges that are not removed: each of them is a line. */
export function listLiveBridges(
  db: Db,
): readonly { readonly key: BridgeId; readonly number: string }[] {
  return db.sqlite
    .query<{ key: BridgeId; number: string }, []>(
      'SELECT id AS key, phone_number AS number FROM bridges WHERE revoked_at IS NULL ORDER BY rowid',
    )
    .all()
}

export function hasBridge(db: Db, number: string): boolean {
  const sql = 'SELECT 1 FROM bridges WHERE phone_number = $number AND revoked_at IS NULL'
  return db.sqlite.query<object, [Values]>(sql).get({ number }) !== null
}

export function getBridge(db: Db, id: string): ListedBridge | null {
  return db.sqlite
    .query<ListedBridge, [Values]>(`SELECT ${COLUMNS} FROM bridges WHERE id = $id`)
    .get({ id })
}

/** Bridges newest first, the removed ones too; `before` is the cursor's seq. */
export function listBridges(
  db: Db,
  page: { readonly limit: number; readonly before: number | null },
): readonly ListedBridge[] {
  return db.sqlite
    .query<ListedBridge, [Values]>(
      `SELECT ${COLUMNS} FROM bridges WHERE rowid < $before ORDER BY rowid DESC LIMIT $limit`,
    )
    .all({ limit: page.limit, before: page.before ?? Number.MAX_SAFE_INTEGER })
}

/** The token before it is good no more. */
export function replaceToken(tx: Tx, id: BridgeId, token: NewToken): void {
  tx.sqlite
    .query(
      `UPDATE bridges SET token_sha256 = $tokenSha256, token_hint = $tokenHint,
         token_created_at = $tokenCreatedAt WHERE id = $id`,
    )
    .run({ id, ...token })
}

/** A bridge that is removed already stays as it is. */
export function markBridgeRevoked(tx: Tx, id: BridgeId, now: Timestamp): void {
  tx.sqlite
    .query('UPDATE bridges SET revoked_at = $now WHERE id = $id AND revoked_at IS NULL')
    .run({ id, now })
}

const hearing = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>('UPDATE bridges SET last_heard_at = $at WHERE id = $id'),
)

export function saveLastHeard(tx: Tx, id: BridgeId, at: Timestamp): void {
  hearing(tx).run({ id, at })
}
