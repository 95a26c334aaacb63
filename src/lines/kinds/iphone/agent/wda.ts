// WebDriverAgent as a phone agent. Routes and answers are those of version 16.7.0 (FBSessionCommands.m,
// FBElementCommands.m, FBAlertViewCommands.m, FBCustomCommands.m).

import { deadline, type Clock } from '../../../../system/clock.ts'
import {
  AgentError,
  type AgentAlert,
  type AgentBattery,
  type AgentHealth,
  type ChatLink,
  type PhoneAgent,
  type TapTarget,
  type Urgency,
} from './agent.ts'
import { TurnQueue } from './turn-queue.ts'
import { isRecord, parseTree, type UiNode } from './ui-tree.ts'
import { chatUrl, elementOf, piecesOf, TREE_PATH, valueOf } from './wda-answers.ts'
import { httpExchange, type ConnectPhone, type Exchange, type WdaRequest } from './wda-exchange.ts'

const MESSAGES_APP = 'com.apple.MobileSMS'

/** Never `defaultAlertAction`: it would accept an update of iOS. */
const CAPABILITIES = {
  bundleId: MESSAGES_APP,
  forceAppLaunch: false,
  shouldTerminateApp: false,
  shouldWaitForQuiescence: false,
  waitForIdleTimeout: 0,
  disableAutomaticScreenshots: true,
  // Seconds after which a snapshot that hangs is given up, before the test daemon hangs with it. Known
  // since 16.12 (FBConfiguration.h); an older agent passes it over.
  accessibilityDeadline: 30,
}
const SETTINGS = { snapshotMaxDepth: 50, animationCoolOffTimeout: 0 }

/** Appium's guide: a command that takes longer means that the phone's test daemon has died. */
const COMMAND_MS_MAX = 60_000
const HEALTH_MS_MAX = 10_000
/** Twice in this time the session was taken: somebody else drives the phone. */
const SHARED_WITHIN_MS = 60_000

type Command = WdaRequest & { readonly signal: AbortSignal }

/** An agent behind a port of the phone (8100 unless its launcher says otherwise). */
export function createWda(
  connect: ConnectPhone,
  tools: { readonly clock: Clock; readonly port: number },
): PhoneAgent {
  return wdaAgent(httpExchange(connect, tools.port), tools.clock)
}

/** The same over any way of asking. */
export function wdaAgent(exchange: Exchange, clock: Clock): PhoneAgent {
  const wda = new Wda(exchange, clock)
  const at = (urgency: Urgency): PhoneAgent => {
    const turn = <T>(signal: AbortSignal, work: () => Promise<T>) =>
      wda.queue.run(urgency, signal, work)
    return {
      at,
      health: (signal) => wda.health(signal),
      openChat: (link, signal) => turn(signal, () => wda.openChat(link, signal)),
      tree: (signal) => turn(signal, () => wda.tree(signal)),
      tap: (target, signal) => turn(signal, () => wda.tap(target, signal)),
      type: (id, text, signal) => turn(signal, () => wda.type(id, text, signal)),
      clear: (id, signal) => turn(signal, () => wda.clear(id, signal)),
      text: (id, signal) => turn(signal, () => wda.text(id, signal)),
      swipe: (direction, signal) =>
        turn(signal, () => wda.act('/wda/swipe', { direction }, signal)),
      alerts: (signal) => turn(signal, () => wda.alerts(signal)),
      pressAlert: (name, signal) => turn(signal, () => wda.act('/alert/accept', { name }, signal)),
      activate: (signal) =>
        turn(signal, () => wda.act('/wda/apps/activate', { bundleId: MESSAGES_APP }, signal)),
      locked: (signal) => turn(signal, () => wda.locked(signal)),
      unlock: (signal) => turn(signal, () => wda.act('/wda/unlock', {}, signal)),
      battery: (signal) => turn(signal, () => wda.battery(signal)),
      screenshot: (signal) => turn(signal, () => wda.screenshot(signal)),
      shutdown: (signal) => turn(signal, () => wda.shutdown(signal)),
    }
  }
  return at('poll')
}

