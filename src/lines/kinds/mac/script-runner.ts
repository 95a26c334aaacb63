// Runs the AppleScript that controls Messages, and reads its answers.

import type { ScriptCall } from '../../../api/owner.ts'
import { NEVER } from '../../../system/clock.ts'
import type { ProcessEnd } from '../../../system/process.ts'
import type { KindHost } from '../../line-kind.ts'
import { FILE_SECONDS, MESSAGES_SCRIPT } from './script.ts'

/** A chat of Messages.app, or a handle (E.164 or email address). */
export type Target =
  | { readonly by: 'chat'; readonly guid: string }
  /** Sends by iMessage unless `service` is SMS. */
  | { readonly by: 'participant'; readonly handle: string; readonly service?: 'SMS' | undefined }

/** A text, or the path of a file, which is sent as its own message. */
export type Content = string | { readonly path: string }

export type Stage = 'account' | 'resolve' | 'send'

export type ScriptAnswer =
  /** All stages of the mode succeeded. */
  | { readonly answer: 'done' }
  /** A stage failed with this number; after -1712 in `send` the message may still go out. */
  | { readonly answer: 'refused'; readonly stage: Stage; readonly number: number }
  /** No Apple event of the send stage was sent; this is proven. */
  | { readonly answer: 'not_run'; readonly number: number | null; readonly why: string }
  /** The script may have acted. `why` quotes neither output nor message. */
  | { readonly answer: 'silent'; readonly why: string }

/** Both are true if the account could not be read: an unreadable property must not take the line offline. */
export type AccountState = { readonly isEnabled: boolean; readonly isConnected: boolean }

export type Account = {
  /** `iMessage`, `SMS`, … or `unknown`. */
  readonly service: string
  readonly enabled: 'enabled' | 'disabled' | 'unknown'
  readonly connection: 'connected' | 'disconnected' | 'unknown'
}

export type AccountAnswer =
  /** `state` is that of the account that sends. */
  | {
      readonly answer: 'account'
      readonly state: AccountState
      readonly accounts: readonly Account[]
    }
  | Failure

export type ScriptHost = Pick<KindHost, 'run' | 'clock'>

type Mode = 'account' | 'check' | 'send' | 'send_file'
type Order = { readonly mode: Mode; readonly target: Target | null; readonly content: Content }
type Line = { readonly stage: string; readonly number: number; readonly detail: string }
export type Failure = Exclude<ScriptAnswer, { readonly answer: 'done' }>

/** Ends only a script that hangs: the script itself gives up an Apple event after 25 s, and a file later. */
const TIMEOUT_MS = 35_000
const FILE_TIMEOUT_MS = FILE_SECONDS * 1_000 + 10_000
const KILL_AFTER_MS = 3_000

const STAGES: Readonly<Record<Mode, readonly Stage[]>> = {
  account: ['account'],
  check: ['account', 'resolve'],
  send: ['account', 'resolve', 'send'],
  send_file: ['account', 'resolve', 'send'],
}

export class MessagesScript {
  readonly #host: ScriptHost
  readonly #osascriptPath: string
  readonly #onCall: (call: ScriptCall) => void
  #files = 0

  constructor(host: ScriptHost, osascriptPath: string, onCall: (call: ScriptCall) => void) {
    this.#host = host
    this.#osascriptPath = osascriptPath
    this.#onCall = onCall
  }

  /** True while a file is being sent: Messages may answer nothing else meanwhile. */
  get isSendingFile(): boolean {
    return this.#files > 0
  }

  async account(signal: AbortSignal): Promise<AccountAnswer> {
    const end = await this.#osascript({ mode: 'account', target: null, content: '' }, signal)
    const line = readLine(end)
    const state = line?.stage === 'account' && line.number === 0 ? stateOf(line.detail) : null
    if (line === null || state === null) return failureOf('account', end, line)
    return { answer: 'account', state, accounts: accountsOf(line.detail) }
  }

