// Access to the dashboard. The owner sets a password with a link that only the machine itself gives out; members get
// links from the owner; signed-in browsers have sessions.

import type * as api from '../api/owner.ts'
import { COMMAND_LINE, RELAY_ITSELF, type Origin, type Thing } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { recordedIfRoom } from '../storage/audit.ts'
import type { Core } from '../storage/core.ts'
import {
  hasSignedIn,
  noteSignIn,
  getOwner,
  savePassword,
  saveSetupStep,
  updateMember,
} from '../storage/dashboard-access.ts'
import type { Tx } from '../storage/database.ts'
import type { PasswordHash } from '../system/hash.ts'
import { networkOf } from '../system/network-address.ts'
import type { Seal } from '../system/seal.ts'
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
import { SecondFactor, type NewFactor } from './second-factor.ts'
import {
  DashboardSessions,
  sessionActor,
  shortId,
  type DashboardSession,
  type NewSession,
} from './sessions.ts'
import { SetupLink, setupLinkOf, type Addresses, type SetupToken } from './setup-link.ts'
import { relayNames } from './weak-passwords.ts'

export type Client = Origin & {
  /** True if it certainly runs on this machine. */
  readonly isLocal: boolean
}

/** The first page of the setup after the password. */
const FIRST_STEP = 'permissions'
const DASHBOARD: Thing = { kind: 'dashboard', id: null }
const BY_LINK = { by: 'setup_link' }
/** For this long after a sign-in, its network keeps its own share of password guesses. */
const KNOWN_FOR_MS = 30 * 86_400_000

export class Access {
  readonly sessions: DashboardSessions
  readonly members: ReturnType<typeof createMembers>
  readonly secondFactor: SecondFactor
  readonly #core: Core
  readonly #lockedPassword: string | null
  readonly #passwords: Passwords
  readonly #limiter: LoginRateLimiter
  readonly #link: SetupLink
  readonly #addresses: () => Addresses

  /** `lockedPassword` is the password from the options; if it is set, nothing else may change it. */
  constructor(
    core: Core,
    given: {
      readonly passwordHash: PasswordHash
      readonly lockedPassword: string | null
      readonly seal: Seal
      /** Called for each link, because the relay listens only after its start. */
      readonly addresses: () => Addresses
    },
  ) {
    this.#core = core
    this.#lockedPassword = given.lockedPassword
    this.#passwords = new Passwords(given.passwordHash)
    this.#limiter = new LoginRateLimiter(core.clock)
    this.#link = new SetupLink(core)
    this.#addresses = given.addresses
    this.sessions = new DashboardSessions(core)
    this.secondFactor = new SecondFactor(core, { seal: given.seal })
    this.members = createMembers(core, { sessions: this.sessions })
  }

