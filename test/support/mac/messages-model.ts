// Messages.app and the network behind it, as far as a program sees them: the answers of AppleScript, and
// what appears in chat.db. Each turn has its source beside it here or in messages-behaviours.ts; what
// nobody has seen is the worse of what may be.

import { existsSync } from 'node:fs'

import { FILE_SECONDS, MESSAGES_SCRIPT } from '../../../src/lines/kinds/mac/script.ts'
import type { Clock } from '../../../src/system/clock.ts'
import type { ChatDbFile, MessageValues, Received } from './chat-db-file.ts'
import { replaceChatDb, type Replacement } from './chat-db-replacement.ts'
import { delayedBy, DELAYS, fateOf, type CarriedText, type Stage } from './messages-behaviours.ts'
import {
  courseOf,
  EVENT_TIMEOUT_MS,
  NOT_FOUND,
  TIMED_OUT,
  type Behaviour,
  type Course,
} from './script-behaviours.ts'
import { TracePlayer } from './trace-player.ts'
import { OWN_NUMBER } from './trace-steps.ts'
import type { TraceStep } from './trace.ts'

/** What osascript ends with; `hang` is no end. */
export type ScriptEnd =
  | { readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  | 'hang'

/** What the script was asked for, without the text. */
export type ScriptCall = { readonly mode: string; readonly route: string; readonly key: string }

type Request = ScriptCall & {
  readonly service: string
  readonly text: string
  readonly path: string
}

const NOT_COMPILED: ScriptEnd = {
  exitCode: 1,
  stdout: '',
  stderr: '0:6: syntax error: Expected end of line but found identifier. (-2741)\n',
}
/** For some seconds after its start Messages.app does not find chats that it has (imessage-max). */
const COLD_MS = 5_000
/** errAEIllegalIndex. */
const NO_ACCOUNT = -1719
/** errAEEventNotHandled. */
const NOT_UNDERSTOOD = -1708

export class MessagesModel {
  readonly clock: Clock
  /** The database, which another one may replace. */
  file: ChatDbFile
  /** The number of the line. */
  readonly number = OWN_NUMBER
  /** The iMessage account, which `exists` where a user is signed in. */
  account = { exists: true, isEnabled: true, isConnected: true }
  /** False where no iPhone forwards its text messages. */
  hasSms = true
  /** iMessage accounts of former days, which AppleScript names before that one: switched off. */
  oldAccounts = 0
  /** False if this version of macOS fails at `enabled` and `connection status`. */
  hasAccountProperties = true
  /** Whether the owner has allowed to control Messages.app. */
  automation: 'granted' | 'denied' = 'granted'
  /** False while Messages.app shows a dialog or is busy: Apple events time out. */
  isAnswering = true
  delays = DELAYS
  /** Every call of the script, in order. */
  readonly calls: ScriptCall[] = []
  readonly #player: TracePlayer
  readonly #carried: CarriedText[] = []
  readonly #next: Behaviour[] = []
  readonly #behaviours = new Map<string, Behaviour>()
  readonly #closing = new AbortController()
  #isRunning = true
  #launchedAt = -Infinity

  constructor(file: ChatDbFile, clock: Clock) {
    this.file = file
    this.clock = clock
    const onCarry = (letter: CarriedText) => void this.#carried.push(letter)
    this.#player = new TracePlayer({ clock, file: () => this.file, onCarry })
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** What really went out to the network, in order. */
  get letters(): readonly CarriedText[] {
    return this.#carried
  }

  /** How often a text really went out to the network. */
  carried(text: string): number {
    return this.#carried.filter((letter) => letter.text === text).length
  }

  /** How the next sends end, one each; a check before a send finds the same. */
  nextSend(...behaviours: readonly Behaviour[]): void {
    this.#next.push(...behaviours)
  }

  /** How every send to a handle ends. */
  behave(handle: string, behaviour: Behaviour): void {
    this.#behaviours.set(handle, behaviour)
  }

  /** A person writes to the line: one commit. */
  receive(from: string, text: string, values: MessageValues = {}): Received {
    const at = this.clock.now()
    const own = { destination_caller_id: this.number }
    return this.file.receive({ from, text, at, values: { ...own, ...values } })
  }

  /** Writes a trace from now on; resolves with its last step. */
  play(steps: readonly TraceStep[]): Promise<void> {
    return this.#player.play(steps)
  }

  /** Restores or rebuilds the database. */
  replace(how: Replacement): void {
    this.file = replaceChatDb(this.file, how)
  }

  /**
   * A person ends Messages.app, or a signal does. Whether it loses what it was given while it hung, nobody
   * has tried: here it does not.
   */
  quit(): void {
    this.#isRunning = false
  }

  launch(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.isAnswering = true
    this.#launchedAt = this.clock.monotonic()
  }

  /** Nothing happens in Messages any more, and the database is closed. */
  close(): void {
    this.#closing.abort()
    this.#player.close()
    this.file.close()
  }

  /** What osascript does with these arguments and this standard input. */
  async handleScript(args: readonly string[], stdin: string): Promise<ScriptEnd> {
    if (!Bun.deepEquals(args, ['-l', 'AppleScript', '-e', MESSAGES_SCRIPT])) return NOT_COMPILED
    const request = requestOf(stdin)
    // NSJSONSerialization gives `missing value`, to which nothing can be said.
    if (request === null) return line('order', NOT_UNDERSTOOD)
    const { mode, route, key } = request
    this.calls.push({ mode, route, key })
    const isStalled = this.#isRunning && !this.isAnswering
    await this.#wait(isStalled ? EVENT_TIMEOUT_MS : this.delays.scriptMs)
    if (isStalled) return line('account', TIMED_OUT)
    const isMissing = request.service === 'SMS' && !this.hasSms
    const blocked = isMissing ? NO_ACCOUNT : this.#accountNumber()
    if (blocked !== 0) return line('account', blocked)
    if (mode === 'account') return line('account', 0, this.#accountDetail())
    return this.#reach(request)
  }

  /** Goes through the stages as the next behaviour wants it. */
  #reach(request: Request): ScriptEnd | Promise<ScriptEnd> {
    const { mode, route, key } = request
    const to = route === 'chat' ? this.#identifierOf(key) : key
    const course = courseOf(this.#behaviourFor(to, request), this.delays)
    if (course.account !== 0) return this.#refuse('account', course.account)
    if (to === null) return line('resolve', NOT_FOUND)
    const resolved = route === 'chat' ? course.chat : course.participant
    // What is not found as a chat is looked for as a participant, with the same behaviour.
    if (resolved === NOT_FOUND && route === 'chat') return line('resolve', resolved)
    if (resolved !== 0) return this.#refuse('resolve', resolved)
    if (mode === 'check') return line('done', 0)
    const { text, path } = request
    const letter = { from: this.number, to, text }
    if (mode === 'send') return this.#send(letter, course)
    const isReadable = existsSync(path)
    const unread = { ...course, fate: 'failed25_after_2s' as const }
    return this.#send({ ...letter, text: '\uFFFC', file: path }, isReadable ? course : unread)
  }

  async #send(letter: CarriedText, course: Course): Promise<ScriptEnd> {
    this.#next.shift()
    if (course.fate !== null) {
      const delays = delayedBy(course.fateAfterMs, this.delays)
      void this.#player.play(fateOf(course.fate, letter, delays))
    }
    const limitMs = letter.file === undefined ? EVENT_TIMEOUT_MS : FILE_SECONDS * 1_000
    await this.#wait(Math.min(course.sendTakesMs, limitMs))
    if (course.sendTakesMs > limitMs) return line('send', TIMED_OUT)
    if (course.send === 'hang') return 'hang'
    return course.send === 0 ? line('done', 0) : line('send', course.send)
  }

  /** A behaviour that has refused is used up. */
  #refuse(stage: Stage, number: number): ScriptEnd {
    this.#next.shift()
    return line(stage, number)
  }

  #behaviourFor(to: string | null, { route, key, service }: Request): Behaviour {
    const [next] = this.#next
    if (next !== undefined) return next
    if (service === 'SMS') return 'sms'
    const said = this.#isCarriers(key) ? 'sms' : this.#behaviours.get(to ?? '')
    if (said !== undefined) return said
    if (!this.account.isEnabled) return 'account_disabled'
    if (!this.account.isConnected) return 'stuck'
    // To its own alias an account writes by its chat only (imessage-max).
    if (to === this.number && route === 'participant') return 'failed22_at_once'
    // Taken, and failed later, where a number lacks its plus sign (mac_messages_mcp).
    const isHandle = to === null || /^\+|@|^chat/.test(to)
    return isHandle ? 'happy' : 'failed22_after_2s'
  }

  /**
   * Whether it is a chat that sends by the carrier: its service says so, and if one chat carries all services
   * (macOS 26) the last message in it, which nobody has tried.
   */
  #isCarriers(guid: string): boolean {
    const sql = `SELECT service_name AS service FROM chat WHERE guid = $guid
      UNION ALL SELECT * FROM (SELECT m.service FROM chat c
        JOIN chat_message_join j ON j.chat_id = c.ROWID JOIN message m ON m.ROWID = j.message_id
        WHERE c.guid = $guid AND c.guid LIKE 'any;%' ORDER BY m.ROWID DESC LIMIT 1)`
    const services = this.file.db.query<{ service: string }, [{ guid: string }]>(sql).all({ guid })
    return services.some(({ service }) => service === 'SMS' || service === 'RCS')
  }

  /** 0 where AppleScript may talk to Messages.app and finds the iMessage account. */
  #accountNumber(): number {
    if (this.automation === 'denied') return -1743
    if (!this.#isRunning) return -600
    return this.account.exists ? 0 : -1719
  }

  /** The account that sends (the living one, unless it is switched off too), and each that there is. */
  #accountDetail(): string {
    const { isEnabled, isConnected } = this.account
    const stateOf = (on: boolean, connected: boolean) =>
      this.hasAccountProperties
        ? `${on ? 'enabled' : 'disabled'},${connected ? 'connected' : 'disconnected'}`
        : 'unknown,unknown'
    const own = stateOf(isEnabled, isConnected)
    const all = [...Array<string>(this.oldAccounts).fill(stateOf(false, false)), own]
    const best = isEnabled ? own : all[0]
    return [
      best,
      ...all.map((state) => `iMessage,${state}`),
      ...(this.hasSms ? ['SMS,enabled,connected'] : []),
    ].join(' ')
  }

  /** Whom a chat is with; null for one that Messages.app does not find. */
  #identifierOf(guid: string): string | null {
    if (this.clock.monotonic() < this.#launchedAt + COLD_MS) return null
    const sql = 'SELECT chat_identifier AS identifier FROM chat WHERE guid = $guid'
    const found = this.file.db.query<{ identifier: string }, [{ guid: string }]>(sql).get({ guid })
    return found?.identifier ?? null
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await this.clock.sleep(ms, this.#closing.signal)
  }
}

/** What the script reads of its input; null if that is no JSON object. */
function requestOf(stdin: string): Request | null {
  try {
    return JSON.parse(stdin) as Request // The names of script.ts, as the relay writes them.
  } catch {
    return null
  }
}

/** The one line that the script prints. */
function line(stage: Stage | 'order' | 'done', number: number, detail = ''): ScriptEnd {
  return { exitCode: 0, stdout: `${stage}\t${number}\t${detail}\n`, stderr: '' }
}