class Wda {
  readonly queue: TurnQueue
  readonly #exchange: Exchange
  readonly #clock: Clock
  #sessionId: string | null = null
  /** When a session of ours turned invalid. */
  #lostAt: number[] = []

  constructor(exchange: Exchange, clock: Clock) {
    this.queue = new TurnQueue(clock)
    this.#exchange = exchange
    this.#clock = clock
  }

  async health(signal: AbortSignal): Promise<AgentHealth> {
    const status = await this.#status(signal)
    if (status === 'busy') return { health: 'busy', forMs: this.queue.runningMs ?? 0 }
    const version = (part: string) => {
      const fields = isRecord(status) ? status[part] : null
      const text = isRecord(fields) ? fields['version'] : null
      return typeof text === 'string' ? text : null
    }
    if (!isRecord(status) || status['ready'] !== true) {
      throw new AgentError('other', 'The agent is not ready.')
    }
    return { health: 'ready', iosVersion: version('os'), agentVersion: version('build') }
  }

  async openChat(link: ChatLink, signal: AbortSignal): Promise<void> {
    // Without the bundle id WebDriverAgent would ask Siri to open the address.
    await this.act('/url', { url: chatUrl(link), bundleId: MESSAGES_APP }, signal)
  }

  async tree(signal: AbortSignal): Promise<UiNode> {
    const command = { method: 'GET', path: TREE_PATH, body: null, signal } as const
    const root = parseTree(await this.#inSession(command))
    if (root === null) throw new AgentError('other', 'The description of the screen is no tree.')
    return root
  }

  async tap(target: TapTarget, signal: AbortSignal): Promise<void> {
    if (target.by === 'point') {
      const { x, y } = target
      await this.#once({ method: 'POST', path: '/wda/tap', body: { x, y }, signal })
      return
    }
    const path = `/element/${await this.#find(target.id, signal)}/click`
    await this.#once({ method: 'POST', path, body: {}, signal })
  }

  async type(id: string, text: string, signal: AbortSignal): Promise<void> {
    for (const piece of piecesOf(text)) {
      await this.#onElement(id, { method: 'POST', path: 'value', body: { text: piece }, signal })
    }
  }

  async clear(id: string, signal: AbortSignal): Promise<void> {
    await this.#onElement(id, { method: 'POST', path: 'clear', body: {}, signal })
  }

  async text(id: string, signal: AbortSignal): Promise<string> {
    const text = await this.#onElement(id, { method: 'GET', path: 'text', body: null, signal })
    if (typeof text !== 'string') throw new AgentError('other', 'The element has no text.')
    return text
  }

  async alerts(signal: AbortSignal): Promise<AgentAlert | null> {
    const text = await this.#alertPart('/alert/text', signal)
    if (typeof text !== 'string') return null
    const buttons = await this.#alertPart('/wda/alert/buttons', signal)
    const names = Array.isArray(buttons) ? buttons : []
    return { text, buttons: names.filter((name) => typeof name === 'string') }
  }

  async locked(signal: AbortSignal): Promise<boolean> {
    const path = '/wda/locked'
    return (await this.#ask({ method: 'GET', path, body: null, signal })) === true
  }

  async battery(signal: AbortSignal): Promise<AgentBattery> {
    const path = '/wda/batteryInfo'
    const info = await this.#inSession({ method: 'GET', path, body: null, signal })
    const level = isRecord(info) ? info['level'] : null
    const state = isRecord(info) ? info['state'] : null
    // UIDevice gives -1 where it does not know; its states 2 and 3 are charging and full.
    const isKnown = typeof level === 'number' && level >= 0
    return {
      percent: isKnown ? Math.round(level * 100) : null,
      isCharging: state === 2 || state === 3,
    }
  }

  async screenshot(signal: AbortSignal): Promise<Uint8Array> {
    const path = '/screenshot'
    const text = await this.#ask({ method: 'GET', path, body: null, signal })
    if (typeof text !== 'string') throw new AgentError('other', 'There is no screenshot.')
    return Buffer.from(text, 'base64')
  }

  async shutdown(signal: AbortSignal): Promise<void> {
    // Its answer is plain text.
    await this.#limited({ method: 'GET', path: '/wda/shutdown', body: null, signal })
    this.#sessionId = null
  }

  /** A command that may be given again where the session was lost. */
  async act(path: string, body: object, signal: AbortSignal): Promise<void> {
    await this.#inSession({ method: 'POST', path, body, signal })
  }

  /**
   * Asked beside what runs: since 16.12 the agent answers it at once (FBRoute.h, `standalone`); an older
   * one answers after the command that it is at, and that it does not is then no fault.
   */
  async #status(signal: AbortSignal): Promise<unknown> {
    const command = { method: 'GET', path: '/status', body: null, signal } as const
    try {
      return await this.#ask(command, HEALTH_MS_MAX)
    } catch (error) {
      const isStuck = error instanceof AgentError && error.code === 'stuck'
      if (isStuck && this.queue.runningMs !== null) return 'busy'
      throw error
    }
  }

  async #alertPart(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#inSession({ method: 'GET', path, body: null, signal })
    } catch (error) {
      if (error instanceof AgentError && error.code === 'no_such_element') return null
      throw error
    }
  }

  async #find(id: string, signal: AbortSignal): Promise<string> {
    const body = { using: 'accessibility id', value: id }
    return elementOf(await this.#inSession({ method: 'POST', path: '/element', body, signal }))
  }

  /** Gives a command to an element, found anew where it has gone stale: nothing was done with it then. */
  async #onElement(id: string, command: Command): Promise<unknown> {
    const act = async () => {
      const path = `/element/${await this.#find(id, command.signal)}/${command.path}`
      return await this.#once({ ...command, path })
    }
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'stale') throw error
      return await act()
    }
  }

  async #inSession(command: Command): Promise<unknown> {
    try {
      return await this.#once(command)
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'invalid_session') throw error
      return await this.#once(command)
    }
  }

  async #once(command: Command): Promise<unknown> {
    const sessionId = this.#sessionId ?? (await this.#createSession(command.signal))
    try {
      return await this.#ask({ ...command, path: `/session/${sessionId}${command.path}` })
    } catch (error) {
      if (error instanceof AgentError && error.code === 'invalid_session') this.#loseSession()
      throw error
    }
  }

  async #createSession(signal: AbortSignal): Promise<string> {
    const body = { capabilities: { alwaysMatch: CAPABILITIES } }
    const value = await this.#ask({ method: 'POST', path: '/session', body, signal })
    const sessionId = isRecord(value) ? value['sessionId'] : null
    if (typeof sessionId !== 'string') throw new AgentError('other', 'There is no session.')
    const path = `/session/${sessionId}/appium/settings`
    await this.#ask({ method: 'POST', path, body: { settings: SETTINGS }, signal })
    this.#sessionId = sessionId
    return sessionId
  }

  #loseSession(): void {
    const now = this.#clock.monotonic()
    this.#sessionId = null
    this.#lostAt = [...this.#lostAt.filter((at) => now - at < SHARED_WITHIN_MS), now]
    if (this.#lostAt.length < 2) return
    throw new AgentError('shared', 'Somebody else keeps taking the session of the agent.')
  }

  async #ask(command: Command, msMax = COMMAND_MS_MAX): Promise<unknown> {
    return valueOf(command, await this.#limited(command, msMax))
  }

  async #limited(command: Command, msMax = COMMAND_MS_MAX) {
    const limit = deadline(this.#clock, msMax, command.signal)
    try {
      return await this.#exchange(command, limit.signal)
    } catch (error) {
      const isLate = limit.signal.aborted && !command.signal.aborted
      if (isLate) throw new AgentError('stuck', `No answer within ${msMax / 1_000} s.`)
      throw error
    } finally {
      limit.clear()
    }
  }
}
