// What WebDriverAgent does with a request, over the model of a phone: one command after the other, one
// session at a time, elements that go stale (version 16.7.0: FBWebServer.m, FBSession.m, FBElementCache.m,
// FBExceptionHandler.m).

import { AgentError } from '../../../src/lines/kinds/iphone/agent/wda-http.ts'
import type { MessagesPhone } from './messages-phone.ts'
import { allNodes, BACK, cellAt, type JsonNode } from './messages-tree.ts'

/** How a request goes wrong, before it is carried out or after. */
export type Meddling =
  | { readonly how: 'error'; readonly when: 'before' | 'after' }
  /** The connection breaks. */
  | { readonly how: 'drop'; readonly when: 'before' | 'after' }
  /** It is carried out so much later, and nothing else meanwhile. */
  | { readonly how: 'slow'; readonly ms: number }
  /** Another body than JSON. */
  | { readonly how: 'answer'; readonly body: string }
  | { readonly how: 'stale' }

/** The connection broke; no answer comes. */
export class Dropped extends Error {}

/** An error of the protocol. */
class CommandError extends Error {
  readonly code: WdaError

  constructor(code: WdaError) {
    super(code)
    this.code = code
  }
}

type Arguments = Readonly<Record<string, unknown>>
/** XCTest binds an element to its view (`allElementsBoundByAccessibilityElement`, FBXCodeCompatibility.m). */
type Element = { readonly id: string; readonly screen: unknown; readonly view: string | null }

export class WdaCommands {
  readonly phone: MessagesPhone
  /** How long a command takes. */
  commandMs = 50
  /** Whether `/status` passes by the queue of commands, as in 16.12.7 (FBRoute.h). */
  isStatusStandalone = false
  /** The cable is out: no request arrives, and none is answered. */
  isUnplugged = false
  meddle: (name: CommandName, ordinal: number) => Meddling | null = () => null
  /** Every command that arrived, in order, with its arguments. */
  readonly requests: { readonly name: CommandName; readonly body: Arguments }[] = []
  /** Requests that came while another one was waited for. */
  overlaps = 0
  #sessionId: string | null = null
  #sessions = 0
  readonly #elements = new Map<string, Element>()
  #waitedFor = 0
  /** The main queue of the agent. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(phone: MessagesPhone) {
    this.phone = phone
  }

  get names(): readonly CommandName[] {
    return this.requests.map(({ name }) => name)
  }

  /** Another controller makes a session of its own: ours is gone. */
  takeSession(): void {
    this.#createSession()
  }

