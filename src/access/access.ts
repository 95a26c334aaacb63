// Access to the dashboard: the owner, who sets a password by a link that only the machine itself gives
// out, the members, and the browsers that signed in.

import { RELAY_ITSELF, type Origin, type Thing } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import { recordedIfRoom, type Audit } from '../storage/audit.ts'
import {
  hasSignedIn,
  noteSignIn,
  getOwner,
  savePassword,
  saveSetupStep,
  updateMember,
} from '../storage/dashboard-access.ts'
import type { Tx } from '../storage/database.ts'
import type { Clock } from '../system/clock.ts'
import type { PasswordHash } from '../system/hash.ts'
import type { Log } from '../system/log.ts'
import { networkOf } from '../system/network-address.ts'
import {
  accountKey,
  accountNamed,
  accountOf,
  createMembers,
  memberOfLink,
  type Account,
} from './members.ts'
import {
  LoginRateLimiter,
  Passwords,
  passwordFindings,
  requireFit,
  type Guesser,
} from './passwords.ts'
import {
  DashboardSessions,
  sessionActor,
  shortId,
  type DashboardSession,
  type NewSession,
  type SessionTools,
} from './sessions.ts'
import { SetupLink } from './setup-link.ts'

export type Access = ReturnType<typeof createAccess>

export type Client = Origin & {
  /** It runs on this machine, beyond doubt. */
  readonly isLocal: boolean
}

type Tools = SessionTools & {
  readonly clock: Clock
  readonly log: Log
  readonly audit: Audit
  readonly passwordHash: PasswordHash
  /** The password that the options set, which nothing else may then change. */
  readonly lockedPassword: string | null
}

/** The page of the setup that comes first once there is a password. */
const FIRST_STEP = 'permissions'
const DASHBOARD: Thing = { kind: 'dashboard', id: null }
const EVERY_SESSION: Thing = { kind: 'session', id: null }
const BY_LINK = { by: 'setup_link' }
const BY_OPTION = { by: 'HOOKLINE_ADMIN_PASSWORD' }
/** Lifetime of a network's own share of the guesses after a sign-in. */
const KNOWN_FOR_MS = 30 * 86_400_000

export function createAccess(tools: Tools) {
  const { db, writer, audit, lockedPassword } = tools
  const parts = {
    ...tools,
    sessions: new DashboardSessions(tools),
    passwords: new Passwords(tools.passwordHash),
    limiter: new LoginRateLimiter(tools.clock),
    link: new SetupLink(tools),
  }
  const sessions: Pick<DashboardSessions, 'find' | 'list' | 'isOpen' | 'endOf' | 'keep'> =
    parts.sessions
  return {
    sessions,
    members: createMembers(parts),
    hasPassword: () => getOwner(db) !== null,
    setupStep: () => getOwner(db)?.setupStep ?? null,
    saveSetupStep: (step: string | null) => writer.write((tx) => saveSetupStep(tx, step)),
    /** Makes the link that sets the password; earlier ones become invalid. */
    async createSetupToken(origin: Origin) {
      requireUnlocked(lockedPassword)
      const change = { action: 'setup_link.created', about: DASHBOARD } as const
      await writer.write((tx) => audit.record(tx, origin, change))
      return parts.link.create()
    },
    /** Sets the password with a setup link's token, and ends all sessions but the new one. */
    setUp: (setup: { readonly token: string; readonly password: string }, client: Client) =>
      setUp(parts, setup, client),
    /** As the owner where no name is given. */
    signIn: (given: Credentials, client: Client) => signIn(parts, given, client),
    /** Takes the password once more, for requests that ask for it after an hour. */
    async elevate(session: DashboardSession, password: string, client: Client) {
      const proof = await requireRight(parts, password, { client, session })
      return writer.write((tx) => {
        requireStillRight(tx, proof)
        audit.record(tx, client, { action: 'session.elevated', about: sessionThing(session) })
        return parts.sessions.elevate(tx, session)
      })
    },
    /** Ends all other sessions. */
    changePassword: (
      session: DashboardSession,
      change: { readonly current: string; readonly password: string },
      client: Client,
    ) => changePassword(parts, session, { ...change, client }),
    signOut: (session: DashboardSession, origin: Origin) =>
      writer.write((tx) => {
        audit.record(tx, origin, { action: 'session.ended', about: sessionThing(session) })
        parts.sessions.end(tx, session)
      }),
    signOutEverywhere: (origin: Origin) =>
      writer.write((tx) => {
        audit.record(tx, origin, { action: 'session.ended', about: EVERY_SESSION })
        parts.sessions.endOthers(tx, null)
      }),
    /** Makes the password of the options the owner's, where there is one. */
    applyLockedPassword: () => applyLockedPassword(parts),
  }
}

