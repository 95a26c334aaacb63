// What stops a phone on its way to a line that sends and receives, in words that its owner can act on. One
// table: the line's state and the finding in the health catalogue say the same.

import { OFFLINE_REASONS, type OfflineReason } from '../../../domain/line.ts'
import { AgentError, type AgentErrorCode } from './agent/agent.ts'
import type { LaunchTroubleCode } from './agent/launch-trouble.ts'
import type { PhoneTroubleReason } from './cable/phone-facts.ts'
import { PHONE_TROUBLES } from './cable/phone-troubles.ts'
import { UiTrouble, type UiTroubleCode } from './screens/ui-hands.ts'

/** The states of a phone, each on top of the one before. */
export const PHONE_STATES = [
  'absent',
  'attached',
  'trusted',
  'prepared',
  'agent_starting',
  'agent_running',
  'ui_ready',
  'imessage_active',
  'online',
] as const

export type PhoneState = (typeof PHONE_STATES)[number]

export type PhoneStopCode =
  | 'device_absent'
  | PhoneTroubleReason
  | 'battery_empty'
  | 'ios_too_old'
  | 'developer_mode_off'
  | 'language_not_english'
  | LaunchTroubleCode
  | 'agent_starting'
  | 'agent_down'
  | 'agent_stuck'
  | 'agent_shared'
  | UiTroubleCode
  | 'imessage_off'

export type PhoneStop = {
  readonly code: PhoneStopCode
  /** What was seen, where it is more than the code says: one sentence without texts or handles. */
  readonly detail: string | null
}

export type StopWords = {
  /** The highest state in which a phone can be while this is so. */
  readonly at: PhoneState
  readonly title: string
  readonly why: string
  /** What the owner does about it: the hint of the line and the fix of the finding. */
  readonly fix: string
}

export const PHONE_STOPS: Readonly<Record<PhoneStopCode, StopWords>> = {
  device_absent: {
    at: 'absent',
    title: 'The iPhone is not plugged in',
    why: 'It is not on the cable, or it is switched off.',
    fix: OFFLINE_REASONS.device_absent.hint,
  },
  not_trusted: { at: 'attached', ...PHONE_TROUBLES.not_trusted },
  trust_dialog: { at: 'attached', ...PHONE_TROUBLES.trust_dialog },
  trust_denied: { at: 'attached', ...PHONE_TROUBLES.trust_denied },
  pairing_stale: { at: 'attached', ...PHONE_TROUBLES.pairing_stale },
  passcode_locked: { at: 'attached', ...PHONE_TROUBLES.passcode_locked },
  usbmux_denied: { at: 'attached', ...PHONE_TROUBLES.usbmux_denied },
  unreadable: { at: 'attached', ...PHONE_TROUBLES.unreadable },
  battery_empty: {
    at: 'trusted',
    title: 'The battery of the iPhone is nearly empty',
    why: 'Below 8 % and not charging it may go off in the middle of a message.',
    fix: 'Plug it into a port or a hub that gives enough power; it goes on by itself.',
  },
  ios_too_old: {
    at: 'trusted',
    title: 'The iOS of the iPhone is too old for a line',
    why: 'Before iOS 17.4.1 the agent cannot be started without root on this computer.',
    fix: 'Update the iPhone to iOS 17.4.1 or later.',
  },
  developer_mode_off: {
    at: 'trusted',
    title: 'Developer Mode of the iPhone is off',
    why: 'Without it iOS starts no agent.',
    fix: 'On the iPhone, in Settings, Privacy & Security, switch Developer Mode on; it restarts once.',
  },
  language_not_english: {
    at: 'trusted',
    title: 'The iPhone does not speak English',
    why: 'Hookline reads the screen of Messages, and knows its words in English only.',
    fix: 'On the iPhone, in Settings, General, Language & Region, choose English (US).',
  },
  launcher_absent: {
    at: 'trusted',
    title: 'The program that starts the agent is not there',
    why: 'It was not found where the options say that it is.',
    fix: 'Install it, or correct the option that names it; "hookline config" shows the options.',
  },
  launcher_too_old: {
    at: 'trusted',
    title: 'The program that starts the agent is too old',
    why: 'Before 1.3.1 go-ios needs the internet after each restart of the iPhone, though it has the image.',
    fix: 'Install go-ios 1.3.1 or later from github.com/danielpaulus/go-ios/releases: the one of npm is older.',
  },
  image_mount_failed: {
    at: 'trusted',
    title: "Apple's developer image could not be mounted on the iPhone",
    why: 'After each of its restarts the iPhone needs one, which Apple signs over the internet.',
    fix: 'Give this computer internet, and the iPhone too; it is tried again by itself.',
  },
  tunnel_failed: {
    at: 'trusted',
    title: 'The tunnel to the iPhone does not stand',
    why: 'Without it the agent cannot be started.',
    fix: 'It is started again by itself; where that does not help, plug the iPhone in anew.',
  },
  agent_not_installed: {
    at: 'prepared',
    title: 'The agent is not installed on the iPhone',
    why: 'WebDriverAgent, which drives the screen, was not found on it.',
    fix: 'Install WebDriverAgent, signed by your account, and check the option that names it.',
  },
  agent_expired: {
    at: 'prepared',
    title: 'The signature of the agent is no longer valid',
    why: 'A free account signs for seven days, a paid one for a year; or nobody trusts it on the iPhone.',
    fix: 'Sign and install WebDriverAgent anew, and trust it in Settings, General, VPN & Device Management.',
  },
  launch_failed: {
    at: 'prepared',
    title: 'The agent could not be started',
    why: 'The program that starts it has ended.',
    fix: 'Look into the log; start the agent once by hand to see what it asks for.',
  },
  agent_starting: {
    at: 'agent_starting',
    title: 'The agent is being started',
    why: 'It takes up to three minutes for the first time.',
    fix: 'Nothing has to be done; the iPhone must stay unlocked.',
  },
  passcode_prompt: {
    at: 'prepared',
    title: 'The iPhone asks for its passcode',
    why: 'With a passcode iOS asks for it whenever the agent starts, and again after a while.',
    fix: 'Remove the passcode of the iPhone: a line that works without people cannot have one.',
  },
  agent_down: {
    at: 'prepared',
    title: 'The agent on the iPhone does not answer',
    why: 'WebDriverAgent does not run, or cannot be reached over the cable.',
    fix: 'Start WebDriverAgent on the iPhone, or let Hookline start it (option iphone-agent).',
  },
  agent_stuck: {
    at: 'prepared',
    title: 'The agent on the iPhone hangs',
    why: 'A command took more than a minute: the test service of the iPhone has died.',
    fix: 'It is started again; where that does not help, restart the iPhone.',
  },
  agent_shared: {
    at: 'agent_running',
    title: 'Another program drives the iPhone',
    why: 'It takes the session of the agent again and again.',
    fix: 'Stop the other program; Hookline tries again every five minutes.',
  },
  locked: {
    at: 'agent_running',
    title: 'The screen of the iPhone is locked',
    why: 'It could not be opened without a passcode.',
    fix: 'Unlock it, remove its passcode, and set Auto-Lock to Never.',
  },
  alert: {
    at: 'agent_running',
    title: 'The iPhone asks something',
    why: 'A question stands on its screen that Hookline must not answer.',
    fix: 'Answer it on the iPhone.',
  },
  ui_unknown: {
    at: 'agent_running',
    title: 'Hookline does not know what the iPhone shows',
    why: 'The screen is none of those that it knows of Messages.',
    fix: 'Open Messages on the iPhone; where that does not help, run "hookline doctor --screens FOLDER" and report what it writes.',
  },
  wrong_chat: {
    at: 'agent_running',
    title: 'Messages opens other chats than it was asked for',
    why: 'What it shows does not fit the recipient, so nothing is typed.',
    fix: 'Remove all contacts from the iPhone, and look at what Messages shows.',
  },
  imessage_off: {
    at: 'ui_ready',
    title: 'iMessage seems to be off on the iPhone',
    why: 'Two people in a row could not be reached by it; sending rests for a quarter of an hour.',
    fix: 'On the iPhone, in Settings, Apps, Messages, switch iMessage on and wait for its activation.',
  },
}

