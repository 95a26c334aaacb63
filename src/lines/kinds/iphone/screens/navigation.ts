// Getting about in Messages: from wherever it is to the list of conversations, or to one chat.

import type { Clock } from '../../../../system/clock.ts'
import type { NodePlace } from '../agent/ui-tree.ts'
import { AgentError, type AgentErrorCode } from '../agent/wda-http.ts'
import type { AgentElement, PhoneAgent } from '../agent/wda.ts'
import {
  type ListScreen,
  readScreen,
  type Screen,
  type TranscriptScreen,
} from './messages-screen.ts'
import { ENGLISH } from './ui-words.ts'

export type UiTroubleCode = 'locked' | 'alert' | 'ui_unknown' | 'wrong_chat'

/** The screen is not in a state in which anything can be done. */
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

/** False for a trouble that may be one of a single chat. */
export function isPhoneWide(code: AgentErrorCode | UiTroubleCode): boolean {
  return ['down', 'stuck', 'shared', 'invalid_session', 'locked', 'alert'].includes(code)
}

export type UiTools = {
  readonly agent: PhoneAgent
  readonly clock: Clock
}

/** The time that the screen takes to follow a touch. */
export const LOOK_MS = 500
const CHAT_MS_MAX = 5_000
const TRIES = 3
const ALERT_TITLE_LENGTH_MAX = 60
/** Alerts in a row that are dismissed at once. */
const ALERTS_MAX = 5
const VALUE_BYTES_MAX = 512
export const COMPOSER_ID = 'messageBodyField'

/** The present screen, after harmless alerts were dismissed, the phone unlocked and Messages activated. */
export async function look(
  tools: UiTools,
  signal: AbortSignal,
): Promise<ListScreen | TranscriptScreen> {
  const { agent, clock } = tools
  const remedies = new Set<string>()
  for (;;) {
    const screen = readScreen(await agent.tree(signal))
    if (screen.screen === 'list' || screen.screen === 'transcript') return screen
    const remedy = await recover(tools, screen, signal)
    // Each once: the second time the owner has to act.
    if (remedies.has(remedy)) {
      const { screen: kind } = screen
      throw new UiTrouble(kind === 'unknown' || kind === 'details' ? 'ui_unknown' : kind)
    }
    remedies.add(remedy)
    await clock.sleep(LOOK_MS, signal)
  }
}

/** Does what may bring Messages back, and returns the name of it. */
async function recover(
  tools: UiTools,
  screen: Exclude<Screen, ListScreen | TranscriptScreen>,
  signal: AbortSignal,
): Promise<string> {
  const { agent } = tools
  if (await dismissAlert(tools, signal)) return 'alert'
  if (screen.screen === 'locked' || (await agent.locked(signal))) {
    await agent.unlock(signal).catch((error: unknown) => {
      // With a passcode WebDriverAgent answers an error (XCUIDevice+FBHelpers.m).
      if (troubleCodeOf(error) !== 'other') throw error
    })
    if (await agent.locked(signal)) throw new UiTrouble('locked')
    return 'unlock'
  }
  if (screen.screen === 'details' && screen.back !== null) {
    await touch(tools, screen.back, signal)
    return 'back'
  }
  await agent.activate(signal)
  return 'activate'
}

/**
 * Dismisses alerts by buttons that change nothing, until none is in front; throws if one has no such button. False if
 * there was none.
 */
export async function dismissAlert({ agent }: UiTools, signal: AbortSignal): Promise<boolean> {
  let title = ''
  for (let count = 0; count < ALERTS_MAX; count += 1) {
    const alert = await agent.alerts(signal)
    if (alert === null) return count > 0
    title = (alert.text.split('\n')[0] ?? '').slice(0, ALERT_TITLE_LENGTH_MAX)
    const button = ENGLISH.safeButtons.find((name) => alert.buttons.includes(name))
    if (button === undefined) throw new UiTrouble('alert', title)
    await agent.pressAlert(button, signal)
  }
  throw new UiTrouble('alert', title)
}

/**
 * Touches an element that a screen has just shown, with no alert in front of it, if `isReady` right before. False if
 * the screen has changed, or an alert had to be dismissed: then nothing was touched.
 */
export async function touch(
  tools: UiTools,
  place: NodePlace,
  signal: AbortSignal,
  isReady = async () => true,
): Promise<boolean> {
  try {
    const element = await tools.agent.find(place, signal)
    if (!(await isReady()) || (await dismissAlert(tools, signal))) return false
    await tools.agent.tap(element, signal)
    return true
  } catch (error) {
    if (error instanceof AgentError && error.code === 'stale') return false
    throw error
  }
}

export type ElementOfChat = { readonly element: AgentElement; readonly screen: TranscriptScreen }

/**
 * The element with this identifier in the chat that `isWanted`; null if another screen is in front. The
 * screen is read after the element was found: whatever comes to the front later, the element is that chat's.
 * No alert is in front of it.
 */
export async function elementOfChat(
  tools: UiTools,
  id: string,
  isWanted: (screen: TranscriptScreen) => boolean | Promise<boolean>,
  signal: AbortSignal,
): Promise<ElementOfChat | null> {
  try {
    const element = await tools.agent.find({ name: id }, signal)
    const screen = await look(tools, signal)
    if (screen.screen !== 'transcript' || !(await isWanted(screen))) return null
    await dismissAlert(tools, signal)
    return { element, screen }
  } catch (error) {
    if (error instanceof AgentError && error.code === 'stale') return null
    throw error
  }
}

export async function showList(tools: UiTools, signal: AbortSignal): Promise<ListScreen> {
  const { agent, clock } = tools
  for (let tries = 0; ; tries += 1) {
    const screen = await look(tools, signal)
    if (screen.screen === 'list') return screen
    if (tries >= TRIES) throw new UiTrouble('ui_unknown')
    if (screen.back === null) await agent.activate(signal)
    else await touch(tools, screen.back, signal)
    await clock.sleep(LOOK_MS, signal)
  }
}

/** The transcript that `isWanted`, within five seconds; null where none came. */
export async function waitForChat(
  tools: UiTools,
  signal: AbortSignal,
  isWanted: (screen: TranscriptScreen) => boolean | Promise<boolean>,
): Promise<TranscriptScreen | null> {
  const until = tools.clock.monotonic() + CHAT_MS_MAX
  for (;;) {
    const screen = await look(tools, signal)
    if (screen.screen === 'transcript' && (await isWanted(screen))) return screen
    if (tools.clock.monotonic() >= until || signal.aborted) return null
    await tools.clock.sleep(LOOK_MS, signal)
  }
}

/**
 * The whole text in the composer. WebDriverAgent cuts each `value` of its tree at 512 bytes of UTF-8
 * (XCUIElement+FBUtilities.h), but not the text of one element (FBElementCommands.m); a character of up to
 * four bytes may fall to the cut.
 */
export async function readDraft(
  { agent }: UiTools,
  { composer }: TranscriptScreen,
  signal: AbortSignal,
): Promise<string> {
  const draft = composer?.draft ?? ''
  if (Buffer.byteLength(draft) <= VALUE_BYTES_MAX - 4) return draft
  return await agent.text(await agent.find({ name: COMPOSER_ID }, signal), signal)
}
