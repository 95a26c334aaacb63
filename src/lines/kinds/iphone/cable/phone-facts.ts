// What an attached iPhone tells of itself.

import type { MuxDevice } from './mux-device.ts'

/** What lockdown, the service of a phone that knows its settings, told at one moment. */
export type PhoneFacts = {
  readonly reading: 'facts'
  readonly udid: string
  /** As its owner has named it. */
  readonly name: string
  readonly iosVersion: string
  /** As `iPhone15,2`. */
  readonly productType: string
  /** The number of the SIM in E.164; null where the phone has none or does not know it. */
  readonly number: string | null
  readonly battery: { readonly percent: number; readonly isCharging: boolean } | null
  /** The following are null where the phone does not say. */
  readonly isDeveloperModeOn: boolean | null
  /** As `en` or `en-US`. */
  readonly language: string | null
  /** Whether a passcode is set and the screen locked. */
  readonly isLocked: boolean | null
  /** As `Europe/Berlin`. */
  readonly timeZone: string | null
  /** As `kCTSIMSupportSIMStatusReady`. */
  readonly simStatus: string | null
}

export type PhoneTroubleReason =
  | 'not_trusted'
  | 'trust_dialog'
  | 'trust_denied'
  | 'pairing_stale'
  | 'passcode_locked'
  | 'usbmux_denied'
  | 'unreadable'

/** Why a phone that is attached could not be read. */
export type PhoneTrouble = {
  readonly reading: 'trouble'
  readonly udid: string
  /** Null where not even this could be read. */
  readonly name: string | null
  readonly reason: PhoneTroubleReason
  /** What was seen, in one sentence without secrets. */
  readonly why: string
}

/** A phone that is attached, or was since the relay started. */
export type Phone = {
  readonly udid: string
  /** How it is attached; null where it is not. */
  readonly device: MuxDevice | null
  /** The last that could be read, be it from before the trouble or before it went. */
  readonly facts: PhoneFacts | null
  /** Null while it can be read. */
  readonly trouble: PhoneTrouble | null
  /** The numbers that it had, in order of time; at most ten. */
  readonly numbers: readonly string[]
  /** Below 20 % and not charging for ten minutes. */
  readonly hasLowBattery: boolean
}

const E164 = /^\+[1-9][0-9]{6,14}$/
/** Spaces, dashes, brackets, and the marks of direction that iOS puts around numbers. */
const NUMBER_DRESSING = /[\s().\-/\u00AD\u2010-\u2015\u200B-\u200F\u202A-\u202E\u2060-\u2069]/gu

/** The number in E.164; null for one without its country, which nobody could complete. */
export function phoneNumberOf(text: string): string | null {
  const plain = text.replaceAll(NUMBER_DRESSING, '')
  return E164.test(plain) ? plain : null
}