export function heightOf(state: PhoneState): number {
  return PHONE_STATES.indexOf(state)
}

/** The height of the highest state in which a phone can be while this stops it. */
export function placeOf({ code }: PhoneStop): number {
  return heightOf(PHONE_STOPS[code].at)
}

/** What the line says of itself while this stops it. */
export function offlineReason({ code, detail }: PhoneStop): OfflineReason {
  const { fix } = PHONE_STOPS[code]
  return { code, hint: code === 'alert' && detail !== null ? `${fix} ${detail}` : fix }
}

const OF_AGENT: Readonly<Record<AgentErrorCode, PhoneStopCode>> = {
  no_such_element: 'ui_unknown',
  stale: 'ui_unknown',
  not_visible: 'ui_unknown',
  other: 'ui_unknown',
  alert: 'alert',
  invalid_session: 'agent_down',
  timeout: 'agent_down',
  down: 'agent_down',
  aborted: 'agent_down',
  stuck: 'agent_stuck',
  shared: 'agent_shared',
}

/** The stop behind an error of the agent or of the screens; null for any other error. */
export function stopOf(error: unknown): PhoneStop | null {
  if (error instanceof AgentError) return { code: OF_AGENT[error.code], detail: error.message }
  if (!(error instanceof UiTrouble)) return null
  const { code, alertTitle } = error
  return { code, detail: alertTitle === null ? null : `It says: "${alertTitle}".` }
}

const OF_THE_PHONE: ReadonlySet<string> = new Set([
  'down',
  'stuck',
  'shared',
  'invalid_session',
  'locked',
  'alert',
])

/** Whether an error of the agent or of the screens may speak of one chat only. */
export function isOfChat(error: unknown): boolean {
  const isKnown = error instanceof AgentError || error instanceof UiTrouble
  return isKnown && stopOfSend(error.code) === null
}

/**
 * The stop that a failed send has met; null where it may speak of its chat only: a recipient whose chat
 * cannot be shown must not take the line offline, which would have him tried for ever.
 */
export function stopOfSend(trouble: AgentErrorCode | UiTroubleCode | null): PhoneStop | null {
  if (trouble === null || !OF_THE_PHONE.has(trouble)) return null
  const code = trouble === 'locked' ? trouble : OF_AGENT[trouble as AgentErrorCode] // The rest are the agent's.
  return { code, detail: null }
}
