// Whether Messages can send: its user logged in, the app running, the account signed in, and we allowed
// to ask. Asked when the line starts, so that macOS puts its question while somebody is there, and then
// again and again, because each of these can be taken away at any time.

import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import { Signal } from '../../../system/signal.ts'
import { classOf, type FailureClass } from './apple-events.ts'
import type { MacHost } from './mac-host.ts'
import type { MessagesApp } from './messages-app.ts'
import type { MacTrouble } from './reasons.ts'
import type { AccountAnswer, MessagesScript, ScriptAnswer } from './script-runner.ts'

export type ConditionTools = {
  readonly clock: Clock
  readonly log: Log
  readonly script: MessagesScript
  readonly app: MessagesApp
  readonly host: MacHost
  /** Hears when Messages was started: it needs a moment before it finds its chats (-1728 until then). */
  readonly onStarted: () => void
}

/** Looks at the session and the app this often, and asks the account as often while something is wrong. */
const LOOK_MS = 30_000
const ACCOUNT_EVERY_MS = 300_000
const RESTART_EVERY_MS = 600_000
/** So many requests in a row that Messages did not answer, and it is started again. */
const SILENCES_MAX = 2

const TROUBLE_OF_CLASS: Readonly<Record<FailureClass, MacTrouble>> = {
  permission: 'automation_denied',
  not_running: 'messages_not_running',
  timeout: 'messages_not_answering',
  not_found: 'messages_signed_out',
  no_account: 'messages_signed_out',
  vocabulary: 'script_refused',
  file: 'script_refused',
  failed: 'messages_not_answering',
}

/** Failures that are Messages' own in every stage; the others speak of a recipient or a text. */
const OF_THE_LINE: ReadonlySet<FailureClass> = new Set([
  'permission',
  'not_running',
  'timeout',
  'no_account',
])

export class Condition {
  readonly #tools: ConditionTools
  readonly #wake = new Signal()
  #trouble: MacTrouble | null = null
  #isConnected = false
  #isKnown = false
  #askedAt = -Infinity
  #restartedAt = -Infinity
  #silences = 0
  #mustRestart = false

  constructor(tools: ConditionTools) {
    this.#tools = tools
  }

  /** Whether Messages was asked at all yet. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** What keeps it from sending; null where nothing does. */
  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  /** Whether the account has a connection to Apple. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    while (!signal.aborted) {
      await this.#look(signal)
      if (!signal.aborted) this.#isKnown = true
      await this.#wake.wait(clock, LOOK_MS, signal)
    }
  }

  /** What the answer to a send says of Messages itself. */
  hear(answer: ScriptAnswer): void {
    if (answer.answer === 'done') {
      this.#silences = 0
      return
    }
    const isAfterAccount = answer.answer === 'refused' && answer.stage !== 'account'
    if (isAfterAccount && !OF_THE_LINE.has(classOf(answer.number))) return
    this.#note(answer)
    this.#askedAt = -Infinity
    this.#wake.notify()
  }

  /** Something has been on its way for minutes. */
  suspect(): void {
    if (this.#mustRestart || !this.#mayRestart()) return
    this.#mustRestart = true
    this.#wake.notify()
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { app, host, clock, onStarted } = this.#tools
    if ((await host.hasGuiSession(signal)) === false) {
      this.#trouble = 'no_gui_session'
      return
    }
    if (this.#mustRestart) await this.#restart(signal)
    if ((await app.isRunning(signal)) === false) {
      await app.start(signal)
      onStarted()
      this.#askedAt = -Infinity
    }
    const isDue = clock.monotonic() - this.#askedAt >= ACCOUNT_EVERY_MS
    if (!signal.aborted && (isDue || this.#trouble !== null)) await this.#ask(signal)
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { script, clock } = this.#tools
    const answer = await script.account(signal)
    if (signal.aborted) return
    this.#askedAt = clock.monotonic()
    if (answer.answer !== 'account') {
      this.#note(answer)
      return
    }
    this.#silences = 0
    this.#isConnected = answer.state.isConnected
    this.#trouble = answer.state.isEnabled ? null : 'messages_signed_out'
  }

  #note(answer: Exclude<AccountAnswer, { readonly answer: 'account' }>): void {
    const failure = failureOf(answer)
    this.#isConnected = false
    this.#trouble = TROUBLE_OF_CLASS[failure]
    if (failure !== 'timeout') return
    this.#silences += 1
    if (this.#silences >= SILENCES_MAX && this.#mayRestart()) this.#mustRestart = true
  }

  #mayRestart(): boolean {
    return this.#tools.clock.monotonic() - this.#restartedAt >= RESTART_EVERY_MS
  }

  async #restart(signal: AbortSignal): Promise<void> {
    const { app, clock, log, onStarted } = this.#tools
    this.#mustRestart = false
    this.#silences = 0
    this.#restartedAt = clock.monotonic()
    log.warn('Messages is started again')
    await app.restart(signal)
    onStarted()
    this.#askedAt = -Infinity
  }
}

function failureOf(answer: Exclude<AccountAnswer, { readonly answer: 'account' }>): FailureClass {
  switch (answer.answer) {
    case 'silent':
      return 'timeout'
    case 'not_run':
      return 'vocabulary'
    case 'refused':
      return classOf(answer.number)
  }
}
