import type { LineId, Timestamp } from './ids.ts'

export type DriverKind = 'mac' | 'iphone' | 'shortcuts' | 'simulated'

/** What a line can do and tell, so that nobody waits for an event that it cannot give. */
export type Capabilities = {
  readonly new_contacts: boolean
  readonly choose_service: boolean
  readonly delivered: boolean
  readonly read: boolean
  readonly guid: boolean
  readonly attachments: boolean
}

export const NO_CAPABILITIES: Capabilities = {
  new_contacts: false,
  choose_service: false,
  delivered: false,
  read: false,
  guid: false,
  attachments: false,
}

export const DEFAULT_DAILY_CONTACT_LIMIT = 50

/** A phone line as it is stored. Whether it is online is known to the supervisor only. */
export type Line = {
  readonly id: LineId
  readonly driver: DriverKind
  /** What the device is: a platform UUID and user id, a UDID, an ordinal. */
  readonly key: string
  readonly number: string
  readonly label: string | null
  readonly dailyContactLimit: number
  readonly isEnabled: boolean
  readonly relaySms: boolean
  readonly checkpoint: string | null
  readonly createdAt: Timestamp
}

/** What the owner knows the line by. */
export function lineName({ label, number }: Pick<Line, 'label' | 'number'>): string {
  return label ?? number
}

/** Why a line is offline: a code, and one sentence that the owner can act on. */
export type OfflineReason = { readonly code: string; readonly hint: string }

/** What a line is doing now. */
export type LineState =
  | {
      readonly status: 'online'
      readonly imessageActive: boolean
      readonly capabilities: Capabilities
    }
  | { readonly status: 'offline'; readonly reason: OfflineReason }

export const OFFLINE_REASONS = {
  starting: {
    code: 'starting',
    hint: 'The line is being started; this takes a few seconds.',
  },
  not_configured: {
    code: 'not_configured',
    hint: 'This start did not ask for the line: start with more simulated lines, or delete it.',
  },
  device_absent: {
    code: 'device_absent',
    hint: 'The device of this line is not attached: plug it in and switch it on.',
  },
  bridge_removed: {
    code: 'device_absent',
    hint: 'The bridge of this line was removed: add one with its number, or delete the line.',
  },
  number_changed: {
    code: 'number_changed',
    hint: 'The device has another number now: adopt the line if it is the same one.',
  },
  driver_failed: {
    code: 'driver_failed',
    hint: 'The line stopped by an error and is started again by itself; the log says why.',
  },
  stopping: { code: 'stopping', hint: 'The relay is stopping.' },
} as const satisfies Record<string, OfflineReason>

/** Whether a message that names no line could go out by this one now. */
export function isReady(line: {
  readonly isEnabled: boolean
  readonly isOnline: boolean
  readonly imessageActive: boolean
}): boolean {
  return line.isEnabled && line.isOnline && line.imessageActive
}