  /** Finds the account and `target`, and sends nothing. */
  async check(target: Target, signal: AbortSignal): Promise<ScriptAnswer> {
    const order = { mode: 'check', target, content: '' } as const
    return answerOf('check', await this.#osascript(order, signal))
  }

  /**
   * Sends a text or a file, once. Killing osascript would not withdraw an Apple event that it has sent, but only
   * leave the outcome unknown. So `signal` stops the wait for a file, which may take minutes, but not for a text.
   */
  async send(target: Target, content: Content, signal: AbortSignal): Promise<ScriptAnswer> {
    if (typeof content === 'string') {
      return answerOf('send', await this.#osascript({ mode: 'send', target, content }, NEVER))
    }
    this.#files += 1
    try {
      const order = { mode: 'send_file', target, content } as const
      return answerOf('send_file', await this.#osascript(order, signal))
    } finally {
      this.#files -= 1
    }
  }

  async #osascript(order: Order, signal: AbortSignal): Promise<ProcessEnd> {
    const { run, clock } = this.#host
    const [at, startedAt] = [clock.now(), clock.monotonic()]
    const args = ['-l', 'AppleScript', '-e', MESSAGES_SCRIPT]
    const timeoutMs = order.mode === 'send_file' ? FILE_TIMEOUT_MS : TIMEOUT_MS
    const limits = { timeoutMs, killAfterMs: timeoutMs + KILL_AFTER_MS }
    const end = await run(
      { path: this.#osascriptPath, args, input: inputOf(order), ...limits },
      signal,
    )
    const ms = Math.round(clock.monotonic() - startedAt)
    this.#onCall({ at, ms, ...callOf(order, readLine(end)) })
    return end
  }
}

function inputOf({ mode, target, content }: Order): string {
  const isText = typeof content === 'string'
  const [text, path] = isText ? [content, ''] : ['', content.path]
  const service = target?.by === 'participant' ? (target.service ?? 'iMessage') : 'iMessage'
  return JSON.stringify({ mode, route: target?.by ?? '', key: keyOf(target), service, text, path })
}

function keyOf(target: Target | null): string {
  if (target === null) return ''
  return target.by === 'chat' ? target.guid : target.handle
}

function callOf({ mode, target }: Order, line: Line | null): Omit<ScriptCall, 'at' | 'ms'> {
  const prefix = /^[A-Za-z]{1,16};[-+];/.exec(keyOf(target))
  return {
    mode,
    route: target?.by ?? null,
    key_prefix: prefix?.[0] ?? null,
    stage: line?.stage ?? null,
    number: line?.number ?? null,
    accounts: line === null ? [] : accountsOf(line.detail),
  }
}

function answerOf(mode: Mode, end: ProcessEnd): ScriptAnswer {
  const line = readLine(end)
  if (line?.stage === 'done' && line.number === 0) return { answer: 'done' }
  return failureOf(mode, end, line)
}

function failureOf(mode: Mode, end: ProcessEnd, line: Line | null): Failure {
  switch (end.end) {
    case 'not_started':
      return { answer: 'not_run', number: null, why: `not started: ${end.why}` }
    case 'killed':
      return { answer: 'silent', why: `killed: ${end.why}` }
    case 'exited':
      return end.exitCode === 0 ? stageFailure(mode, line) : scriptFailure(mode, end)
  }
}

/** A failure that the script reported. */
function stageFailure(mode: Mode, line: Line | null): Failure {
  if (line?.stage === 'order' && line.number !== 0) {
    return { answer: 'not_run', number: line.number, why: `order not read, number ${line.number}` }
  }
  const stage = STAGES[mode].find((name) => name === line?.stage)
  if (line === null || stage === undefined || line.number === 0) {
    return { answer: 'silent', why: 'unreadable answer' }
  }
  return { answer: 'refused', stage, number: line.number }
}

/** A failure that osascript reported: the script did not finish. */
function scriptFailure(mode: Mode, end: Extract<ProcessEnd, { readonly end: 'exited' }>): Failure {
  const number = lastNumber(end.stderr)
  const why = `exit ${end.exitCode}, number ${number ?? 'unknown'}`
  if (isNotCompiled(number)) return { answer: 'not_run', number, why }
  // The script catches errors within its stages, so the progress of a send is unknown.
  const isSend = mode === 'send' || mode === 'send_file'
  if (number === null || isSend) return { answer: 'silent', why }
  return { answer: 'refused', stage: 'account', number }
}

/** The script's only line; null if it wrote none, or more. */
function readLine(end: ProcessEnd): Line | null {
  if (end.end !== 'exited' || end.exitCode !== 0) return null
  const found = /^([a-z]+)\t(-?\d{1,9})\t([^\t\n]*)\n?$/.exec(end.stdout)
  if (found === null) return null
  const [, stage = '', number, detail = ''] = found
  return { stage, number: Number(number), detail }
}

const STATE = /^(enabled|disabled|unknown),(connected|disconnected|unknown)(?: |$)/
const ACCOUNT =
  / ([A-Za-z]{1,16}),(enabled|disabled|unknown),(connected|disconnected|unknown)(?= |$)/g

function stateOf(detail: string): AccountState | null {
  const [, enabled, connection] = STATE.exec(detail) ?? []
  if (enabled === undefined) return null
  return { isEnabled: enabled !== 'disabled', isConnected: connection !== 'disconnected' }
}

function accountsOf(detail: string): readonly Account[] {
  return [...detail.matchAll(ACCOUNT)].map(([, service = '', enabled, connection]) => ({
    service,
    // STATE and ACCOUNT match only these values.
    enabled: enabled as Account['enabled'],
    connection: connection as Account['connection'],
  }))
}

export type FailureClass =
  /** The owner has not allowed us to control Messages.app. */
  | 'permission'
  | 'not_running'
  /** No reply in time; the request may still be carried out. */
  | 'timeout'
  /** No such chat or participant. */
  | 'not_found'
  /** No iMessage account is signed in. */
  | 'no_account'
  /** This Messages.app does not know the terms of our script. */
  | 'vocabulary'
  | 'file'
  | 'failed'

/**
 * Numbers below zero are Apple's (MacErrors.h, AEDataModel.h and ASRegistry.h of its SDK); BlueBubbles
 * saw 1002 from Messages.app.
 */
const CLASSES: ReadonlyMap<number, FailureClass> = new Map([
  [-1743, 'permission'], // errAEEventNotPermitted
  [-1744, 'permission'], // errAEEventWouldRequireUserConsent
  [-600, 'not_running'], // procNotFound
  [-609, 'not_running'], // connectionInvalid
  [-10810, 'not_running'], // kLSUnknownErr: it could not be launched
  [-1712, 'timeout'], // errAETimeout
  [-1728, 'not_found'], // errAENoSuchObject
  [-1719, 'no_account'], // errAEIllegalIndex: `1st account whose …` matches none
  [-2753, 'no_account'], // OSAUndefinedVariable; mautrix meets it if the service is missing
  [-1700, 'vocabulary'], // errAECoercionFail
  [-1708, 'vocabulary'], // errAEEventNotHandled
  [-2740, 'vocabulary'], // OSASyntaxError
  [-2741, 'vocabulary'], // OSASyntaxTypeError: the dictionary lacks a word
  [-43, 'file'], // fnfErr
  [-128, 'failed'], // userCanceledErr
  [-2700, 'failed'], // an error without its own number
  [-10000, 'failed'], // errAEEventFailed
  [-10004, 'failed'], // errAEPrivilegeError
  [1002, 'failed'],
])

export function classOf(number: number): FailureClass {
  return CLASSES.get(number) ?? 'failed'
}

/** OSASyntaxError or OSASyntaxTypeError: the script did not compile, so nothing of it can have run. */
export function isNotCompiled(number: number | null): boolean {
  return number === -2740 || number === -2741
}

/**
 * The last integer in parentheses, or null. Nothing else in osascript's error line is reliable: it is
 * localized, has British or American spelling, and its apostrophes are typographic.
 */
export function lastNumber(stderr: string): number | null {
  const found = [...stderr.matchAll(/[(\uff08]([-\u2212]?)(\d{1,9})[)\uff09]/g)].at(-1)
  if (found === undefined) return null
  const [, sign, digits] = found
  return sign === '' ? Number(digits) : -Number(digits)
}