  async handle(method: string, target: string, body: string): Promise<Answer> {
    if (this.isUnplugged) throw new Dropped()
    const isStatus = routeOf(method, target)?.name === 'status'
    if (isStatus && this.isStatusStandalone) return this.#carryOut(method, target, body)
    if (this.#waitedFor > 0 && !isStatus) this.overlaps += 1
    this.#waitedFor += 1
    const done = this.#queue.then(() => this.#carryOut(method, target, body))
    this.#queue = done.catch(() => {})
    return await done.finally(() => {
      this.#waitedFor -= 1
    })
  }

  /** The client has gone: nobody waits for its command, which is carried out all the same. */
  abandon(): void {
    this.#waitedFor -= 1
    this.#queue = this.#queue.finally(() => {
      this.#waitedFor += 1
    })
  }

  async #carryOut(method: string, target: string, body: string): Promise<Answer> {
    const route = routeOf(method, target)
    if (route === null) return failed('unknown command', this.#sessionId)
    const name = this.#nameOf(route)
    const meddling = this.meddle(name, this.requests.length)
    const json = parse(body)
    this.requests.push({ name, body: json })
    const slowMs = meddling?.how === 'slow' ? meddling.ms : 0
    await this.phone.clock.sleep(this.commandMs + slowMs, new AbortController().signal)
    if (this.isUnplugged) throw new Dropped()
    const instead = this.#insteadOf(meddling, 'before')
    if (instead !== null) return instead
    const answer = this.#answer(route, json)
    return this.#insteadOf(meddling, 'after') ?? answer
  }

  /** A click is one of the send button; of anything else it is a tap. */
  #nameOf({ name, element }: Route): CommandName {
    const id = this.#elements.get(element)?.id ?? SEND_BUTTON_ID
    return name === 'click' && id !== SEND_BUTTON_ID ? 'tap' : name
  }

  /** What is answered in the place of the truth. */
  #insteadOf(meddling: Meddling | null, when: 'before' | 'after'): Answer | null {
    if (meddling === null || meddling.how === 'slow') return null
    if (meddling.how === 'answer') return { status: 200, body: meddling.body }
    if (meddling.how === 'stale') return failed('stale element reference', this.#sessionId)
    if (meddling.when !== when) return null
    if (meddling.how === 'drop') throw new Dropped()
    return failed('unknown error', this.#sessionId)
  }

  #answer(route: Route, body: Arguments): Answer {
    if (route.session !== null && route.session !== this.#sessionId) {
      return failed('invalid session id', this.#sessionId)
    }
    try {
      return succeeded(this.#act(route, body), this.#sessionId)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      return failed(error.code, this.#sessionId)
    }
  }

  #act(route: Route, body: Arguments): unknown {
    const { phone } = this
    const text = (key: string) => (typeof body[key] === 'string' ? body[key] : '')
    const acts: Readonly<Record<CommandName, () => unknown>> = {
      status: () => ({ ready: true, os: { version: '18.6' }, build: { version: '16.7.0' } }),
      session: () => ({ sessionId: this.#createSession(), capabilities: {} }),
      settings: () => body['settings'],
      source: () => phone.tree(),
      url: () => phone.openUrl(text('url')),
      activate: () => phone.activate(),
      find: () => this.#find(text('value')),
      click: () => this.#touch(route, () => this.#click(route.element)),
      value: () => this.#touch(route, () => phone.type(text('text'))),
      text: () => this.#touch(route, () => this.#textOf(route.element)),
      clear: () => this.#touch(route, () => phone.clear()),
      tap: () => this.#tap(Number(body['x']), Number(body['y'])),
      swipe: () => phone.swipe(text('direction') === 'up' ? 'up' : 'down'),
      alert_text: () => this.#alert().text,
      alert_buttons: () => this.#alert().buttons,
      alert_accept: () => this.#pressAlert(text('name')),
      locked: () => phone.isLocked,
      unlock: () => this.#unlock(),
    }
    return acts[route.name]()
  }

  /** A new session ends the one before. */
  #createSession(): string {
    this.#sessions += 1
    this.#elements.clear()
    this.#sessionId = `SESSION-${this.#sessions}`
    return this.#sessionId
  }

  /** The elements with a name: their identifier, else their label (XCUIElement+FBWebDriverAttributes.m). */
  #find(name: string): readonly unknown[] {
    return this.#shown(name).map(({ label, view = null }, index) => {
      const uuid = `ELEMENT-${this.requests.length}-${index}`
      this.#elements.set(uuid, { id: name, screen: this.#screenKey(), view })
      return { 'element-6066-11e4-a52e-4f735466cecf': uuid, ELEMENT: uuid, label }
    })
  }

  #shown(name: string): readonly JsonNode[] {
    return allNodes(this.phone.tree()).filter((node) => node.name === name)
  }

  /** A view that is on the screen, whatever its label says by now. */
  #isThere({ id, screen, view }: Element): boolean {
    if (screen !== this.#screenKey()) return false
    if (view === null) return this.#shown(id).length > 0
    return allNodes(this.phone.tree()).some((node) => node.view === view)
  }

  #click(uuid: string): void {
    const { phone } = this
    const { id, view } = this.#elements.get(uuid) ?? fail('stale element reference')
    const chat = phone.chats.find(({ key }) => view === `cell of ${key}`)
    if (chat !== undefined) phone.open(chat.key)
    else if (id === SEND_BUTTON_ID) phone.touchSend()
    else if (id === 'BackButton') phone.back()
    else if (id === 'ConversationTitle') phone.touchTitle()
    else if (phone.listHeaders.includes(id)) phone.screen = { on: 'elsewhere' }
  }

  #screenKey(): unknown {
    const { screen } = this.phone
    return screen.on === 'chat' ? screen.chat : screen.on
  }

  /** It is looked for once more before it is touched (FBElementCache's `checkStaleness`). */
  #touch<T>({ element }: Route, act: () => T): T | undefined {
    const known = this.#elements.get(element)
    if (known === undefined || !this.#isThere(known)) fail('stale element reference')
    if (this.#isUnderAlert()) return undefined
    return act()
  }

  /** True where the touch lands on an alert instead, and is answered as done. */
  #isUnderAlert(): boolean {
    const { phone } = this
    if (phone.alerts.length === 0) return false
    phone.touchesUnderAlert += 1
    if (phone.onAlertTouch === null) fail('unexpected alert open')
    phone.onAlertTouch()
    return true
  }

  /** The whole value of one element is in a snapshot of its own (FBElementCommands.m). */
  #textOf(element: string): string {
    const { screen } = this.phone
    const isComposer = this.#elements.get(element)?.id === 'messageBodyField'
    return isComposer && screen.on === 'chat' ? screen.chat.draft : ''
  }

  #tap(x: number, y: number): void {
    const { phone } = this
    if (this.#isUnderAlert()) return
    const isBack = y < BACK.y + BACK.height && x < BACK.x + BACK.width
    if (['chat', 'details'].includes(phone.screen.on) && isBack) phone.back()
    const chat = phone.screen.on === 'list' && !isBack ? cellAt(phone, y) : null
    if (chat !== null) phone.open(chat.key)
  }

  #alert() {
    const [alert] = this.phone.alerts
    if (alert === undefined) throw new CommandError('no such alert')
    return alert
  }

  #pressAlert(name: string): void {
    if (!this.#alert().buttons.includes(name)) throw new CommandError('invalid element state')
    this.phone.alerts.shift()
  }

  /** It gives up after some seconds if there is a passcode (XCUIDevice+FBHelpers.m). */
  #unlock(): void {
    if (!this.phone.unlock()) throw new CommandError('unknown error')
  }
}