  hasPassword(): boolean {
    return getOwner(this.#core.db) !== null
  }

  setupStep(): string | null {
    return getOwner(this.#core.db)?.setupStep ?? null
  }

  saveSetupStep(step: string | null): Promise<void> {
    return this.#core.writer.write((tx) => saveSetupStep(tx, step))
  }

  findings(): readonly Finding[] {
    return passwordFindings(this.#lockedPassword)
  }

  /** Makes the link that sets the password; earlier links become invalid. */
  async createSetupLink(origin: Origin = COMMAND_LINE): Promise<api.SetupLink> {
    requireUnlocked(this.#lockedPassword)
    const { writer, audit } = this.#core
    const change = { action: 'setup_link.created', about: DASHBOARD } as const
    await writer.write((tx) => audit.record(tx, origin, change))
    return this.linkOf(this.#link.create())
  }

  linkOf(token: SetupToken): api.SetupLink {
    return setupLinkOf(token, this.#addresses())
  }

  /** Sets the password with a setup link's token, and ends all sessions but the new one. */
  async setUp(
    { token, password }: { readonly token: string; readonly password: string },
    client: Client,
  ): Promise<NewSession> {
    const taken = this.#link.take(token)
    if (taken === null) return this.#joinByLink(token, password, client)
    const { writer, ids, audit } = this.#core
    try {
      requireFit(password, relayNames(this.#addresses()))
      const passwordHash = await this.#passwords.make(password)
      return await writer.write((tx) => {
        savePassword(tx, { passwordHash, passwordSetAt: ids.now(), setupStep: FIRST_STEP })
        // An owner without the phone gets in by a setup link, on the machine.
        this.secondFactor.remove(tx)
        this.sessions.endOthers(tx, null)
        this.#noteNetwork(tx, client)
        const opened = this.sessions.open(tx)
        const origin = openedBy(opened, client)
        audit.record(tx, origin, { action: 'password.set', about: DASHBOARD, after: BY_LINK })
        return opened
      })
    } catch (error) {
      taken.restore()
      throw error
    }
  }

  /** Signs in as the owner if no name is given. */
  async signIn({ name, password, code }: Credentials, client: Client): Promise<NewSession> {
    const proof = await this.#requireRight(password, { client, session: null, name })
    const second = proof.memberId === null ? await this.#requireCode(code, client) : null
    return this.#core.writer.write((tx) => {
      requireStillRight(tx, proof)
      second?.use(tx)
      this.#noteNetwork(tx, client)
      const opened = this.sessions.open(tx, proof.memberId)
      const about = sessionThing(opened.session)
      this.#core.audit.record(tx, openedBy(opened, client), { action: 'session.created', about })
      return opened
    })
  }

  /** Checks the password again, for requests that need it to be recent. */
  async elevate(session: DashboardSession, password: string, client: Client) {
    const proof = await this.#requireRight(password, { client, session })
    const { writer, audit } = this.#core
    return writer.write((tx) => {
      requireStillRight(tx, proof)
      audit.record(tx, client, { action: 'session.elevated', about: sessionThing(session) })
      return this.sessions.elevate(tx, session)
    })
  }

  /** Ends all other sessions. */
  async changePassword(
    session: DashboardSession,
    { current, password }: { readonly current: string; readonly password: string },
    client: Client,
  ): Promise<DashboardSession> {
    requireUnlocked(this.#lockedPassword)
    requireFit(password, relayNames(this.#addresses()))
    const proof = await this.#requireRight(current, { client, session })
    const passwordHash = await this.#passwords.make(password)
    const { writer, ids, audit } = this.#core
    return writer.write((tx) => {
      requireStillRight(tx, proof)
      savePassword(tx, { passwordHash, passwordSetAt: ids.now(), setupStep: FIRST_STEP })
      this.sessions.endOthers(tx, session)
      audit.record(tx, client, { action: 'password.changed', about: DASHBOARD })
      return this.sessions.elevate(tx, session)
    })
  }

  /** Makes a secret for an authenticator app; it takes effect once `turnOnSecondFactor` gets a code of it. */
  beginSecondFactor(): NewFactor {
    return this.secondFactor.begin(this.#addresses().localName)
  }

  /** Returns the recovery codes. */
  turnOnSecondFactor(code: string, origin: Origin): Promise<readonly string[]> {
    const { writer, audit } = this.#core
    return writer.write((tx) => {
      const codes = this.secondFactor.confirm(tx, code)
      audit.record(tx, origin, { action: 'second_factor.added', about: DASHBOARD })
      return codes
    })
  }

  /** Turns it off, or returns new recovery codes. */
  async changeSecondFactor(what: 'removed' | 'codes_renewed', code: string, client: Client) {
    const second = await this.#requireCode(code, client)
    return this.#core.writer.write((tx) => {
      second.use(tx)
      this.#core.audit.record(tx, client, { action: `second_factor.${what}`, about: DASHBOARD })
      return this.secondFactor[what === 'removed' ? 'remove' : 'renewCodes'](tx)
    })
  }

  signOut(session: DashboardSession, origin: Origin): Promise<void> {
    const { writer, audit } = this.#core
    return writer.write((tx) => {
      audit.record(tx, origin, { action: 'session.ended', about: sessionThing(session) })
      this.sessions.end(tx, session)
    })
  }

  /** Ends the session with this id, in whichever browser it is. Throws `not_found`. */
  async endSession(id: string, origin: Origin): Promise<void> {
    const found = this.sessions.list().find((session) => shortId(session) === id)
    if (found === undefined) throw new RelayError('not_found', 'There is no session with this id.')
    const { writer, audit } = this.#core
    await writer.write((tx) => {
      audit.record(tx, origin, { action: 'session.ended', about: { kind: 'session', id } })
      this.sessions.end(tx, found)
    })
  }

  signOutEverywhere(origin: Origin): Promise<void> {
    const { writer, audit } = this.#core
    return writer.write((tx) => {
      audit.record(tx, origin, { action: 'session.ended', about: { kind: 'session', id: null } })
      this.sessions.endOthers(tx, null)
    })
  }

  /** Makes the password from the options, if any, the owner's. */
  async applyLockedPassword(): Promise<void> {
    const { db, writer, ids, audit, log } = this.#core
    const password = this.#lockedPassword
    if (password === null) return
    for (const { title, why, fix } of this.findings()) log.warn(title, { why, fix })
    const owner = getOwner(db)
    if (owner !== null && (await this.#passwords.fits(password, owner.passwordHash))) return
    const passwordHash = await this.#passwords.make(password)
    await writer.write((tx) => {
      savePassword(tx, { passwordHash, passwordSetAt: ids.now(), setupStep: FIRST_STEP })
      this.secondFactor.remove(tx)
      this.sessions.endOthers(tx, null)
      const after = { by: 'HOOKLINE_ADMIN_PASSWORD' }
      audit.record(tx, RELAY_ITSELF, { action: 'password.set', about: DASHBOARD, after })
    })
  }

  /** Sets the password of the member to whom the link belongs, and ends their other sessions. */
  async #joinByLink(token: string, password: string, client: Client): Promise<NewSession> {
    const { db, writer, audit } = this.#core
    if (memberOfLink(this.#core, db, token) === null) throw linkInvalid()
    requireFit(password, relayNames(this.#addresses()))
    const passwordHash = await this.#passwords.make(password)
    return writer.write((tx) => {
      // While the password was hashed, the link may have been used or replaced.
      const member = memberOfLink(this.#core, tx, token)
      if (member === null) throw linkInvalid()
      const about = { kind: 'member', id: member.id } as const
      updateMember(tx, member.id, { passwordHash, linkSha256: null })
      this.sessions.endAllOf(tx, member.id)
      this.#noteNetwork(tx, client)
      const opened = this.sessions.open(tx, member.id)
      const origin = openedBy(opened, client)
      audit.record(tx, origin, { action: 'password.set', about, after: BY_LINK })
      return opened
    })
  }

  /** Throws `wrong_password`, or `rate_limit_exceeded` without checking the password. */
  async #requireRight(password: string, guess: Guess): Promise<Account> {
    const { db } = this.#core
    const owner = getOwner(db)
    if (owner === null) throw wrongPassword('No password is set yet. Use a setup link to set one.')
    const account = accountNamed(db, guess.name)
    const attempt = this.#limiter.begin(this.#guesserOf(guess))
    // The password is hashed even for an unknown name, so that the time reveals nothing.
    const isFit = await this.#passwords.fits(password, (account ?? owner).passwordHash)
    if (account === null || !isFit) {
      await this.#noteRefusal('password', guess.client)
      throw wrongPassword(guess.name ? 'Incorrect name or password.' : 'Incorrect password.')
    }
    attempt.succeed()
    return account
  }

  /** Like `SecondFactor.check`, but records wrong codes in the audit trail and the log. */
  async #requireCode(code: string | undefined, client: Client) {
    try {
      return this.secondFactor.check(code)
    } catch (error) {
      if (!(error instanceof RelayError) || error.code !== 'wrong_code') throw error
      await this.#noteRefusal('code', client)
      throw error
    }
  }

  async #noteRefusal(what: 'password' | 'code', client: Client): Promise<void> {
    const { writer, audit, log } = this.#core
    log.warn(`dashboard ${what} was wrong`, { address: client.address })
    await recordedIfRoom(writer.write((tx) => audit.recordRefusal(tx, client)))
  }

  /**
   * Strangers share one limit, so that they can't lock the owner out. Each account is counted separately, so that a
   * member's right password doesn't clear guesses at another account.
   */
  #guesserOf({ client, session, name }: Guess): Guesser {
    if (session !== null) {
      const token = Buffer.from(session.tokenSha256).toString('hex')
      return { name: `session ${token}`, share: 'session' }
    }
    const account = accountKey(name)
    if (client.isLocal) return { name: `this machine ${account}`, share: 'local' }
    const { db, clock, ids } = this.#core
    const network = networkOf(client.address ?? 'unknown')
    const isKnown = hasSignedIn(db, network, timestamp(clock.ago(KNOWN_FOR_MS, ids.now())))
    return { name: `${network} ${account}`, share: isKnown ? 'known' : 'strangers' }
  }

  #noteNetwork(tx: Tx, { address, isLocal }: Client): void {
    if (isLocal) return
    const { clock, ids } = this.#core
    const now = ids.now()
    noteSignIn(tx, {
      network: networkOf(address ?? 'unknown'),
      now,
      after: timestamp(clock.ago(KNOWN_FOR_MS, now)),
    })
  }
}

/** `code` is of the owner's authenticator app, or a recovery code. */
type Credentials = {
  readonly name?: string | undefined
  readonly password: string
  readonly code?: string | undefined
}

/** A password guess: `session` is null if it is to begin one; `name` is a member's, and left out for the owner. */
type Guess = {
  readonly client: Client
  readonly session: DashboardSession | null
  readonly name?: string | undefined
}

/** The actor of a sign-in is the session that it begins, or the session's member. */
function openedBy({ session }: NewSession, origin: Origin): Origin {
  return { ...origin, actor: sessionActor(session) }
}

function sessionThing(session: DashboardSession): Thing {
  return { kind: 'session', id: shortId(session) }
}

/** The password may have changed while it was checked. */
function requireStillRight(tx: Tx, proof: Account): void {
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