type Parts = Tools & {
  readonly sessions: DashboardSessions
  readonly passwords: Passwords
  readonly limiter: LoginRateLimiter
  readonly link: SetupLink
}

async function setUp(
  parts: Parts,
  { token, password }: { readonly token: string; readonly password: string },
  client: Client,
): Promise<NewSession> {
  const taken = parts.link.take(token)
  if (taken === null) return joinByLink(parts, { token, password }, client)
  try {
    requireFit(password)
    const passwordHash = await parts.passwords.make(password)
    return await parts.writer.write((tx) => {
      savePassword(tx, { passwordHash, passwordSetAt: parts.ids.now(), setupStep: FIRST_STEP })
      parts.sessions.endOthers(tx, null)
      noteNetwork(parts, tx, client)
      const opened = parts.sessions.open(tx)
      const origin = openedBy(opened, client)
      parts.audit.record(tx, origin, { action: 'password.set', about: DASHBOARD, after: BY_LINK })
      return opened
    })
  } catch (error) {
    taken.restore()
    throw error
  }
}

/** Sets the password of the member whose link it is, and ends their other sessions. */
async function joinByLink(
  parts: Parts,
  { token, password }: { readonly token: string; readonly password: string },
  client: Client,
): Promise<NewSession> {
  if (memberOfLink(parts, parts.db, token) === null) throw linkInvalid()
  requireFit(password)
  const passwordHash = await parts.passwords.make(password)
  return parts.writer.write((tx) => {
    // Hashing takes a while, in which the link may have been used or replaced.
    const member = memberOfLink(parts, tx, token)
    if (member === null) throw linkInvalid()
    const about = { kind: 'member', id: member.id } as const
    updateMember(tx, member.id, { passwordHash, linkSha256: null })
    parts.sessions.endAllOf(tx, member.id)
    noteNetwork(parts, tx, client)
    const opened = parts.sessions.open(tx, member.id)
    const origin = openedBy(opened, client)
    parts.audit.record(tx, origin, { action: 'password.set', about, after: BY_LINK })
    return opened
  })
}

/** `name` is that of a member; left out by the owner. */
type Credentials = { readonly name?: string | undefined; readonly password: string }

async function signIn(
  parts: Parts,
  { name, password }: Credentials,
  client: Client,
): Promise<NewSession> {
  const proof = await requireRight(parts, password, { client, session: null, name })
  return parts.writer.write((tx) => {
    requireStillRight(tx, proof)
    noteNetwork(parts, tx, client)
    const opened = parts.sessions.open(tx, proof.memberId)
    const about = sessionThing(opened.session)
    parts.audit.record(tx, openedBy(opened, client), { action: 'session.created', about })
    return opened
  })
}

async function changePassword(
  parts: Parts,
  session: DashboardSession,
  change: { readonly current: string; readonly password: string; readonly client: Client },
): Promise<DashboardSession> {
  requireUnlocked(parts.lockedPassword)
  requireFit(change.password)
  const { client } = change
  const proof = await requireRight(parts, change.current, { client, session })
  const passwordHash = await parts.passwords.make(change.password)
  return parts.writer.write((tx) => {
    requireStillRight(tx, proof)
    savePassword(tx, { passwordHash, passwordSetAt: parts.ids.now(), setupStep: FIRST_STEP })
    parts.sessions.endOthers(tx, session)
    parts.audit.record(tx, client, { action: 'password.changed', about: DASHBOARD })
    return parts.sessions.elevate(tx, session)
  })
}

