// Moves around in Messages: from any screen to the list of conversations, or to one chat.

import type { Clock } from '../../../../system/clock.ts'
import type { NodePlace } from '../agent/ui-tree.ts'
import { AgentError, type AgentErrorCode } from '../agent/wda-http.ts'
import type { PhoneAgent } from '../agent/wda.ts'
import {
  type ListScreen,
  readScreen,
  type Screen,
  type TranscriptScreen,
} from './messages-screen.ts'
import { ENGLISH } from './ui-words.ts'

export type UiTroubleCode = 'locked' | 'alert' | 'ui_unknown' | 'wrong_chat'

/** Nothing can be done on the present screen. */
export class UiTrouble extends Error {
  override readonly name = 'UiTrouble'
  readonly code: UiTroubleCode
  /** The title of the alert in front; null for the other codes. */
  readonly alertTitle: string | null

  constructor(code: UiTroubleCode, alertTitle: string | null = null) {
    super(`Messages on the phone: ${code}.`)
    this.code = code
    this.alertTitle = alertTitle
  }
}

/** The code of an error of the agent or of the screens; null for any other error. */
export function troubleCodeOf(error: unknown): AgentErrorCode | UiTroubleCode | null {
  return error instanceof AgentError || error instanceof UiTrouble ? error.code : null
}

/** True if a trouble concerns the whole phone; all others may concern a single chat. */
export function isPhoneWide(code: AgentErrorCode | UiTroubleCode): boolean {
  return ['down', 'stuck', 'shared', 'invalid_session', 'locked', 'alert'].includes(code)
}

/** Time that the screen needs after a touch. */
export const LOOK_MS = 500
const CHAT_MS_MAX = 5_000
const TRIES = 3
const ALERT_TITLE_LENGTH_MAX = 60
/** Most alerts that are dismissed in a row. */
const ALERTS_MAX = 5
const VALUE_BYTES_MAX = 512
export const COMPOSER_ID = 'messageBodyField'

type IsWanted = (screen: TranscriptScreen) => boolean | Promise<boolean>

/** The screen of a phone, and the agent that touches it. All methods reject with `UiTrouble` or `AgentError`. */
export class PhoneScreen {
  readonly agent: PhoneAgent
  readonly clock: Clock

  constructor(agent: PhoneAgent, clock: Clock) {
    this.agent = agent
    this.clock = clock
  }

  /** Reads the screen, after it has dismissed harmless alerts, unlocked the phone and activated Messages. */
  async look(signal: AbortSignal): Promise<ListScreen | TranscriptScreen> {
    const remedies = new Set<string>()
    for (;;) {
      const screen = readScreen(await this.agent.tree(signal))
      if (screen.screen === 'list' || screen.screen === 'transcript') return screen
      const remedy = await this.#recover(screen, signal)
      // Each remedy is tried once: if it is needed again, the owner has to act.
      if (remedies.has(remedy)) {
        const { screen: kind } = screen
        throw new UiTrouble(kind === 'unknown' || kind === 'details' ? 'ui_unknown' : kind)
      }
      remedies.add(remedy)
      await this.clock.sleep(LOOK_MS, signal)
    }
  }

