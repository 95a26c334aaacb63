// The reasons why a phone cannot send and receive, in words that its owner can act on: one table for the line's state,
// the findings and `hookline doctor`.

import { OFFLINE_REASONS, type OfflineReason } from '../../../domain/line.ts'
import type { LaunchTroubleCode } from './agent/launcher.ts'
import { AgentError, type AgentErrorCode } from './agent/wda-http.ts'
import type { Phone, PhoneTroubleReason } from './cable/lockdown.ts'
import { isPhoneWide, troubleCodeOf, UiTrouble, type UiTroubleCode } from './screens/navigation.ts'

/** The stages by which a phone becomes a line, in order. */
export const PHONE_STAGES = [
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

export type PhoneStage = (typeof PHONE_STAGES)[number]

export type BlockerCode =
  | 'device_absent'
  | PhoneTroubleReason
  | 'battery_empty'
  | 'ios_too_old'
  | 'developer_mode_off'
  | 'language_not_english'
  | LaunchTroubleCode
  | 'passcode_prompt'
  | 'agent_starting'
  | 'agent_down'
  | 'agent_stuck'
  | 'agent_shared'
  | UiTroubleCode
  | 'imessage_off'

export type PhoneBlocker = {
  readonly code: BlockerCode
  /** More observed facts, without message texts or handles. */
  readonly detail: string | null
}

type BlockerWords = {
  /** The highest stage that a phone can be in while the blocker lasts. */
  readonly fallback: PhoneStage
  readonly title: string
  readonly why: string
  /** The owner's next step: the hint of the line and the fix of the finding. */
  readonly fix: string
}

export const BLOCKERS: Readonly<Record<BlockerCode, BlockerWords>> = {
  device_absent: {
    fallback: 'absent',
    title: 'The iPhone is not plugged in',
    why: 'It is disconnected or switched off.',
    fix: OFFLINE_REASONS.device_absent.hint,
  },
  not_trusted: {
    fallback: 'attached',
    title: 'The iPhone does not trust this computer yet',
    why: 'It is plugged in, but Trust has not been tapped.',
    fix: 'Unlock the iPhone and tap Trust. If it does not ask, unplug it and plug it in again (on Linux, run "idevicepair pair").',
  },
  trust_dialog: {
    fallback: 'attached',
    title: 'The iPhone is asking whether to trust this computer',
    why: 'The question is on its screen.',
    fix: 'Unlock the iPhone, tap Trust and enter its passcode.',
  },
  trust_denied: {
    fallback: 'attached',
    title: 'The iPhone was told not to trust this computer',
    why: 'The button "Don\'t Trust" was tapped. It asks again the next time it is plugged in.',
    fix: 'Unplug the iPhone, plug it in again and tap Trust.',
  },
  pairing_stale: {
    fallback: 'attached',
    title: 'The iPhone no longer trusts this computer',
    why: 'It was reset or restored, or its trust was revoked.',
    fix: 'Unplug the iPhone, plug it in again and tap Trust. If it does not ask, run "idevicepair unpair" and "idevicepair pair", or open the Finder on a Mac.',
  },
  passcode_locked: {
    fallback: 'attached',
    title: 'The iPhone is waiting for its passcode',
    why: 'It has restarted or is locked, and cannot be read until it is unlocked.',
    fix: 'Unlock the iPhone. A phone that works unattended should have no passcode.',
  },
  usbmux_denied: {
    fallback: 'attached',
    title: 'Hookline has no permission to use usbmuxd',
    why: 'The system does not let it open the socket, so no iPhone can be reached.',
    fix: 'Give the user that runs Hookline access to the socket of usbmuxd, by group or file mode.',
  },
  unreadable: {
    fallback: 'attached',
    title: 'The iPhone does not respond',
    why: 'It is plugged in, but its settings cannot be read.',
    fix: 'Wait a minute. Then try another cable or port, and restart the iPhone.',
  },
  battery_empty: {
    fallback: 'trusted',
    title: 'The battery of the iPhone is almost empty',
    why: 'Below 8 % and not charging, it may switch off in the middle of a message.',
    fix: 'Plug it into a port or hub that supplies enough power. The line resumes by itself.',
  },
  ios_too_old: {
    fallback: 'trusted',
    title: 'The iOS version of the iPhone is too old',
    why: 'Before iOS 17.4.1 the agent cannot be started without root on this computer.',
    fix: 'Update the iPhone to iOS 17.4.1 or later.',
  },
  developer_mode_off: {
    fallback: 'trusted',
    title: 'Developer Mode is off on the iPhone',
    why: 'The agent runs in Developer Mode only.',
    fix: 'On the iPhone, turn on Settings > Privacy & Security > Developer Mode. It restarts once.',
  },
  language_not_english: {
    fallback: 'trusted',
    title: 'The iPhone is not set to English',
    why: 'Hookline reads the screen of Messages, and supports English only.',
    fix: 'On the iPhone, choose English (US) in Settings > General > Language & Region.',
  },
  launcher_absent: {
    fallback: 'trusted',
    title: 'The program that starts the agent is missing',
    why: 'It was not found at the configured path.',
    fix: 'Install it, or correct the option that names it. "hookline config" lists the options.',
  },
  image_mount_failed: {
    fallback: 'trusted',
    title: "Apple's developer image could not be mounted on the iPhone",
    why: 'The iPhone needs it after each restart, and Apple signs it over the internet.',
    fix: 'Connect this computer and the iPhone to the internet. Hookline retries automatically.',
  },
  tunnel_failed: {
    fallback: 'trusted',
    title: 'The agent and the tunnel to the iPhone have ended',
    why: 'Without a tunnel the agent cannot be started.',
    fix: 'Hookline restarts both automatically. If that does not help, unplug the iPhone and plug it in again, and check their last lines.',
  },
  launch_failed: {
    fallback: 'prepared',
    title: 'The agent could not be started',
    why: 'The command that starts it has ended.',
    fix: 'Check its last lines, and run it once by hand. WebDriverAgent must be installed under the bundle id of iphone-agent-bundle, trusted, and signed within the last year (seven days with a free account). After a restart the iPhone needs its developer image, which takes the internet.',
  },
  agent_starting: {
    fallback: 'agent_starting',
    title: 'The agent is starting',
    why: 'The first start takes up to three minutes.',
    fix: 'Nothing to do. Keep the iPhone unlocked.',
  },
  passcode_prompt: {
    fallback: 'prepared',
    title: 'The iPhone is asking for its passcode',
    why: 'With a passcode, iOS asks for it whenever the agent starts, and again after a while.',
    fix: 'Remove the passcode of the iPhone. An unattended line cannot have one.',
  },
  agent_down: {
    fallback: 'prepared',
    title: 'The agent on the iPhone does not respond',
    why: 'WebDriverAgent is not running, or cannot be reached over the cable.',
    fix: 'Start WebDriverAgent on the iPhone, or let Hookline start it (option iphone-agent).',
  },
  agent_stuck: {
    fallback: 'prepared',
    title: 'The agent on the iPhone hangs',
    why: 'A command took more than a minute: the test service of the iPhone has crashed.',
    fix: 'Hookline restarts it. If that does not help, restart the iPhone.',
  },
  agent_shared: {
    fallback: 'agent_running',
    title: 'Another program controls the iPhone',
    why: 'It keeps taking over the session of the agent.',
    fix: 'Stop the other program. Hookline retries every five minutes.',
  },
  locked: {
    fallback: 'agent_running',
    title: 'The screen of the iPhone is locked',
    why: 'It could not be unlocked without a passcode.',
    fix: 'Unlock it, remove its passcode, and set Auto-Lock to Never.',
  },
  alert: {
    fallback: 'agent_running',
    title: 'An alert on the iPhone needs an answer',
    why: 'Hookline must not answer it.',
    fix: 'Answer it on the iPhone.',
  },
  ui_unknown: {
    fallback: 'agent_running',
    title: 'Hookline does not recognize the screen of the iPhone',
    why: 'It is not a known screen of Messages.',
    fix: 'Open Messages on the iPhone. If that does not help, run "hookline doctor --screens FOLDER" and report the file that it writes.',
  },
  wrong_chat: {
    fallback: 'agent_running',
    title: 'Messages opens the wrong chat',
    why: 'The chat on the screen does not match the recipient, so nothing is typed.',
    fix: 'Remove all contacts from the iPhone, and check what Messages shows.',
  },
  imessage_off: {
    fallback: 'ui_ready',
    title: 'iMessage seems to be off on the iPhone',
    why: 'Two recipients in a row could not be reached. Sending pauses for 15 minutes.',
    fix: 'On the iPhone, turn on Settings > Apps > Messages > iMessage and wait for its activation.',
  },
}

export function stageIndex(stage: PhoneStage): number {
  return PHONE_STAGES.indexOf(stage)
}

export function fallbackIndex({ code }: PhoneBlocker): number {
  return stageIndex(BLOCKERS[code].fallback)
}

export function offlineReason({ code, detail }: PhoneBlocker): OfflineReason {
  const { fix } = BLOCKERS[code]
  return { code, hint: code === 'alert' && detail !== null ? `${fix} ${detail}` : fix }
}

const OF_TROUBLE: Readonly<Record<AgentErrorCode | UiTroubleCode, BlockerCode>> = {
  no_such_element: 'ui_unknown',
  stale: 'ui_unknown',
  not_visible: 'ui_unknown',
  other: 'ui_unknown',
  invalid_session: 'agent_down',
  timeout: 'agent_down',
  down: 'agent_down',
  aborted: 'agent_down',
  stuck: 'agent_stuck',
  shared: 'agent_shared',
  alert: 'alert',
  locked: 'locked',
  ui_unknown: 'ui_unknown',
  wrong_chat: 'wrong_chat',
}

/** The blocker behind an error of the agent or of the screens; null for any other error. */
export function blockerOf(error: unknown): PhoneBlocker | null {
  const trouble = troubleCodeOf(error)
  if (trouble === null) return null
  if (error instanceof AgentError) return { code: OF_TROUBLE[trouble], detail: error.message }
  const title = error instanceof UiTrouble ? error.alertTitle : null
  return { code: OF_TROUBLE[trouble], detail: title === null ? null : `It says: "${title}".` }
}

/**
 * The blocker behind a failed send; null if the failure may concern only its chat. A recipient whose chat cannot be
 * shown must not take the line offline, or the message would be tried forever.
 */
export function blockerOfSend(trouble: AgentErrorCode | UiTroubleCode | null): PhoneBlocker | null {
  if (trouble === null || !isPhoneWide(trouble)) return null
  return { code: OF_TROUBLE[trouble], detail: null }
}

/** The user-space tunnel, which needs no root, requires an iOS newer than 17.4.0 (go-ios, tunnel_api.go). */
const IOS_MIN = '17.4.1'
const EMPTY_PERCENT = 8

/** The reason why a phone cannot be read; null if it can. */
export function attachBlocker(phone: Phone | null): PhoneBlocker | null {
  if (phone === null || phone.device === null) return { code: 'device_absent', detail: null }
  if (phone.trouble !== null) return { code: phone.trouble.reason, detail: phone.trouble.why }
  if (phone.facts === null) return { code: 'unreadable', detail: 'It has not been read yet.' }
  return null
}

/** What makes a phone unfit by its last known facts, or why there are no facts; null if nothing does. */
export function fitnessBlocker(phone: Phone | null): PhoneBlocker | null {
  const facts = phone?.facts ?? null
  if (facts === null) return attachBlocker(phone)
  // iOS leaves out a last version number that is zero.
  const version = [...facts.iosVersion.split('.'), '0', '0'].slice(0, 3).join('.')
  if (Bun.semver.order(version, IOS_MIN) < 0) {
    return { code: 'ios_too_old', detail: `It runs iOS ${facts.iosVersion}.` }
  }
  if (facts.isDeveloperModeOn === false) return { code: 'developer_mode_off', detail: null }
  if (facts.language !== null && !/^en\b/i.test(facts.language)) {
    return { code: 'language_not_english', detail: `Its language is ${facts.language}.` }
  }
  return batteryBlocker(phone)
}

/** The first thing to change about a phone that is not a running line. */
export function firstBlocker(phone: Phone | null): PhoneBlocker | null {
  return attachBlocker(phone) ?? fitnessBlocker(phone)
}

export function batteryBlocker(phone: Phone | null): PhoneBlocker | null {
  const battery = phone?.facts?.battery ?? null
  if (battery === null || battery.isCharging || battery.percent >= EMPTY_PERCENT) return null
  return { code: 'battery_empty', detail: `It has ${battery.percent} %.` }
}
