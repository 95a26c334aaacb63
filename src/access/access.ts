// Who may see the dashboard: the one owner, who has set a password by a link that only somebody on this
// machine can get, and the browsers in which the password was given since.

import { RELAY_ITSELF, type Origin, type Thing } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import { recordedIfRoom, type Audit } from '../storage/audit.ts'
import { hasSignedIn, noteSignIn } from '../storage/dashboard-networks.ts'
import { getOwner, savePassword, saveSetupStep } from '../storage/dashboard-owner.ts'
import type { Tx } from '../storage/database.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { networkOf } from '../system/network-address.ts'
import type { PasswordHash } from '../system/password-hash.ts'
import { LogInBrake, type Guesser } from './log-in-brake.ts'
import { Passwords, passwordFindings, requireFit } from './passwords.ts'
import {
  DashboardSessions,
  shortId,
  type DashboardSession,
  type NewSession,
  type SessionTools,
} from './sessions.ts'
import { SetupLink, type SetupToken } from './setup-link.ts'

export type Access = {
  /** Whether a password is set. */
  isClaimed(): boolean
  /** The step of the set-up that comes next; null once it is done. */
  setupStep(): string | null
  saveSetupStep(step: string | null): Promise<void>
  /** Makes the link good that sets the password; those before it are good no more. */
  createSetupToken(origin: Origin): Promise<SetupToken>
  /** Sets the password with a setup link's token, and ends all sessions but the new one. */
  claim(setup: { readonly token: string; readonly password: string }, by: By): Promise<NewSession>
  logIn(password: string, by: By): Promise<NewSession>
  /** The password once more, for what asks for it after an hour. */
  elevate(session: DashboardSession, password: string, by: By): Promise<DashboardSession>
  /** Ends all other sessions. */
  changePassword(
    session: DashboardSession,
    change: { readonly current: string; readonly password: string },
    by: By,
  ): Promise<DashboardSession>
  logOut(session: DashboardSession, origin: Origin): Promise<void>
  logOutEverywhere(origin: Origin): Promise<void>
  readonly sessions: Pick<DashboardSessions, 'find' | 'list' | 'isOpen' | 'endOf' | 'keep'>
  /** Makes the password of the options the owner's, where there is one. */
  begin(): Promise<void>
}

