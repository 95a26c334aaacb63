// Checks that Messages can send: its user is logged in, the app runs, the account is signed in, and we may
// control it. Checked when the line starts, so that macOS asks for permission while the owner is there, and
// then regularly, because each of these can be lost at any time.

import type { Finding } from '../../../domain/finding.ts'
import type { OfflineReason } from '../../../domain/line.ts'
import { Signal } from '../../../system/signal.ts'
import type { KindHost } from '../../line-kind.ts'
import type { Mac } from './mac-host.ts'
import { classOf, type Failure, type FailureClass, type ScriptAnswer } from './script-runner.ts'

/** Interval of checks of the session and the app, and of the account while something is wrong. */
const CHECK_MS = 30_000
const ACCOUNT_EVERY_MS = 300_000
const RESTART_EVERY_MS = 600_000
/** Messages is restarted after this many unanswered requests in a row. */
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

/** Failures that concern Messages at every stage; all others concern a recipient or a text. */
const OF_THE_LINE: ReadonlySet<FailureClass> = new Set([
  'permission',
  'not_running',
  'timeout',
  'no_account',
])

export class Condition {
  readonly #host: KindHost
  readonly #mac: Mac
  readonly #onStarted: () => void
  readonly #wakeUp = new Signal()
  #trouble: MacTrouble | null = null
  #isConnected = false
  #hasSms = false
  #isKnown = false
  #askedAt = -Infinity
  #restartedAt = -Infinity
  #silences = 0
  #mustRestart = false

  /**
   * `onStarted` is called when Messages was started: it needs a moment before it finds its chats (-1728
   * until then).
   */
  constructor(host: KindHost, mac: Mac, onStarted: () => void) {
    this.#host = host
    this.#mac = mac
    this.#onStarted = onStarted
  }

  get isKnown(): boolean {
    return this.#isKnown
  }

  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  /** True if Messages has an SMS account: an iPhone then forwards its text messages. */
  get hasSms(): boolean {
    return this.#hasSms
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#host
    while (!signal.aborted) {
      await this.#check(signal)
      if (!signal.aborted) this.#isKnown = true
      await this.#wakeUp.wait(clock, CHECK_MS, signal)
    }
  }

  /** Applies the answer to a send, if it concerns Messages itself. */
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

  /** Called if a message has been in transit for minutes; ignored if Messages was restarted lately. */
  requestRestart(): void {
    if (this.#mustRestart || !this.#mayRestart()) return
    this.#mustRestart = true
    this.#wakeUp.notify()
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { app, script, user } = this.#mac
    if ((await user.hasGuiSession(signal)) === false) {
      this.#trouble = 'no_gui_session'
      return
    }
    // While Messages takes a file, a restart would lose the file, and every other answer is late anyway.
    const { isSendingFile } = script
    if (this.#mustRestart && !isSendingFile) await this.#restart(signal)
    if ((await app.isRunning(signal)) === false) {
      await app.start(signal)
      this.#onStarted()
      this.#askedAt = -Infinity
    }
    if (isSendingFile) return
    const isDue = this.#host.clock.monotonic() - this.#askedAt >= ACCOUNT_EVERY_MS
    if (!signal.aborted && (isDue || this.#trouble !== null)) await this.#askAccount(signal)
  }

  async #askAccount(signal: AbortSignal): Promise<void> {
    const answer = await this.#mac.script.account(signal)
    if (signal.aborted) return
    this.#askedAt = this.#host.clock.monotonic()
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
    return this.#host.clock.monotonic() - this.#restartedAt >= RESTART_EVERY_MS
  }

  async #restart(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#host
    this.#mustRestart = false
    this.#silences = 0
    this.#restartedAt = clock.monotonic()
    log.warn('Messages is restarted')
    await this.#mac.app.restart(signal)
    this.#onStarted()
    this.#askedAt = -Infinity
  }
}

function classOfFailure(answer: Failure): FailureClass {
  if (answer.answer === 'refused') return classOf(answer.number)
  return answer.answer === 'silent' ? 'timeout' : 'vocabulary'
}

export type MacTrouble = keyof typeof TROUBLES

export const TROUBLES = {
  chat_db_absent: {
    title: 'Messages is not set up on this Mac',
    why: 'Its database does not exist yet, so there is nothing to read.',
    fix: 'Open Messages, sign in to iMessage, and send yourself a message.',
  },
  full_disk_access: {
    title: 'Hookline needs Full Disk Access',
    why: 'macOS does not let Hookline read the Messages database.',
    fix: 'In System Settings, Privacy & Security, Full Disk Access, turn Hookline on. If it is on already, turn it off and on again.',
  },
  wrong_owner: {
    title: 'The Messages database belongs to another user',
    why: 'Each user of a Mac has their own messages, and only that user can read them.',
    fix: 'Run Hookline as the user who is signed in to Messages.',
  },
  chat_db_unreadable: {
    title: 'The Messages database cannot be read',
    why: 'It is damaged, or in a format that Hookline does not know.',
    fix: 'Open Messages and check that it works; then record "hookline mac trace" and report the problem.',
  },
  no_gui_session: {
    title: 'No user is logged in on this Mac',
    why: 'Messages works only while its user is logged in; the screen may be locked.',
    fix: 'Log in on the Mac, and turn on automatic login so that it survives a power outage.',
  },
  automation_denied: {
    title: 'Hookline is not allowed to control Messages',
    why: 'macOS blocks its requests to Messages, so nothing can be sent. Receiving still works.',
    fix: 'In System Settings, Privacy & Security, Automation, turn on Messages under Hookline.',
  },
  messages_not_running: {
    title: 'Messages is not running',
    why: 'It could not be started. Hookline tries again every 30 seconds.',
    fix: 'Open Messages yourself and check whether it asks for something.',
  },
  messages_signed_out: {
    title: 'Messages is signed out of iMessage',
    why: 'No iMessage account is turned on.',
    fix: 'Open Messages, Settings, iMessage, and sign in. Messages wait until then.',
  },
  messages_not_answering: {
    title: 'Messages is not responding',
    why: 'It is running but does not respond to requests. Hookline restarts it.',
    fix: 'Check the screen of the Mac: a window of Messages may be waiting for an answer.',
  },
  sends_vanish: {
    title: 'Messages accepts messages that never appear',
    why: 'Several messages in a row left no trace in Messages, so sending is paused. One waiting message is tried after ten minutes, then at most every hour.',
    fix: 'Send a text in Messages yourself. If that fails too, restart the Mac. Check whether the uncertain messages arrived.',
  },
  script_refused: {
    title: 'Hookline does not work with this version of Messages',
    why: 'The script that controls Messages fails on this version of macOS.',
    fix: 'Upgrade Hookline. If that does not help, report your version of macOS.',
  },
} as const satisfies Record<string, Pick<Finding, 'title' | 'why' | 'fix'>>

export function offlineReason(trouble: MacTrouble): OfflineReason {
  return { code: trouble, hint: TROUBLES[trouble].fix }
}

export function troubleFinding(trouble: MacTrouble, key: string | null): Finding {
  return { code: trouble, severity: 'error', ...TROUBLES[trouble], key, depends_on: null }
}
