// The agent on a phone: WebDriverAgent, which drives the screen. Routes and answers as in version 16.7.0
// (FBSessionCommands.m, FBElementCommands.m, FBAlertViewCommands.m, FBCustomCommands.m).

import type { Handle } from '../../../../domain/handle.ts'
import { type Clock, deadline } from '../../../../system/clock.ts'
import { isRecord, type NodePlace, parseTree, type UiNode } from './ui-tree.ts'
import { AgentError, valueOf, type WdaExchange, type WdaRequest } from './wda-http.ts'

export type AgentAlert = { readonly text: string; readonly buttons: readonly string[] }

/**
 * The agent's id of a view on the screen. XCTest binds it to that view and never looks for another
 * (`allElementsBoundByAccessibilityElement`, FBXCodeCompatibility.m); if the view is gone, a command to it fails as
 * `stale` before anything was done (`checkStaleness`, FBElementCache.m).
 */
export type AgentElement = { readonly id: string }

type ChatLink = { readonly handle: Handle; readonly body: string | null }

const MESSAGES_APP = 'com.apple.MobileSMS'
/** Never `defaultAlertAction`: it would accept an update of iOS. */
const CAPABILITIES = {
  bundleId: MESSAGES_APP,
  forceAppLaunch: false,
  shouldTerminateApp: false,
  shouldWaitForQuiescence: false,
  waitForIdleTimeout: 0,
  disableAutomaticScreenshots: true,
  // Seconds until the agent gives up a snapshot that hangs, before the test daemon hangs too. Since 16.12
  // (FBConfiguration.h); an older agent ignores it.
  accessibilityDeadline: 30,
}
/**
 * `respectSystemAlerts` stays off: with it every message banner counts as an alert, and the tree shows the home
 * screen (FBSession.m, `activeApplication`). System alerts are found without it: `/alert/text` asks the home screen
 * first (FBAlert.m, `alertElementFromApplication`).
 */
const SETTINGS = {
  snapshotMaxDepth: 50,
  animationCoolOffTimeout: 0,
  // Makes found elements come with their labels (FBResponsePayload.m).
  shouldUseCompactResponses: false,
  elementResponseAttributes: 'label',
}

/** Attributes that take time to compute and are not used here. */
const EXCLUDED_ATTRIBUTES = [
  'frame',
  'nativeFrame',
  'visible',
  'accessible',
  'nativeAccessibilityElement',
  'focused',
  'traits',
  'minValue',
  'maxValue',
]
const TREE_PATH = `/source?format=json&excluded_attributes=${EXCLUDED_ATTRIBUTES.join(',')}`

/** WebDriverAgent types 60 characters a second: a piece takes about 17 s. */
const PIECE_LENGTH = 1_000
/** Appium's guide: if a command takes longer, the phone's test daemon has crashed. */
const COMMAND_MS_MAX = 60_000
const HEALTH_MS_MAX = 10_000
/** If the session is lost twice within this time, another controller drives the phone. */
const SHARED_WITHIN_MS = 60_000
/** The key of an element in an answer: the W3C's, and an older one. */
const ELEMENT_KEYS = ['element-6066-11e4-a52e-4f735466cecf', 'ELEMENT']

/** All methods reject with an `AgentError`; its code is `aborted` once their signal has fired. */
export class PhoneAgent {
  readonly #session: WdaSession
  readonly #queue: TaskQueue
  readonly #urgency: Urgency

  private constructor(session: WdaSession, queue: TaskQueue, urgency: Urgency) {
    this.#session = session
    this.#queue = queue
    this.#urgency = urgency
  }

  static over(exchange: WdaExchange, clock: Clock): PhoneAgent {
    return new PhoneAgent(new WdaSession(exchange, clock), new TaskQueue(), 'poll')
  }

