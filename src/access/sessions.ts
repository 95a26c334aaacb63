import type { Actor } from '../domain/audit.ts'
import { timestamp, type MemberId, type Timestamp } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'
import {
  deleteOtherSessions,
  deleteSession,
  deleteSessionsOf,
  findSession,
  listSessions,
  insertSession,
  keepLatestSessions,
  updateSession,
  type SessionRow,
} from '../storage/dashboard-access.ts'
import type { Tx } from '../storage/database.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'

/** A browser that is signed in. */
export type DashboardSession = {
  /** The hash of its token, which identifies the session and can't open it. */
  readonly tokenSha256: Uint8Array
  /** Until then the password needn't be given again; null if it must be. */
  readonly elevatedUntil: Timestamp | null
  /** True if the session was not seen for an hour, so that the cookie should be set again. */
  readonly isStale: boolean
  /** Null for the owner. */
  readonly memberId: MemberId | null
}

export function sessionActor(session: DashboardSession): Actor {
  const { memberId } = session
  return memberId === null
    ? { kind: 'dashboard', id: shortId(session) }
    : { kind: 'member', id: memberId }
}

/** The name of a session in the audit trail: the start of its hash, which can't open it. */
export function shortId({ tokenSha256 }: Pick<DashboardSession, 'tokenSha256'>): string {
  return `ses_${Buffer.from(tokenSha256).toString('hex').slice(0, 8)}`
}

/**
 * A session needs both. The token is the cookie, which a browser sends to every port of the host; the page key is kept
 * by the page itself, and only pages of the same port can read it.
 */
type SessionKeys = { readonly token: string; readonly pageKey: string }

/** The only moment when the keys are known: the database stores their hashes. */
export type NewSession = SessionKeys & { readonly session: DashboardSession }

/** Counts from the last use. */
export const SESSION_LIFE_MS = 7 * 86_400_000
/** Counts from the sign-in, however often the session is used. */
const SESSION_LIFE_MAX_MS = 30 * 86_400_000
const ELEVATION_MS = 3_600_000
const SEEN_EVERY_MS = 3_600_000
export const SESSIONS_MAX = 25

/** The dashboard sessions: rows in the database, and a signal for the end of each. */
export class DashboardSessions {
  readonly #core: Core
  /** The sessions with a watcher, by hash in hexadecimal: at most 25 for each person, as many as rows. */
  readonly #watched = new Map<string, { readonly id: Uint8Array; readonly end: AbortController }>()

  constructor(core: Core) {
    this.#core = core
  }

  /** The session that the keys open; null if a key is wrong, or if the session has ended or expired. */
  find({ token, pageKey }: SessionKeys): DashboardSession | null {
    const tokenSha256 = sha256(token)
    const row = this.#living(tokenSha256)
    if (row === null || row.pageKeySha256 === null) return null
    if (!equalBytes(row.pageKeySha256, sha256(pageKey))) return null
    const now = this.#core.ids.now()
    const elevatedUntil = row.elevatedUntil > now ? row.elevatedUntil : null
    const isStale = row.lastSeenAt <= now - SEEN_EVERY_MS
    return { tokenSha256, elevatedUntil, isStale, memberId: row.memberId }
  }

  /** All open sessions, the one seen last first. */
  list(): readonly SessionRow[] {
    const { db, clock, ids } = this.#core
    const now = ids.now()
    const seen = listSessions(db, timestamp(clock.ago(SESSION_LIFE_MS, now)))
    return seen.filter(({ createdAt }) => createdAt > clock.ago(SESSION_LIFE_MAX_MS, now))
  }

  isOpen({ tokenSha256 }: DashboardSession): boolean {
    return this.#living(tokenSha256) !== null
  }

  /** A signal that aborts when the session is ended, but not when it expires. */
  endOf({ tokenSha256 }: DashboardSession): AbortSignal {
    if (findSession(this.#core.db, tokenSha256) === null) return AbortSignal.abort()
    const name = Buffer.from(tokenSha256).toString('hex')
    const known = this.#watched.get(name) ?? { id: tokenSha256, end: new AbortController() }
    this.#watched.set(name, known)
    return known.end.signal
  }

  /** Opens the owner's session without a password, in `hookline fake`. */
  openFreely(): Promise<NewSession> {
    return this.#core.writer.write((tx) => this.open(tx))
  }

  open(tx: Tx, memberId: MemberId | null = null): NewSession {
    const { clock, random, ids } = this.#core
    const [token, pageKey] = [secret(random), secret(random)]
    const tokenSha256 = sha256(token)
    const now = ids.now()
    const elevatedUntil = timestamp(now + ELEVATION_MS)
    keepLatestSessions(tx, timestamp(clock.ago(SESSION_LIFE_MS, now)), SESSIONS_MAX - 1, memberId)
    const times = { createdAt: now, lastSeenAt: now, elevatedUntil }
    insertSession(tx, { tokenSha256, pageKeySha256: sha256(pageKey), memberId, ...times })
    this.#signalEndsAfterCommit()
    return { token, pageKey, session: { tokenSha256, elevatedUntil, isStale: false, memberId } }
  }

  /** Ends every session but `kept`; all if `kept` is null. */
  endOthers(tx: Tx, kept: DashboardSession | null): void {
    deleteOtherSessions(tx, kept?.tokenSha256 ?? null)
    this.#signalEndsAfterCommit()
  }

  endAllOf(tx: Tx, memberId: MemberId): void {
    deleteSessionsOf(tx, memberId)
    this.#signalEndsAfterCommit()
  }

  end(tx: Tx, session: Pick<DashboardSession, 'tokenSha256'>): void {
    deleteSession(tx, session.tokenSha256)
    this.#signalEndsAfterCommit()
  }

  /** Called when the password was given: it isn't asked for again for an hour. */
  elevate(tx: Tx, session: DashboardSession): DashboardSession {
    const elevatedUntil = timestamp(this.#core.ids.now() + ELEVATION_MS)
    updateSession(tx, session.tokenSha256, { elevatedUntil })
    return { ...session, elevatedUntil }
  }

  /** Notes a use of the session, which restarts its seven days. */
  async keep({ tokenSha256 }: DashboardSession): Promise<void> {
    const { writer, ids } = this.#core
    await writer.write((tx) => updateSession(tx, tokenSha256, { lastSeenAt: ids.now() }))
  }

  #living(tokenSha256: Uint8Array): SessionRow | null {
    const { db, clock, ids } = this.#core
    const row = findSession(db, tokenSha256)
    if (row === null) return null
    const now = ids.now()
    const isUnused = row.lastSeenAt <= clock.ago(SESSION_LIFE_MS, now)
    return isUnused || row.createdAt <= clock.ago(SESSION_LIFE_MAX_MS, now) ? null : row
  }

  #signalEndsAfterCommit(): void {
    this.#core.writer.afterCommit(() => {
      for (const [name, { id, end }] of this.#watched) {
        if (findSession(this.#core.db, id) !== null) continue
        this.#watched.delete(name)
        end.abort()
      }
    })
  }
}

function secret(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url')
}
