import type { BoxId, LineId, Timestamp } from './ids.ts'
import type { QuietHours } from './quiet-hours.ts'

/**
 * The abilities and reports of a line, so that no client waits for an event that the line can't give. Optional ones
 * are left out if the line doesn't have them.
 */
export type Capabilities = {
  readonly new_contacts: boolean
  readonly choose_service: boolean
  readonly delivered: boolean
  readonly read: boolean
  readonly guid: boolean
  /** True if it can send files. */
  readonly attachments: boolean
  /** True if it receives the bytes of files. */
  readonly receives_attachments?: true
  readonly groups?: (typeof GROUP_ABILITIES)[number]
  readonly reactions?: Exchange
  readonly replies?: Exchange
  /** Edits and unsends. */
  readonly edits?: Exchange
}

export const GROUP_ABILITIES = ['receive', 'reply'] as const
export const EXCHANGES = ['receive', 'send'] as const
/** A line's support for something: it only receives it, or also sends it. */
export type Exchange = (typeof EXCHANGES)[number]

export const NO_CAPABILITIES: Capabilities = {
  new_contacts: false,
  choose_service: false,
  delivered: false,
  read: false,
  guid: false,
  attachments: false,
}

export const DEFAULT_DAILY_CONTACT_LIMIT = 50

/** The machine that a device is attached to: a box, or the head itself. */
export type Place = BoxId | 'here'

/** A phone line as it is stored. Only the supervisor knows whether it is online. */
export type Line = {
  readonly id: LineId
  /** The name of its kind, such as `mac`. */
  readonly driver: string
  /** The device: a platform UUID and user id, a UDID, or an ordinal. */
  readonly key: string
  /** The box of its device; null for this machine. */
  readonly box: BoxId | null
  /** The place that its number is moving to; null if it isn't moving. */
  readonly movesTo: Place | null
  readonly number: string
  readonly label: string | null
  readonly dailyContactLimit: number
  readonly isEnabled: boolean
  /** In the time zone of the line's site; null if there are none. */
  readonly quietHours: QuietHours | null
  readonly relaySms: boolean
  /** True if groups of the line are stored and announced. */
  readonly relayGroups: boolean
  readonly checkpoint: string | null
  readonly createdAt: Timestamp
}

/** The name of the line for people. */
export function lineName({ label, number }: Pick<Line, 'label' | 'number'>): string {
  return label ?? number
}

/** The reason why a line is offline: a code, and one sentence that the owner can act on. */
export type OfflineReason = {
  readonly code: string
  readonly hint: string
  /** The title of its finding. */
  readonly title?: string | undefined
}

export type LineState =
  | {
      readonly status: 'online'
      readonly imessageActive: boolean
      readonly capabilities: Capabilities
    }
  | { readonly status: 'offline'; readonly reason: OfflineReason }

/** Offline reasons of all kinds of line; each kind has more. */
export const OFFLINE_REASONS = {
  starting: {
    code: 'starting',
    title: 'The line is starting',
    hint: 'The line is being started; this takes a few seconds.',
  },
  device_absent: {
    code: 'device_absent',
    title: 'The device is not connected',
    hint: 'The device of this line is not attached: plug it in and switch it on.',
  },
  number_changed: {
    code: 'number_changed',
    title: 'The device has a new number',
    hint: 'The device has another number now: adopt the line if it is the same one.',
  },
  driver_failed: {
    code: 'driver_failed',
    title: 'The line stopped with an error',
    hint: 'The line stopped by an error and is started again by itself; the log says why.',
  },
  box_unreachable: {
    code: 'box_unreachable',
    title: 'The box is unreachable',
    hint: 'The box of this line has not been heard: check its power and network, then "hookline doctor" on it.',
  },
  box_outdated: {
    code: 'box_outdated',
    title: 'The box is outdated',
    hint: 'The box of this line runs a version that is too old: hookline boxes upgrade.',
  },
  box_removed: {
    code: 'box_removed',
    title: 'The box was removed',
    hint: 'The box of this line was removed: adopt the line on another machine, or delete it.',
  },
  number_twice: {
    code: 'number_twice',
    title: 'The number is on two machines',
    hint: 'Another machine has this number too: sign out on one of them, or adopt the line that is to stay.',
  },
  line_moving: {
    code: 'line_moving',
    title: 'The line is moving',
    hint: 'Sign in with the account of this line on the machine that it moves to.',
  },
  stopping: { code: 'stopping', title: 'The relay is stopping', hint: 'The relay is stopping.' },
} as const satisfies Record<string, OfflineReason & { readonly title: string }>

/** True if a message that names no line could be sent by this line now. */
export function isReady(line: {
  readonly status: string
  readonly is_enabled: boolean
  readonly imessage_active: boolean
}): boolean {
  return line.status === 'online' && line.is_enabled && line.imessage_active
}