async function applyLockedPassword(parts: Parts): Promise<void> {
  const { db, writer, ids, audit, passwords, sessions, lockedPassword } = parts
  if (lockedPassword === null) return
  for (const { title, why, fix } of passwordFindings(lockedPassword)) {
    parts.log.warn(title, { why, fix })
  }
  const owner = getOwner(db)
  if (owner !== null && (await passwords.fits(lockedPassword, owner.passwordHash))) return
  const passwordHash = await passwords.make(lockedPassword)
  await writer.write((tx) => {
    savePassword(tx, { passwordHash, passwordSetAt: ids.now(), setupStep: FIRST_STEP })
    sessions.endOthers(tx, null)
    audit.record(tx, RELAY_ITSELF, { action: 'password.set', about: DASHBOARD, after: BY_OPTION })
  })
}

/** The account that a password was found to fit. */
type Proof = Account

/** Throws `wrong_password`, or `rate_limit_exceeded` without looking at the password. */
async function requireRight(parts: Parts, password: string, guess: Guess): Promise<Proof> {
  const owner = getOwner(parts.db)
  if (owner === null) throw wrongPassword('No password is set yet. Use a setup link to set one.')
  const account = accountNamed(parts.db, guess.name)
  const attempt = parts.limiter.begin(guesserOf(parts, guess))
  // A look at a name that is unknown takes as long.
  const isFit = await parts.passwords.fits(password, (account ?? owner).passwordHash)
  if (account === null || !isFit) {
    parts.log.warn('dashboard password was wrong', { address: guess.client.address })
    await recordedIfRoom(parts.writer.write((tx) => parts.audit.recordRefusal(tx, guess.client)))
    throw wrongPassword(guess.name ? 'Incorrect name or password.' : 'Incorrect password.')
  }
  attempt.succeed()
  return account
}

/** A password that is given; the session is null where it is to begin one. */
type Guess = {
  readonly client: Client
  readonly session: DashboardSession | null
  readonly name?: string | undefined
}

/**
 * Strangers use up no share but their own, so that they cannot keep the owner out. Each account is counted
 * for itself: a member's own password makes up for no guesses at another.
 */
function guesserOf({ db, clock, ids }: Parts, { client, session, name }: Guess): Guesser {
  if (session !== null) {
    return { name: `session ${Buffer.from(session.tokenSha256).toString('hex')}`, share: 'session' }
  }
  const account = accountKey(name)
  if (client.isLocal) return { name: `this machine ${account}`, share: 'local' }
  const network = networkOf(client.address ?? 'unknown')
  const isKnown = hasSignedIn(db, network, timestamp(clock.ago(KNOWN_FOR_MS, ids.now())))
  return { name: `${network} ${account}`, share: isKnown ? 'known' : 'strangers' }
}

function noteNetwork({ clock, ids }: Parts, tx: Tx, { address, isLocal }: Client): void {
  if (isLocal) return
  const now = ids.now()
  noteSignIn(tx, {
    network: networkOf(address ?? 'unknown'),
    now,
    after: timestamp(clock.ago(KNOWN_FOR_MS, now)),
  })
}

/** The actor of a sign-in is the session that it begins, or its member. */
function openedBy({ session }: NewSession, origin: Origin): Origin {
  return { ...origin, actor: sessionActor(session) }
}

function sessionThing(session: DashboardSession): Thing {
  return { kind: 'session', id: shortId(session) }
}

/** Checking a password takes a while, in which it may have been changed. */
function requireStillRight(tx: Tx, proof: Proof): void {
  if (accountOf(tx, proof.memberId)?.passwordHash === proof.passwordHash) return
  throw wrongPassword('The password was changed just now.')
}

function requireUnlocked(lockedPassword: string | null): void {
  if (lockedPassword === null) return
  const message = 'is set by HOOKLINE_ADMIN_PASSWORD: change it there and restart the relay'
  throw invalidRequest({ path: 'password', message })
}

function wrongPassword(message: string): RelayError {
  return new RelayError('wrong_password', message)
}

function linkInvalid(): RelayError {
  const message =
    'This setup link was already used, was replaced, or has expired. A member gets a new one from the ' +
    'owner; the owner, on the machine itself: hookline setup-link'
  return new RelayError('setup_link_invalid', message)
}
