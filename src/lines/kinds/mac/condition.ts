// Condition of Messages for sending: its user is logged in, the app runs, the account is signed in, and
// we are allowed to ask. Checked when the line starts, so that macOS asks for permission while the owner is
// there, and then regularly, because each of these can be taken away at any time.

import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import { Signal } from '../../../system/signal.ts'
import type { MacHost, MessagesApp } from './mac-host.ts'
import {
  classOf,
  type AccountAnswer,
  type FailureClass,
  type MessagesScript,
  type ScriptAnswer,
} from './script-runner.ts'
import type { MacTrouble } from './troubles.ts'

export type ConditionTools = {
  readonly clock: Clock
  readonly log: Log
  readonly script: MessagesScript
  readonly app: MessagesApp
  readonly host: MacHost
  /** Called when Messages was started: it needs a moment before it finds its chats (-1728 until then). */
  readonly onStarted: () => void
}

/** Interval of looks at the session and the app, and at the account while something is wrong. */
const LOOK_MS = 30_000
const ACCOUNT_EVERY_MS = 300_000
const RESTART_EVERY_MS = 600_000
/** After this many requests in a row without an answer, Messages is restarted. */
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

/** Failures that concern Messages in every stage; the others concern a recipient or a text. */
const OF_THE_LINE: ReadonlySet<FailureClass> = new Set([
  'permission',
  'not_running',
  'timeout',
  'no_account',
])

type Failure = Exclude<AccountAnswer, { readonly answer: 'account' }>

export class Condition {
  readonly #tools: ConditionTools
  readonly #wakeUp = new Signal()
  #trouble: MacTrouble | null = null
  #isConnected = false
  #hasSms = false
  #isKnown = false
  #askedAt = -Infinity
  #restartedAt = -Infinity
  #silences = 0
  #mustRestart = false

  constructor(tools: ConditionTools) {
    this.#tools = tools
  }

  /** False until the first look. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** Reason why Messages cannot send, or null. */
  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  /** The account has a connection to Apple. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  /** Messages has an account of SMS: an iPhone forwards its text messages. */
  get hasSms(): boolean {
    return this.#hasSms
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools
    while (!signal.aborted) {
      await this.#look(signal)
      if (!signal.aborted) this.#isKnown = true
      await this.#wakeUp.wait(clock, LOOK_MS, signal)
    }
  }

  /** Records the answer to a send, as far as it concerns Messages itself. */
  record(answer: ScriptAnswer): void {
    if (answer.answer === 'done') {
      this.#silences = 0
      return
    }
    const isAfterAccount = answer.answer === 'refused' && answer.stage !== 'account'
    if (isAfterAccount && !OF_THE_LINE.has(classOf(answer.number))) return
    this.#recordFailure(answer)
    this.#askedAt = -Infinity
    this.#wakeUp.notify()
  }

  /** Restarts Messages soon, unless that was done lately: a message has been on its way for minutes. */
  requestRestart(): void {
    if (this.#mustRestart || !this.#mayRestart()) return
    this.#mustRestart = true
    this.#wakeUp.notify()
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
    if (!signal.aborted && (isDue || this.#trouble !== null)) await this.#askAccount(signal)
  }

  async #askAccount(signal: AbortSignal): Promise<void> {
    const { script, clock } = this.#tools
    const answer = await script.account(signal)
    if (signal.aborted) return
    this.#askedAt = clock.monotonic()
    if (answer.answer !== 'account') {
      this.#recordFailure(answer)
      return
    }
    this.#silences = 0
    this.#isConnected = answer.state.isConnected
    this.#hasSms = answer.accounts.some(
      ({ service, enabled }) => service === 'SMS' && enabled !== 'disabled',
    )
    this.#trouble = answer.state.isEnabled ? null : 'messages_signed_out'
  }

  #recordFailure(answer: Failure): void {
    const failure = classOfFailure(answer)
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
    log.warn('Messages is restarted')
    await app.restart(signal)
    onStarted()
    this.#askedAt = -Infinity
  }
}

function classOfFailure(answer: Failure): FailureClass {
  switch (answer.answer) {
    case 'silent':
      return 'timeout'
    case 'not_run':
      return 'vocabulary'
    case 'refused':
      return classOf(answer.number)
  }
}
