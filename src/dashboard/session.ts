// Who looks at the page: the states of the dashboard session, and all that changes it.

import { computed, signal, type ReadonlySignal } from '@preact/signals'

import type { SessionState } from '../api/dashboard.ts'
import type { Clock } from './clock.ts'
import { keepPageKey } from './page-key.ts'
import { request, type Answer } from './request.ts'

/** What a log-in answers. */
type Opened = SessionState & { readonly page_key?: string | undefined }

/** Null until the relay answered for the first time, or while it cannot be reached at the start. */
export type SessionNow = SessionState | null

const SESSION = '/dashboard/session'
const RETRY_MS = 2_000

export class SessionStore {
  readonly #now = signal<SessionNow>(null)
  readonly #isReachable = signal(true)
  /** What waits for the password, while the dialog is open. */
  readonly #question = signal<PromiseWithResolvers<boolean> | null>(null)
  /** The version that this page came from. */
  #ownVersion: string | null = null
  readonly #isOutdated = signal(false)
  #changeCount = 0

  readonly now: ReadonlySignal<SessionNow> = this.#now
  /** False while the first question of all has no answer. */
  readonly isReachable: ReadonlySignal<boolean> = this.#isReachable
  /** Whether the relay was upgraded since the page was loaded. */
  readonly isOutdated: ReadonlySignal<boolean> = this.#isOutdated
  readonly isPasswordAsked = computed(() => this.#question.value !== null)

  /** Asks until the relay answers for the first time, or `end` aborts. */
  async open(clock: Clock, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await this.refresh()
      if (this.#now.value !== null) return
      await clock.sleep(RETRY_MS, end)
    }
  }

  /** Asks the relay who is signed in. */
  async refresh(): Promise<void> {
    const changeCount = this.#changeCount
    const answer = await request<SessionState>({ method: 'GET', path: SESSION })
    // What was asked before a change speaks of the session that it ended.
    if (changeCount !== this.#changeCount) return
    this.#isReachable.value = answer.ok || this.#now.value !== null
    if (answer.ok) this.#take(answer.value)
  }

  logIn(password: string): Promise<Answer<SessionState>> {
    return this.#change(SESSION, { password })
  }

  /** Claims the relay, or mends a forgotten password, by the token of a setup link. */
  setUp(token: string, password: string): Promise<Answer<SessionState>> {
    return this.#change('/dashboard/setup', { token, password })
  }

  elevate(password: string): Promise<Answer<SessionState>> {
    return this.#change(`${SESSION}/elevate`, { password })
  }

  changePassword(current: string, password: string): Promise<Answer<SessionState>> {
    return this.#change('/dashboard/password', { current, password })
  }

  /** Remembers how far the set-up came; null when it is done. */
  setStep(step: string | null): Promise<Answer<SessionState>> {
    return this.#change('/dashboard/setup-step', { step }, 'PUT')
  }

  async logOut(where: 'here' | 'everywhere'): Promise<Answer<unknown>> {
    const path = where === 'here' ? SESSION : `${SESSION}s`
    const answer = await request({ method: 'DELETE', path })
    if (answer.ok) {
      keepPageKey(null)
      this.end()
    }
    return answer
  }

  /** The relay does not know the session any more. */
  end(): void {
    const session = this.#now.value
    if (session?.state === 'signed_in') this.#now.value = { ...session, state: 'signed_out' }
    this.answerPassword(false)
  }

  /** Opens the question for the password; resolves to whether it was given. */
  askPassword(): Promise<boolean> {
    this.#question.value ??= Promise.withResolvers<boolean>()
    return this.#question.value.promise
  }

  answerPassword(isGiven: boolean): void {
    this.#question.value?.resolve(isGiven)
    this.#question.value = null
  }

  async #change(
    path: string,
    body: object,
    method: 'POST' | 'PUT' = 'POST',
  ): Promise<Answer<SessionState>> {
    const answer = await request<Opened>({ method, path, body })
    this.#changeCount += 1
    if (!answer.ok && answer.failure.code === 'signed_out') this.end()
    // An answer without the session, as that of an action may be, says nothing new of it.
    if (answer.ok && 'state' in answer.value) this.#take(answer.value)
    else if (answer.ok) await this.refresh()
    return answer
  }

  #take({ page_key, ...session }: Opened): void {
    if (page_key !== undefined) keepPageKey(page_key)
    if (session.version !== null) {
      this.#ownVersion ??= session.version
      this.#isOutdated.value = session.version !== this.#ownVersion
    }
    this.#now.value = session
  }
}
