import { NEVER, type Clock } from '../../../system/clock.ts'
import type { ProcessEnd, RunProcess } from '../../../system/process.ts'
import { isNotCompiled, lastNumber } from './apple-events.ts'
import { MESSAGES_SCRIPT } from './script.ts'

/** Whom a message goes to: a chat that Messages.app has, or a handle (E.164 or e-mail address). */
export type Target =
  | { readonly by: 'chat'; readonly guid: string }
  | { readonly by: 'participant'; readonly handle: string }

export type Stage = 'account' | 'resolve' | 'send'

/** What is known after the script was to run. */
export type ScriptAnswer =
  /** All stages asked for came through. */
  | { readonly answer: 'done' }
  /** A stage failed, with this number; after -1712 in `send` the message may still go out. */
  | { readonly answer: 'refused'; readonly stage: Stage; readonly number: number }
  /** It is proven that no Apple event of the send stage was sent. */
  | { readonly answer: 'not_run'; readonly number: number | null; readonly why: string }
  /** It may have acted. `why` holds nothing of what was said or sent. */
  | { readonly answer: 'silent'; readonly why: string }

/** What could not be read of an account counts as well: nothing may go offline by a missing word. */
export type AccountState = { readonly isEnabled: boolean; readonly isConnected: boolean }

/** An account of Messages as the script tells of it. */
export type Account = {
  /** `iMessage`, `SMS`, … or `unknown`. */
  readonly service: string
  readonly enabled: 'enabled' | 'disabled' | 'unknown'
  readonly connection: 'connected' | 'disconnected' | 'unknown'
}

export type AccountAnswer =
  /** Of the account that sends. */
  | { readonly answer: 'account'; readonly state: AccountState }
  | Exclude<ScriptAnswer, { readonly answer: 'done' }>

/** A run of the script as a trace may tell it: nothing of a text, and of a recipient the chat's sign. */
export type ScriptCall = {
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  readonly mode: Mode
  readonly route: Target['by'] | null
  /** What stands before the identifier in a chat's guid: `iMessage;-;` or `any;-;`. */
  readonly keyPrefix: string | null
  /** Which stage the script told of, with its number; null where it told nothing. */
  readonly stage: string | null
  readonly number: number | null
  readonly ms: number
  /** What `account` found. */
  readonly accounts: readonly Account[]
}

export type ScriptTools = {
  readonly run: RunProcess
  readonly osascriptPath: string
  readonly clock: Clock
  readonly onCall?: ((call: ScriptCall) => void) | undefined
}

type Mode = 'account' | 'check' | 'send'
type Order = { readonly mode: Mode; readonly target: Target | null; readonly text: string }
type Line = { readonly stage: string; readonly number: number; readonly detail: string }
type Failure = Exclude<ScriptAnswer, { readonly answer: 'done' }>

/** The script itself gives up each Apple event after 25 s; this is for one that hangs all the same. */
const TIMEOUT_MS = 35_000
const KILL_AFTER_MS = 38_000

/** The stages that each mode goes through. */
const STAGES: Readonly<Record<Mode, readonly Stage[]>> = {
  account: ['account'],
  check: ['account', 'resolve'],
  send: ['account', 'resolve', 'send'],
}

/** Messages.app as far as AppleScript reaches it. */
export class MessagesScript {
  readonly #tools: ScriptTools

  constructor(tools: ScriptTools) {
    this.#tools = tools
  }

  /** What the iMessage account of this Mac user is like. */
  async account(signal: AbortSignal): Promise<AccountAnswer> {
    const end = await this.#osascript({ mode: 'account', target: null, text: '' }, signal)
    const line = readLine(end)
    const state = line?.stage === 'account' && line.number === 0 ? stateOf(line.detail) : null
    return state === null ? failureOf('account', end, line) : { answer: 'account', state }
  }

  /** Finds the account and `target`, and sends nothing. */
  async check(target: Target, signal: AbortSignal): Promise<ScriptAnswer> {
    return answerOf('check', await this.#osascript({ mode: 'check', target, text: '' }, signal))
  }

  /**
   * Sends `text`, once. There is no signal: to end osascript takes back no Apple event that it has
   * sent, and would only leave us in doubt.
   */
  async send(target: Target, text: string): Promise<ScriptAnswer> {
    return answerOf('send', await this.#osascript({ mode: 'send', target, text }, NEVER))
  }

  async #osascript(order: Order, signal: AbortSignal): Promise<ProcessEnd> {
    const { run, clock, osascriptPath: path } = this.#tools
    const [at, startedAt] = [clock.now(), clock.monotonic()]
    const args = ['-l', 'AppleScript', '-e', MESSAGES_SCRIPT]
    const limits = { timeoutMs: TIMEOUT_MS, killAfterMs: KILL_AFTER_MS }
    const end = await run({ path, args, input: inputOf(order), ...limits }, signal)
    const ms = Math.round(clock.monotonic() - startedAt)
    this.#tools.onCall?.({ at, ms, ...toldOf(order, readLine(end)) })
    return end
  }
}

function inputOf({ mode, target, text }: Order): string {
  return JSON.stringify({ mode, route: target?.by ?? '', key: keyOf(target), text })
}

function keyOf(target: Target | null): string {
  switch (target?.by) {
    case 'chat':
      return target.guid
    case 'participant':
      return target.handle
    case undefined:
      return ''
  }
}

function toldOf({ mode, target }: Order, line: Line | null): Omit<ScriptCall, 'at' | 'ms'> {
  const prefix = /^[A-Za-z]{1,16};[-+];/.exec(keyOf(target))
  return {
    mode,
    route: target?.by ?? null,
    keyPrefix: prefix?.[0] ?? null,
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

/** What the script says of itself: which stage failed. */
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

/** What osascript says where the script did not come to its end. */
function scriptFailure(mode: Mode, end: Extract<ProcessEnd, { readonly end: 'exited' }>): Failure {
  const number = lastNumber(end.stderr)
  const why = `exit ${end.exitCode}, number ${number ?? 'unknown'}`
  if (isNotCompiled(number)) return { answer: 'not_run', number, why }
  // The script catches what its stages throw, so nobody knows how far a send has come.
  if (number === null || mode === 'send') return { answer: 'silent', why }
  return { answer: 'refused', stage: 'account', number }
}

/** The script's one line; null where there is none, or more. */
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
    // The words of the expression.
    enabled: enabled as Account['enabled'],
    connection: connection as Account['connection'],
  }))
}