  /** Tries to bring Messages back, and returns the name of the remedy that it used. */
  async #recover(
    screen: Exclude<Screen, ListScreen | TranscriptScreen>,
    signal: AbortSignal,
  ): Promise<string> {
    const { agent } = this
    if (await this.dismissAlert(signal)) return 'alert'
    if (screen.screen === 'locked' || (await agent.locked(signal))) {
      await agent.unlock(signal).catch((error: unknown) => {
        // If the phone has a passcode, WebDriverAgent answers an error (XCUIDevice+FBHelpers.m).
        if (troubleCodeOf(error) !== 'other') throw error
      })
      if (await agent.locked(signal)) throw new UiTrouble('locked')
      return 'unlock'
    }
    if (screen.screen === 'details' && screen.back !== null) {
      await this.touch(screen.back, signal)
      return 'back'
    }
    await agent.activate(signal)
    return 'activate'
  }

  /**
   * Dismisses alerts by buttons that change nothing, until none is in front; throws if one has no such button.
   * Returns false if there was none.
   */
  async dismissAlert(signal: AbortSignal): Promise<boolean> {
    let title = ''
    for (let count = 0; count < ALERTS_MAX; count += 1) {
      const alert = await this.agent.alerts(signal)
      if (alert === null) return count > 0
      title = (alert.text.split('\n')[0] ?? '').slice(0, ALERT_TITLE_LENGTH_MAX)
      const button = ENGLISH.safeButtons.find((name) => alert.buttons.includes(name))
      if (button === undefined) throw new UiTrouble('alert', title)
      await this.agent.pressAlert(button, signal)
    }
    throw new UiTrouble('alert', title)
  }

  /**
   * Touches an element that a screen has just shown, if `isReady` right before and no alert is in front of it.
   * Returns false if the screen has changed, or an alert had to be dismissed: then nothing was touched.
   */
  async touch(place: NodePlace, signal: AbortSignal, isReady = async () => true): Promise<boolean> {
    try {
      const element = await this.agent.find(place, signal)
      if (!(await isReady()) || (await this.dismissAlert(signal))) return false
      await this.agent.tap(element, signal)
      return true
    } catch (error) {
      if (error instanceof AgentError && error.code === 'stale') return false
      throw error
    }
  }

  /**
   * The element with this identifier in the chat that `isWanted` accepts; null if another screen is in front. The
   * screen is read after the element was found: whatever comes to the front later, the element belongs to that chat.
   * No alert is in front of it.
   */
  async elementOfChat(id: string, isWanted: IsWanted, signal: AbortSignal) {
    try {
      const element = await this.agent.find({ name: id }, signal)
      const screen = await this.look(signal)
      if (screen.screen !== 'transcript' || !(await isWanted(screen))) return null
      await this.dismissAlert(signal)
      return { element, screen }
    } catch (error) {
      if (error instanceof AgentError && error.code === 'stale') return null
      throw error
    }
  }

  async showList(signal: AbortSignal): Promise<ListScreen> {
    for (let tries = 0; ; tries += 1) {
      const screen = await this.look(signal)
      if (screen.screen === 'list') return screen
      if (tries >= TRIES) throw new UiTrouble('ui_unknown')
      if (screen.back === null) await this.agent.activate(signal)
      else await this.touch(screen.back, signal)
      await this.clock.sleep(LOOK_MS, signal)
    }
  }

  /** The transcript that `isWanted` accepts; null if none came within five seconds. */
  async waitForChat(signal: AbortSignal, isWanted: IsWanted): Promise<TranscriptScreen | null> {
    const until = this.clock.monotonic() + CHAT_MS_MAX
    for (;;) {
      const screen = await this.look(signal)
      if (screen.screen === 'transcript' && (await isWanted(screen))) return screen
      if (this.clock.monotonic() >= until || signal.aborted) return null
      await this.clock.sleep(LOOK_MS, signal)
    }
  }

  /**
   * The whole text in the composer. WebDriverAgent cuts each `value` of its tree at 512 bytes of UTF-8
   * (XCUIElement+FBUtilities.h), but not the text of one element (FBElementCommands.m). The cut may take a
   * character of up to four bytes.
   */
  async readDraft({ composer }: TranscriptScreen, signal: AbortSignal): Promise<string> {
    const draft = composer?.draft ?? ''
    if (Buffer.byteLength(draft) <= VALUE_BYTES_MAX - 4) return draft
    return await this.agent.text(await this.agent.find({ name: COMPOSER_ID }, signal), signal)
  }

  /** Clears the composer if the chat is still open; returns whether the composer is empty now. */
  async emptyComposer(
    { composer, title }: TranscriptScreen,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (composer?.draft === '') return true
    const isSame = (shown: TranscriptScreen) => shown.title === title
    const field = await this.elementOfChat(COMPOSER_ID, isSame, signal)
    if (field === null) return false
    await this.agent.clear(field.element, signal)
    const screen = await this.look(signal)
    return screen.screen === 'transcript' && isSame(screen) && screen.composer?.draft === ''
  }
}