const SEND_BUTTON_ID = 'sendButton'

function fail(error: WdaError): never {
  throw new CommandError(error)
}

/** A body that is no JSON counts as none (FBWebServer.m). */
function parse(body: string): Arguments {
  try {
    return JSON.parse(body) as Arguments // What the client under test sent: an object.
  } catch {
    return {}
  }
}

// The routes and the table of errors of WebDriverAgent 16.7.0 (FBSessionCommands.m, FBElementCommands.m,
// FBAlertViewCommands.m, FBCustomCommands.m, FBDebugCommands.m; FBCommandStatus.m).

const IN_SESSION = '/session/([^/]+)'

const ROUTES = {
  status: ['GET', '/status'],
  session: ['POST', '/session'],
  settings: ['POST', `${IN_SESSION}/appium/settings`],
  source: ['GET', `${IN_SESSION}/source`],
  url: ['POST', `${IN_SESSION}/url`],
  activate: ['POST', `${IN_SESSION}/wda/apps/activate`],
  find: ['POST', `${IN_SESSION}/elements`],
  click: ['POST', `${IN_SESSION}/element/([^/]+)/click`],
  value: ['POST', `${IN_SESSION}/element/([^/]+)/value`],
  text: ['GET', `${IN_SESSION}/element/([^/]+)/text`],
  clear: ['POST', `${IN_SESSION}/element/([^/]+)/clear`],
  tap: ['POST', `${IN_SESSION}/wda/tap`],
  swipe: ['POST', `${IN_SESSION}/wda/swipe`],
  alert_text: ['GET', `${IN_SESSION}/alert/text`],
  alert_buttons: ['GET', `${IN_SESSION}/wda/alert/buttons`],
  alert_accept: ['POST', `${IN_SESSION}/alert/accept`],
  locked: ['GET', '/wda/locked'],
  unlock: ['POST', `${IN_SESSION}/wda/unlock`],
} as const satisfies Record<string, readonly [method: string, path: string]>

export type CommandName = keyof typeof ROUTES

type Route = {
  readonly name: CommandName
  /** Null for a route without one. */
  readonly session: string | null
  readonly element: string
}

export type Answer = { readonly status: number; readonly body: string }

function routeOf(method: string, target: string): Route | null {
  const path = target.replace(/\?.*$/, '')
  for (const [name, [verb, pattern]] of Object.entries(ROUTES)) {
    const match = verb === method ? new RegExp(`^${pattern}$`).exec(path) : null
    if (match === null) continue
    // The keys of the table are the names.
    return { name: name as CommandName, session: match[1] ?? null, element: match[2] ?? '' }
  }
  return null
}

const STATUS = {
  'stale element reference': 404,
  'no such alert': 404,
  'invalid session id': 404,
  'unknown command': 404,
  'invalid element state': 400,
  'unexpected alert open': 500,
  'unknown error': 500,
} as const satisfies Record<string, number>

type WdaError = keyof typeof STATUS

/** `value.error`, `value.message` and `value.traceback`, beside the session (FBResponsePayload.m). */
function failed(error: WdaError, sessionId: string | null): Answer {
  const value = { error, message: 'Descriptions quote what is on the screen.', traceback: '' }
  return { status: STATUS[error], body: JSON.stringify({ value, sessionId }) }
}

function succeeded(value: unknown, sessionId: string | null): Answer {
  return { status: 200, body: JSON.stringify({ value: value ?? null, sessionId }) }
}

/** The code of the error with which it ends; null if it ends well. */
export async function codeOf(promise: Promise<unknown>): Promise<string | null> {
  try {
    await promise
    return null
  } catch (error) {
    return error instanceof AgentError ? error.code : 'no AgentError'
  }
}

/** Meddles with the first command of a name. */
export function firstOf(name: CommandName, meddling: Meddling) {
  let isOver = false
  return (other: CommandName): Meddling | null => {
    if (isOver || other !== name) return null
    isOver = true
    return meddling
  }
}