  /** The same agent, whose commands wait in the queue with this urgency. */
  at(urgency: Urgency): PhoneAgent {
    return new PhoneAgent(this.#session, this.#queue, urgency)
  }

  /**
   * Resolves if the agent is alive; never waits behind our own commands. Since 16.12 the agent answers while it
   * works (FBRoute.h, `standalone`); an older one that is busy answers later, which is not a failure.
   */
  async health(signal: AbortSignal): Promise<void> {
    const command = { method: 'GET', path: '/status', body: null, signal } as const
    try {
      const status = await this.#session.ask(command, HEALTH_MS_MAX)
      if (isRecord(status) && status['ready'] === true) return
    } catch (error) {
      if (codeOf(error) === 'stuck' && this.#queue.isBusy) return
      throw error
    }
    throw new AgentError('other', 'The agent is not ready.')
  }

  openChat({ handle, body }: ChatLink, signal: AbortSignal): Promise<void> {
    const to = encodeURIComponent(handle).replaceAll('%2B', '+').replaceAll('%40', '@')
    const url = body === null ? `sms:${to}` : `sms:${to}&body=${encodeURIComponent(body)}`
    // Without the bundle id WebDriverAgent would ask Siri to open the address.
    return this.#act('/url', { url, bundleId: MESSAGES_APP }, signal)
  }

  async tree(signal: AbortSignal): Promise<UiNode> {
    const root = parseTree(await this.#run(signal, () => this.#session.get(TREE_PATH, signal)))
    if (root === null) throw new AgentError('other', 'The description of the screen is no tree.')
    return root
  }

  /** Rejects with `stale` if no element on the screen matches `place`. */
  async find(place: NodePlace, signal: AbortSignal): Promise<AgentElement> {
    return await this.#run(signal, () => this.#session.find(place, signal))
  }

  /** Touches at most once: a touch that failed is never repeated. */
  async tap(element: AgentElement, signal: AbortSignal): Promise<void> {
    await this.#run(signal, () => this.#session.onElement(element, post('/click', {}), signal))
  }

  async type(element: AgentElement, text: string, signal: AbortSignal): Promise<void> {
    await this.#run(signal, async () => {
      for (const piece of piecesOf(text)) {
        await this.#session.onElement(element, post('/value', { text: piece }), signal)
      }
    })
  }

  async clear(element: AgentElement, signal: AbortSignal): Promise<void> {
    await this.#run(signal, () => this.#session.onElement(element, post('/clear', {}), signal))
  }

  /** The whole text of a field; the tree has only the beginning. */
  async text(element: AgentElement, signal: AbortSignal): Promise<string> {
    const request = { method: 'GET', path: '/text', body: null } as const
    const text = await this.#run(signal, () => this.#session.onElement(element, request, signal))
    if (typeof text !== 'string') throw new AgentError('other', 'The element has no text.')
    return text
  }

  /** Moves the finger in this direction: `down` shows what is above. */
  swipe(direction: 'up' | 'down', signal: AbortSignal): Promise<void> {
    return this.#act('/wda/swipe', { direction }, signal)
  }

  /** The alert in front, from Messages or the system; null if there is none. */
  async alerts(signal: AbortSignal): Promise<AgentAlert | null> {
    return await this.#run(signal, async () => {
      try {
        const text = await this.#session.get('/alert/text', signal)
        if (typeof text !== 'string') return null
        const buttons = await this.#session.get('/wda/alert/buttons', signal)
        const names = Array.isArray(buttons) ? buttons : []
        return { text, buttons: names.filter((name) => typeof name === 'string') }
      } catch (error) {
        if (codeOf(error) === 'no_such_element') return null
        throw error
      }
    })
  }

  pressAlert(name: string, signal: AbortSignal): Promise<void> {
    return this.#act('/alert/accept', { name }, signal)
  }

  activate(signal: AbortSignal): Promise<void> {
    return this.#act('/wda/apps/activate', { bundleId: MESSAGES_APP }, signal)
  }

  async locked(signal: AbortSignal): Promise<boolean> {
    const command = { method: 'GET', path: '/wda/locked', body: null, signal } as const
    return (await this.#run(signal, () => this.#session.ask(command))) === true
  }

  /** Opens a lock screen without a passcode. */
  unlock(signal: AbortSignal): Promise<void> {
    return this.#act('/wda/unlock', {}, signal)
  }

  async #act(path: string, body: object, signal: AbortSignal): Promise<void> {
    await this.#run(signal, () => this.#session.inSession({ ...post(path, body), signal }))
  }

  #run<T>(signal: AbortSignal, command: () => Promise<T>): Promise<T> {
    return this.#queue.run(this.#urgency, signal, command)
  }
}

type Command = WdaRequest & { readonly signal: AbortSignal }

/** The agent's only session, created when it is needed. */
class WdaSession {
  readonly #exchange: WdaExchange
  readonly #clock: Clock
  #id: string | null = null
  /** Monotonic times at which our session became invalid. */
  #lostAt: number[] = []

  constructor(exchange: WdaExchange, clock: Clock) {
    this.#exchange = exchange
    this.#clock = clock
  }

