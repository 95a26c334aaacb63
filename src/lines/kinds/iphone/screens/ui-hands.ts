// Getting about in Messages: from wherever it is to the list, or to one chat.

import type { Handle } from '../../../../domain/handle.ts'
import type { Clock } from '../../../../system/clock.ts'
import { AgentError, type PhoneAgent } from '../agent/agent.ts'
import { isTitleOf } from './chat-title.ts'
import {
  readScreen,
  type ListScreen,
  type Screen,
  type TranscriptScreen,
} from './messages-screen.ts'
import type { UiWords } from './ui-words.ts'

export type UiTroubleCode = 'locked' | 'alert' | 'ui_unknown' | 'wrong_chat'

/** The screen is not in a state in which anything can be done. */
export class UiTrouble extends Error {
  readonly code: UiTroubleCode
  /** The title of the alert that is in the way; null for the others. */
  readonly alertTitle: string | null

  constructor(code: UiTroubleCode, alertTitle: string | null = null) {
    super(`Messages on the phone: ${code}.`)
    this.name = 'UiTrouble'
    this.code = code
    this.alertTitle = alertTitle
  }
}

export type Hands = {
  readonly agent: PhoneAgent
  readonly clock: Clock
  readonly words: UiWords
}

/** How long the screen takes to show what was touched. */
export const LOOK_MS = 500
const CHAT_MS_MAX = 5_000
const TRIES = 3
const ALERT_TITLE_LENGTH_MAX = 60
const VALUE_BYTES_MAX = 512
export const COMPOSER_ID = 'messageBodyField'

/** One look, with alerts that mean nothing pressed away, a lock screen opened and Messages in front. */
export async function look(
  hands: Hands,
  signal: AbortSignal,
): Promise<ListScreen | TranscriptScreen> {
  const { agent, clock, words } = hands
  const mends = new Set<string>()
  for (;;) {
    const screen = readScreen(await agent.tree(signal), words)
    if (screen.screen === 'list' || screen.screen === 'transcript') return screen
    const mend = await mendOf(hands, screen, signal)
    // Each once: what a second time would not help is for its owner.
    if (mends.has(mend)) throw troubleOf(screen)
    mends.add(mend)
    await clock.sleep(LOOK_MS, signal)
  }
}

/** Does what may bring Messages back, and says what that was. */
async function mendOf(
  hands: Hands,
  screen: Exclude<Screen, ListScreen | TranscriptScreen>,
  signal: AbortSignal,
): Promise<string> {
  const { agent } = hands
  if (await pressAwayAlert(hands, signal)) return 'alert'
  if (screen.screen === 'locked' || (await agent.locked(signal))) {
    // With a passcode WebDriverAgent answers an error (XCUIDevice+FBHelpers.m).
    await agent.unlock(signal).catch(passOverRefusal)
    if (await agent.locked(signal)) throw new UiTrouble('locked')
    return 'unlock'
  }
  await agent.activate(signal)
  return 'activate'
}

function passOverRefusal(error: unknown): void {
  if (!(error instanceof AgentError) || error.code !== 'other') throw error
}

function troubleOf(screen: Screen): UiTrouble {
  if (screen.screen === 'alert') return new UiTrouble('alert')
  return new UiTrouble(screen.screen === 'locked' ? 'locked' : 'ui_unknown')
}

/** Presses an alert away by a button that changes nothing; throws where it has none. */
export async function pressAwayAlert(
  { agent, words }: Hands,
  signal: AbortSignal,
): Promise<boolean> {
  const alert = await agent.alerts(signal)
  if (alert === null) return false
  const button = words.safeButtons.find((name) => alert.buttons.includes(name))
  const [title = ''] = alert.text.split('\n')
  if (button === undefined) throw new UiTrouble('alert', title.slice(0, ALERT_TITLE_LENGTH_MAX))
  await agent.pressAlert(button, signal)
  return true
}

/** The list of conversations. */
export async function showList(hands: Hands, signal: AbortSignal): Promise<ListScreen> {
  const { agent, clock } = hands
  for (let tries = 0; tries < TRIES; tries += 1) {
    const screen = await look(hands, signal)
    if (screen.screen === 'list') return screen
    if (screen.back === null) await agent.activate(signal)
    else await agent.tap({ by: 'point', ...screen.back }, signal)
    await clock.sleep(LOOK_MS, signal)
  }
  const screen = await look(hands, signal)
  if (screen.screen !== 'list') throw new UiTrouble('ui_unknown')
  return screen
}

/**
 * The chat with `handle`, its composer ready. The phone is asked again where it shows another one; nothing
 * is typed before its title fits.
 */
export async function showChat(
  hands: Hands,
  handle: Handle,
  signal: AbortSignal,
): Promise<TranscriptScreen> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await showList(hands, signal)
    await hands.agent.openChat({ handle, body: null }, signal)
    const screen = await waitForChat(hands, signal, (shown) => isChatWith(shown, handle))
    if (screen !== null) return screen
  }
  throw new UiTrouble('wrong_chat')
}

/** The transcript that `isWanted`, within five seconds; null where none came. */
export async function waitForChat(
  hands: Hands,
  signal: AbortSignal,
  isWanted: (screen: TranscriptScreen) => boolean | Promise<boolean>,
): Promise<TranscriptScreen | null> {
  const until = hands.clock.monotonic() + CHAT_MS_MAX
  for (;;) {
    const screen = await look(hands, signal)
    if (screen.screen === 'transcript' && (await isWanted(screen))) return screen
    if (hands.clock.monotonic() >= until || signal.aborted) return null
    await hands.clock.sleep(LOOK_MS, signal)
  }
}

/**
 * The text in the composer, whole. WebDriverAgent cuts each `value` of its tree at 512 bytes of UTF-8
 * (XCUIElement+FBUtilities.h), and not what it tells of one element (FBElementCommands.m); a character of
 * up to four bytes may fall to the cut.
 */
export async function readDraft(
  { agent }: Hands,
  { composer }: TranscriptScreen,
  signal: AbortSignal,
): Promise<string> {
  const draft = composer?.draft ?? ''
  const isCut = Buffer.byteLength(draft) > VALUE_BYTES_MAX - 4
  return isCut ? agent.text(COMPOSER_ID, signal) : draft
}

export function isChatWith(screen: TranscriptScreen, handle: Handle): boolean {
  return screen.composer !== null && isTitleOf(screen.chat, handle)
}
