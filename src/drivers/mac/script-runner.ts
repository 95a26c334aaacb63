import type { ProcessEnd, RunProcess } from '../../system/process.ts'
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

export type AccountState = { readonly isEnabled: boolean; readonly isConnected: boolean }

export type AccountAnswer =
  | { readonly answer: 'account'; readonly state: AccountState }
  | Exclude<ScriptAnswer, { readonly answer: 'done' }>

export type ScriptTools = { readonly run: RunProcess; readonly osascriptPath: string }

type Mode = 'account' | 'check' | 'send'
type Line = { readonly stage: string; readonly number: number; readonly detail: string }
type Failure = Exclude<ScriptAnswer, { readonly answer: 'done' }>

/** The script itself gives up each Apple event after 25 s; this is for one that hangs all the same. */
const TIMEOUT_MS = 35_000
const KILL_AFTER_MS = 38_000

const STATES: ReadonlyMap<string, AccountState> = new Map([
  ['enabled,connected', { isEnabled: true, isConnected: true }],
  ['enabled,disconnected', { isEnabled: true, isConnected: false }],
  ['disabled,connected', { isEnabled: false, isConnected: true }],
  ['disabled,disconnected', { isEnabled: false, isConnected: false }],
])

/** The stages that each mode goes through. */
const STAGES: Readonly<Record<Mode, readonly Stage[]>> = {
  account: ['account'],
  check: ['account', 'resolve'],
  send: ['account', 'resolve', 'send'],
}

/** Messages.app as far as AppleScript reaches it. */
export class MessagesScript {
  readonly #run: RunProcess
  readonly #path: string

  constructor({ run, osascriptPath }: ScriptTools) {
    this.#run = run
    this.#path = osascriptPath
  }

  /** What the iMessage account of this Mac user is like. */
  async account(signal: AbortSignal): Promise<AccountAnswer> {
    const end = await this.#osascript(['account', '', '', ''], signal)
    const line = readLine(end)
    const state =
      line?.stage === 'account' && line.number === 0 ? STATES.get(line.detail) : undefined
    return state === undefined ? failureOf('account', end, line) : { answer: 'account', state }
  }

  /** Finds the account and `target`, and sends nothing. */
  async check(target: Target, signal: AbortSignal): Promise<ScriptAnswer> {
    return answerOf('check', await this.#osascript(['check', ...wordsOf(target), ''], signal))
  }

  /**
   * Sends `text`, once. There is no signal: to end osascript takes back no Apple event that it has
   * sent, and would only leave us in doubt.
   */
  async send(target: Target, text: string): Promise<ScriptAnswer> {
    const never = new AbortController().signal
    return answerOf('send', await this.#osascript(['send', ...wordsOf(target), text], never))
  }

  #osascript(args: readonly string[], signal: AbortSignal): Promise<ProcessEnd> {
    const limits = { timeoutMs: TIMEOUT_MS, killAfterMs: KILL_AFTER_MS }
    const order = { path: this.#path, args: ['-', ...args], input: MESSAGES_SCRIPT, ...limits }
    return this.#run(order, signal)
  }
}

function wordsOf(target: Target): readonly [route: string, key: string] {
  switch (target.by) {
    case 'chat':
      return ['chat', target.guid]
    case 'participant':
      return ['participant', target.handle]
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
  const found = /^([a-z]+)\t(-?\d{1,9})\t([a-z,]*)\n?$/.exec(end.stdout)
  if (found === null) return null
  const [, stage = '', number, detail = ''] = found
  return { stage, number: Number(number), detail }
}
