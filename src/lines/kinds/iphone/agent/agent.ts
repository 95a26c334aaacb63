// What the relay needs of the program that drives a phone's screen: narrow, so that another program than
// WebDriverAgent can take its place.

import type { Handle } from '../../../../domain/handle.ts'
import type { UiNode } from './ui-tree.ts'

/** Whose command is next; the agent does one thing at a time. */
export type Urgency = 'send' | 'receipt' | 'poll'

export type AgentErrorCode =
  /** Nothing with that name is on the screen. */
  | 'no_such_element'
  /** It was on the screen and is gone. */
  | 'stale'
  /** The agent has forgotten us: it started again, or somebody else took the session. */
  | 'invalid_session'
  /** The agent gave up waiting for the phone. */
  | 'timeout'
  | 'not_visible'
  /** An alert of the system is in front. */
  | 'alert'
  /** Nobody answers: the agent has ended, or the cable is out. */
  | 'down'
  /** No answer for a minute: the test daemon of the phone has died. */
  | 'stuck'
  /** Another controller keeps taking the session. */
  | 'shared'
  | 'aborted'
  | 'other'

/** A command of the agent that failed. Its message never has a text or a handle in it. */
export class AgentError extends Error {
  readonly code: AgentErrorCode

  constructor(code: AgentErrorCode, message: string) {
    super(message)
    this.name = 'AgentError'
    this.code = code
  }
}

export type AgentHealth =
  | {
      readonly health: 'ready'
      readonly iosVersion: string | null
      readonly agentVersion: string | null
    }
  /** A command of ours is running, and an older agent answers nothing meanwhile: that is no fault. */
  | { readonly health: 'busy'; readonly forMs: number }

export type AgentAlert = { readonly text: string; readonly buttons: readonly string[] }

/** `percent` is 0 to 100, or null where the phone does not say. */
export type AgentBattery = { readonly percent: number | null; readonly isCharging: boolean }

/** What to touch: an element by its identifier, or a point of the screen in points. */
export type TapTarget =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'point'; readonly x: number; readonly y: number }

/** A chat to open, with a text for its composer where there is one. */
export type ChatLink = { readonly handle: Handle; readonly body: string | null }

/** All methods reject with `AgentError`, and with code `aborted` once their signal has fired. */
export type PhoneAgent = {
  /** The same agent; commands given to it wait for their turn at this place. */
  at(urgency: Urgency): PhoneAgent
  /** Whether it lives. Never waits behind a command of ours. */
  health(signal: AbortSignal): Promise<AgentHealth>
  openChat(link: ChatLink, signal: AbortSignal): Promise<void>
  /** What is on the screen of Messages. */
  tree(signal: AbortSignal): Promise<UiNode>
  /** Touches once at most, whatever happens: a failed touch is never repeated. */
  tap(target: TapTarget, signal: AbortSignal): Promise<void>
  type(id: string, text: string, signal: AbortSignal): Promise<void>
  clear(id: string, signal: AbortSignal): Promise<void>
  /** What stands in a text field, whole: the tree tells the beginning of it only. */
  text(id: string, signal: AbortSignal): Promise<string>
  /** Moves the finger: down shows what is above. */
  swipe(direction: 'up' | 'down', signal: AbortSignal): Promise<void>
  /** The alert in front, of Messages or of the system; null where there is none. */
  alerts(signal: AbortSignal): Promise<AgentAlert | null>
  pressAlert(button: string, signal: AbortSignal): Promise<void>
  /** Brings Messages to the front. */
  activate(signal: AbortSignal): Promise<void>
  locked(signal: AbortSignal): Promise<boolean>
  /** Opens a lock screen without a passcode. */
  unlock(signal: AbortSignal): Promise<void>
  battery(signal: AbortSignal): Promise<AgentBattery>
  /** A PNG of the screen. */
  screenshot(signal: AbortSignal): Promise<Uint8Array>
  /** Ends the agent. */
  shutdown(signal: AbortSignal): Promise<void>
}