  get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.inSession({ method: 'GET', path, body: null, signal })
  }

  /** A command that may be repeated if the session was lost. */
  async inSession(command: Command): Promise<unknown> {
    try {
      return await this.once(command)
    } catch (error) {
      if (codeOf(error) !== 'invalid_session') throw error
      return await this.once(command)
    }
  }

  async find({ name, label, rank = 0 }: NodePlace, signal: AbortSignal): Promise<AgentElement> {
    const body = { using: 'accessibility id', value: name }
    const value = await this.inSession({ ...post('/elements', body), signal })
    const found = Array.isArray(value) ? value.filter(isRecord) : []
    const alike = found.filter((one) => label === undefined || (one['label'] ?? null) === label)
    const id = ELEMENT_KEYS.map((key) => alike[rank]?.[key]).find((one) => typeof one === 'string')
    if (typeof id === 'string' && /^[\w.-]+$/.test(id)) return { id }
    throw new AgentError('stale', 'The element is not on the screen.')
  }

  /** Gives a command to an element, at most once. */
  onElement({ id }: AgentElement, request: WdaRequest, signal: AbortSignal): Promise<unknown> {
    return this.once({ ...request, path: `/element/${id}${request.path}`, signal })
  }

  /** Gives a command in the session, at most once. */
  async once(command: Command): Promise<unknown> {
    const id = this.#id ?? (await this.#create(command.signal))
    try {
      return await this.ask({ ...command, path: `/session/${id}${command.path}` })
    } catch (error) {
      if (codeOf(error) === 'invalid_session') this.#lose()
      throw error
    }
  }

  /** Gives a command outside of the session. */
  async ask(command: Command, msMax = COMMAND_MS_MAX): Promise<unknown> {
    const limit = deadline(this.#clock, msMax, command.signal)
    try {
      return valueOf(command, await this.#exchange(command, limit.signal))
    } catch (error) {
      const isLate = limit.signal.aborted && !command.signal.aborted
      if (isLate) throw new AgentError('stuck', `No answer within ${msMax / 1_000} s.`)
      throw error
    } finally {
      limit.clear()
    }
  }

  async #create(signal: AbortSignal): Promise<string> {
    const body = { capabilities: { alwaysMatch: CAPABILITIES } }
    const value = await this.ask({ ...post('/session', body), signal })
    const id = isRecord(value) ? value['sessionId'] : null
    if (typeof id !== 'string') throw new AgentError('other', 'There is no session.')
    await this.ask({ ...post(`/session/${id}/appium/settings`, { settings: SETTINGS }), signal })
    this.#id = id
    return id
  }

  #lose(): void {
    const now = this.#clock.monotonic()
    this.#id = null
    this.#lostAt = [...this.#lostAt.filter((at) => now - at < SHARED_WITHIN_MS), now]
    if (this.#lostAt.length < 2) return
    throw new AgentError('shared', 'Another controller keeps taking the session of the agent.')
  }
}

function codeOf(error: unknown): AgentError['code'] | null {
  return error instanceof AgentError ? error.code : null
}

function post(path: string, body: object): WdaRequest {
  return { method: 'POST', path, body }
}

/** Splits a text into pieces that can be typed within one command, without splitting a character. */
function piecesOf(text: string): readonly string[] {
  const pieces = ['']
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    const piece = pieces.at(-1) ?? ''
    if (piece.length + segment.length > PIECE_LENGTH && piece !== '') pieces.push(segment)
    else pieces[pieces.length - 1] = piece + segment
  }
  return pieces.filter((piece) => piece !== '')
}

/** Urgencies of tasks, the most urgent first. */
const ORDER = ['send', 'receipt', 'poll'] as const
export type Urgency = (typeof ORDER)[number]

type WaitingTask = { readonly urgency: Urgency; readonly start: () => void }

const WAITING_MAX = 100

/** Runs one task at a time: the most urgent waiting task is next, and of equally urgent tasks the first. */
export class TaskQueue {
  #waiting: WaitingTask[] = []
  #isBusy = false

  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Rejects with `aborted` if the signal fires before the task has begun. */
  async run<T>(urgency: Urgency, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.#awaitStart(urgency, signal)
    try {
      return await task()
    } finally {
      this.#startNext()
    }
  }

  async #awaitStart(urgency: Urgency, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new AgentError('aborted', 'Aborted before its turn.')
    if (!this.#isBusy) {
      this.#isBusy = true
      return
    }
    if (this.#waiting.length >= WAITING_MAX) throw new AgentError('other', 'Too many wait.')
    const started = Promise.withResolvers<void>()
    const task: WaitingTask = { urgency, start: started.resolve }
    this.#waiting.push(task)
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== task)
      started.reject(new AgentError('aborted', 'Aborted before its turn.'))
    }
    signal.addEventListener('abort', leave)
    await started.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  #startNext(): void {
    const [next] = this.#waiting.toSorted((a, b) => rank(a) - rank(b))
    this.#waiting = this.#waiting.filter((other) => other !== next)
    // The queue is busy at once, because a new task may come before the next one wakes.
    this.#isBusy = next !== undefined
    next?.start()
  }
}

function rank({ urgency }: WaitingTask): number {
  return ORDER.indexOf(urgency)
}
