// The state of the dashboard session, and every call that changes it.

import { computed, signal, type ReadonlySignal } from '@preact/signals'

import type { SessionState } from '../api/dashboard.ts'
import { request, type Answer } from './api.ts'
import { pageKey, readStored, store, storePageKey } from './browser-storage.ts'
import type { Clock } from './clock.ts'

type Opened = SessionState & { readonly page_key?: string | undefined }

/** Storage key for the member's id. */
const MEMBER = 'hookline-member'
const RETRY_MS = 2_000

export class SessionStore {
  readonly #now = signal<SessionState | null>(null)
  readonly #isReachable = signal(true)
  /** The answer that calls wait for while the password dialog is open. */
  readonly #question = signal<PromiseWithResolvers<boolean> | null>(null)
  #ownVersion: string | null = null
  readonly #isOutdated = signal(false)
  #changeCount = 0

  /** Null until the relay's first answer. After sign-out it still names the member. */
  readonly now: ReadonlySignal<SessionState | null> = this.#now
  /** False if the very first call failed, until one succeeds. */
  readonly isReachable: ReadonlySignal<boolean> = this.#isReachable
  /** True if the relay was upgraded after the page was loaded. */
  readonly isOutdated: ReadonlySignal<boolean> = this.#isOutdated
  readonly isPasswordAsked = computed(() => this.#question.value !== null)

  /** Null until the relay has answered; `signed_in` if the browser has the owner's page key, to draw the page early. */
  get state(): SessionState['state'] | null {
    const isOwners = pageKey() !== null && readStored(MEMBER) === null
    const isLikely = this.#isReachable.value && isOwners
    return this.#now.value?.state ?? (isLikely ? 'signed_in' : null)
  }

  /** Undefined for the owner. */
  get member(): SessionState['member'] {
    return this.#now.value?.member
  }

  get isFake(): boolean {
    return this.#now.value?.is_fake === true
  }

  /** Resolves after the relay's first answer. */
  async open(clock: Clock): Promise<void> {
    await this.refresh()
    while (this.#now.value === null) {
      await clock.sleep(RETRY_MS, new AbortController().signal)
      await this.refresh()
    }
  }

  async refresh(): Promise<void> {
    const changeCount = this.#changeCount
    const answer = await request('getSession')
    // If the session changed meanwhile, this answer describes the previous one.
    if (changeCount !== this.#changeCount) return
    this.#isReachable.value = answer.ok || this.#now.value !== null
    if (answer.ok) this.#take(answer.value)
  }

  /** Signs in as the owner if `name` is empty. `code` is the owner's second step. */
  signIn(password: string, name = '', code = ''): Promise<Answer<SessionState>> {
    const body = { password, ...(name !== '' && { name }), ...(code !== '' && { code }) }
    return this.#change(request('signIn', { body }))
  }

  /** Sets the first password, or replaces a forgotten one, with the token of a setup link. */
  setUp(token: string, password: string): Promise<Answer<SessionState>> {
    return this.#change(request('setUp', { body: { token, password } }))
  }

  elevate(password: string): Promise<Answer<SessionState>> {
    return this.#change(request('elevate', { body: { password } }))
  }

  changePassword(current: string, password: string): Promise<Answer<SessionState>> {
    return this.#change(request('changePassword', { body: { current, password } }))
  }

  /** Saves the next step of setup; null once it is finished. */
  setStep(step: string | null): Promise<Answer<SessionState>> {
    return this.#change(request('putSetupStep', { body: { step } }))
  }

  async signOut(where: 'here' | 'everywhere'): Promise<Answer<unknown>> {
    const answer = await request(where === 'here' ? 'signOut' : 'signOutEverywhere')
    if (answer.ok) {
      storePageKey(null)
      this.end()
      this.#now.value = answer.value
    }
    return answer
  }

  /** Called after the relay has ended the session. */
  end(): void {
    const session = this.#now.value
    if (session?.state === 'signed_in') this.#now.value = { ...session, state: 'signed_out' }
    this.answerPassword(false)
  }

  /** Opens the password dialog; resolves to true once the password was entered. */
  askPassword(): Promise<boolean> {
    this.#question.value ??= Promise.withResolvers<boolean>()
    return this.#question.value.promise
  }

  answerPassword(isGiven: boolean): void {
    this.#question.value?.resolve(isGiven)
    this.#question.value = null
  }

  async #change(asked: Promise<Answer<Opened>>): Promise<Answer<SessionState>> {
    const answer = await asked
    this.#changeCount += 1
    if (!answer.ok && answer.failure.code === 'signed_out') this.end()
    // Some operations answer without the session.
    if (answer.ok && 'state' in answer.value) this.#take(answer.value)
    else if (answer.ok) await this.refresh()
    return answer
  }

  #take({ page_key, ...session }: Opened): void {
    if (page_key !== undefined) storePageKey(page_key)
    if (session.version !== null) {
      this.#ownVersion ??= session.version
      this.#isOutdated.value = session.version !== this.#ownVersion
    }
    // The sign-in page explains to a member why the session ended.
    const isOut = session.state === 'signed_out'
    if (!isOut) store(MEMBER, session.member?.id ?? null)
    this.#now.value = isOut ? { ...session, member: this.#now.value?.member } : session
  }
}