/** From where somebody asks. */
export type By = Origin & {
  /** Whether that is this machine, beyond doubt. */
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

/** What the page shows first once there is a password. */
const FIRST_STEP = 'permissions'
const DASHBOARD: Thing = { kind: 'dashboard', id: null }
const EVERY_SESSION: Thing = { kind: 'session', id: null }
const BY_LINK = { by: 'setup_link' }
const BY_OPTION = { by: 'HOOKLINE_ADMIN_PASSWORD' }
/** For how long a network that signed in keeps its share of the guesses. */
const KNOWN_FOR_MS = 30 * 86_400_000

export function createAccess(tools: Tools): Access {
  const { db, writer, audit, lockedPassword } = tools
  const room = {
    ...tools,
    sessions: new DashboardSessions(tools),
    passwords: new Passwords(tools.passwordHash),
    brake: new LogInBrake(tools.clock),
    link: new SetupLink(tools),
  }
  const { sessions, link } = room
  return {
    sessions,
    isClaimed: () => getOwner(db) !== null,
    setupStep: () => getOwner(db)?.setupStep ?? null,
    saveSetupStep: (step) => writer.write((tx) => saveSetupStep(tx, step)),
    async createSetupToken(origin) {
      requireUnlocked(lockedPassword)
      const change = { action: 'setup_link.created', about: DASHBOARD } as const
      await writer.write((tx) => audit.record(tx, origin, change))
      return link.create()
    },
    claim: (setup, by) => claim(room, setup, by),
    async logIn(password, by) {
      const proof = await requireRight(room, password, { by, session: null })
      return writer.write((tx) => {
        requireStillRight(tx, proof)
        noteNetwork(room, tx, by)
        const opened = sessions.open(tx)
        const about = sessionThing(opened.session)
        audit.record(tx, openedBy(opened, by), { action: 'session.created', about })
        return opened
      })
    },
    async elevate(session, password, by) {
      const proof = await requireRight(room, password, { by, session })
      return writer.write((tx) => {
        requireStillRight(tx, proof)
        const about = sessionThing(session)
        audit.record(tx, by, { action: 'session.elevated', about })
        return sessions.elevate(tx, session)
      })
    },
    changePassword: (session, change, by) => changePassword(room, session, { ...change, by }),
    logOut: (session, origin) =>
      writer.write((tx) => {
        const about = sessionThing(session)
        audit.record(tx, origin, { action: 'session.ended', about })
        sessions.end(tx, session)
      }),
    logOutEverywhere: (origin) =>
      writer.write((tx) => {
        audit.record(tx, origin, { action: 'session.ended', about: EVERY_SESSION })
        sessions.endOthers(tx, null)
      }),
    begin: () => useLockedPassword(room),
  }
}

type Room = Tools & {
  readonly sessions: DashboardSessions
  readonly passwords: Passwords
  readonly brake: LogInBrake
  readonly link: SetupLink
}

async function claim(
  room: Room,
  { token, password }: { readonly token: string; readonly password: string },
  by: By,
): Promise<NewSession> {
  const taken = room.link.take(token)
  if (taken === null) throw linkInvalid()
  try {
    requireFit(password)
    const passwordHash = await room.passwords.make(password)
    return await room.writer.write((tx) => {
      savePassword(tx, { passwordHash, firstStep: FIRST_STEP, now: room.stamps.now() })
      room.sessions.endOthers(tx, null)
      noteNetwork(room, tx, by)
      const opened = room.sessions.open(tx)
      const origin = openedBy(opened, by)
      room.audit.record(tx, origin, { action: 'password.set', about: DASHBOARD, after: BY_LINK })
      return opened
    })
  } catch (error) {
    taken.giveBack()
    throw error
  }
}

async function changePassword(
  room: Room,
  session: DashboardSession,
  change: { readonly current: string; readonly password: string; readonly by: By },
): Promise<DashboardSession> {
  requireUnlocked(room.lockedPassword)
  requireFit(change.password)
  const { by } = change
  const proof = await requireRight(room, change.current, { by, session })
  const passwordHash = await room.passwords.make(change.password)
  return room.writer.write((tx) => {
    requireStillRight(tx, proof)
    savePassword(tx, { passwordHash, firstStep: FIRST_STEP, now: room.stamps.now() })
    room.sessions.endOthers(tx, session)
    room.audit.record(tx, by, { action: 'password.changed', about: DASHBOARD })
    return room.sessions.elevate(tx, session)
  })
}

async function useLockedPassword(room: Room): Promise<void> {
  const { db, writer, stamps, audit, passwords, sessions, lockedPassword } = room
  if (lockedPassword === null) return
  for (const { title, why, fix } of passwordFindings(lockedPassword))
    room.log.warn(title, { why, fix })
  const owner = getOwner(db)
  if (owner !== null && (await passwords.fits(lockedPassword, owner.passwordHash))) return
  const passwordHash = await passwords.make(lockedPassword)
  await writer.write((tx) => {
    savePassword(tx, { passwordHash, firstStep: FIRST_STEP, now: stamps.now() })
    sessions.endOthers(tx, null)
    audit.record(tx, RELAY_ITSELF, { action: 'password.set', about: DASHBOARD, after: BY_OPTION })
  })
}

/** The hash that a password was found to fit. */
type Proof = string

/** Throws `wrong_password`, or `rate_limit_exceeded` without looking. */
async function requireRight(room: Room, password: string, guess: Guess): Promise<Proof> {
  const owner = getOwner(room.db)
  if (owner === null) throw wrongPassword('No password is set yet: a setup link does that.')
  const attempt = room.brake.begin(guesserOf(room, guess))
  if (!(await room.passwords.fits(password, owner.passwordHash))) {
    room.log.warn('dashboard password was wrong', { address: guess.by.address })
    await recordedIfRoom(room.writer.write((tx) => room.audit.recordRefusal(tx, guess.by)))
    throw wrongPassword('Incorrect password.')
  }
  attempt.succeed()
  return owner.passwordHash
}

/** Who gives a password; the session is null where it is to begin one. */
type Guess = { readonly by: By; readonly session: DashboardSession | null }

/** Strangers use up nobody's share but their own, so that they cannot keep the owner out. */
function guesserOf({ db, clock, stamps }: Room, { by, session }: Guess): Guesser {
  if (session !== null) {
    return { name: `session ${Buffer.from(session.tokenSha256).toString('hex')}`, share: 'session' }
  }
  if (by.isLocal) return { name: 'this machine', share: 'local' }
  const network = networkOf(by.address ?? 'unknown')
  const isKnown = hasSignedIn(db, network, timestamp(clock.ago(KNOWN_FOR_MS, stamps.now())))
  return { name: network, share: isKnown ? 'known' : 'strangers' }
}

function noteNetwork({ clock, stamps }: Room, tx: Tx, { address, isLocal }: By): void {
  if (isLocal) return
  const now = stamps.now()
  noteSignIn(tx, {
    network: networkOf(address ?? 'unknown'),
    now,
    after: timestamp(clock.ago(KNOWN_FOR_MS, now)),
  })
}

/** Whoever signs in acts as the session that this begins. */
function openedBy({ session }: NewSession, origin: Origin): Origin {
  return { ...origin, actor: { kind: 'dashboard', id: shortId(session) } }
}

function sessionThing(session: DashboardSession): Thing {
  return { kind: 'session', id: shortId(session) }
}

/** Looking at a password takes a while, in which it may have been changed. */
function requireStillRight(tx: Tx, proof: Proof): void {
  if (getOwner(tx)?.passwordHash !== proof)
    throw wrongPassword('The password was changed just now.')
}

function requireUnlocked(lockedPassword: string | null): void {
  if (lockedPassword === null) return
  const message = 'is set by HOOKLINE_ADMIN_PASSWORD: change it there and start the relay again'
  throw invalidRequest({ path: 'password', message })
}

function wrongPassword(message: string): RelayError {
  return new RelayError('wrong_password', message)
}

function linkInvalid(): RelayError {
  const message =
    'This setup link is used, replaced, or older than 30 minutes. ' +
    'Get a new one on the machine itself: hookline setup-link'
  return new RelayError('setup_link_invalid', message)
}
