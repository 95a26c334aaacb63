// Facts about an attached iPhone, read by its service lockdown.

import { type Clock, deadline } from '../../../../system/clock.ts'
import {
  LOCKDOWN_PORT,
  LockdownBroken,
  LockdownRefusal,
  LockdownSession,
  readPairRecord,
} from './lockdown-session.ts'
import { MuxError } from './mux-connection.ts'
import { numberOf, type PropertyValue, booleanOf, textOf } from './property-list.ts'
import type { MuxDevice, Usbmux } from './usbmux.ts'

/** The answers of lockdown at one moment. */
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
  /** True where a passcode is set and the screen locked. */
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

/** The cause for which an attached phone could not be read. */
export type PhoneTrouble = {
  readonly reading: 'trouble'
  readonly udid: string
  /** Null where not even this could be read. */
  readonly name: string | null
  readonly reason: PhoneTroubleReason
  /** One sentence without secrets. */
  readonly why: string
}

/** A phone that is attached, or was since the relay started. */
export type Phone = {
  readonly udid: string
  /** Its attachment; null while it is not plugged in. */
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

/** The number in E.164; null for one without its country. */
export function phoneNumberOf(text: string): string | null {
  const plain = text.replaceAll(NUMBER_DRESSING, '')
  return E164.test(plain) ? plain : null
}

export type PhoneReading = PhoneFacts | PhoneTrouble

/** Facts that are open to every computer. */
type OpenFacts = {
  readonly name: string | null
  readonly iosVersion: string
  readonly productType: string
}

/** A phone that does not answer must not hold up the next one. */
const READING_MS_MAX = 15_000
const TEXT_LENGTH_MAX = 200

const BATTERY = 'com.apple.mobile.battery'
const INTERNATIONAL = 'com.apple.international'
/** The part of the system that lets only signed programs run, and so knows of the developer mode. */
const FILE_INTEGRITY = 'com.apple.security.mac.amfi'

/** Troubles by the words of lockdown (all of them are in lockdown.h of libimobiledevice). */
const REASON_OF_WORD: Readonly<Record<string, PhoneTroubleReason>> = {
  PasswordProtected: 'passcode_locked',
  EscrowLocked: 'passcode_locked',
  PairingDialogResponsePending: 'trust_dialog',
  UserDeniedPairing: 'trust_denied',
  // The phone was reset, or its owner has revoked the trust.
  InvalidHostID: 'pairing_stale',
  MissingHostID: 'pairing_stale',
  InvalidPairRecord: 'pairing_stale',
  MissingPairRecord: 'pairing_stale',
}

/** There is no trust that a session could begin with. */
class NoTrust extends Error {
  readonly reason: PhoneTroubleReason

  constructor(reason: PhoneTroubleReason, why: string) {
    super(why)
    this.reason = reason
  }
}

/**
 * Reads a phone. Nothing is changed there, and its owner is not asked anything. Rejects only when `signal`
 * aborts: any other failure is a trouble, within 15 s.
 */
export async function readPhone(
  tools: { readonly mux: Usbmux; readonly clock: Clock },
  device: MuxDevice,
  signal: AbortSignal,
): Promise<PhoneReading> {
  const limit = deadline(tools.clock, READING_MS_MAX, signal)
  const seen: { name: string | null } = { name: null }
  try {
    return await readWithin({ mux: tools.mux, device, seen }, limit.signal)
  } catch (error) {
    signal.throwIfAborted()
    const { reason, why } = limit.signal.aborted
      ? { reason: 'unreadable' as const, why: 'The phone does not answer in time.' }
      : troubleOf(error)
    return { reading: 'trouble', udid: device.udid, name: seen.name, reason, why }
  } finally {
    limit.clear()
  }
}

async function readWithin(
  {
    mux,
    device,
    seen,
  }: {
    readonly mux: Usbmux
    readonly device: MuxDevice
    /** Takes what is known also where the reading fails later. */
    readonly seen: { name: string | null }
  },
  signal: AbortSignal,
): Promise<PhoneFacts> {
  const session = new LockdownSession(await mux.connect(device.deviceId, LOCKDOWN_PORT, signal))
  try {
    const open = await readOpen(session, signal)
    seen.name = open.name
    const record = await readPairRecord(mux, device, signal)
    if (record === 'absent') throw new NoTrust('not_trusted', 'There is no pair record for it.')
    if (record === 'unusable') throw new NoTrust('pairing_stale', 'Its pair record is incomplete.')
    await session.start(record, signal)
    return { reading: 'facts', udid: device.udid, ...(await readTrusted(session, open, signal)) }
  } finally {
    session.close()
  }
}

async function readOpen(session: LockdownSession, signal: AbortSignal): Promise<OpenFacts> {
  const ask = async (key: string) => shortText(await session.value({ domain: null, key }, signal))
  const name = await ask('DeviceName')
  const iosVersion = await ask('ProductVersion')
  const productType = (await ask('ProductType')) ?? 'unknown'
  if (iosVersion === null) throw new LockdownBroken('The phone does not say its iOS version.')
  return { name, iosVersion, productType }
}

async function readTrusted(
  session: LockdownSession,
  open: OpenFacts,
  signal: AbortSignal,
): Promise<Omit<PhoneFacts, 'reading' | 'udid'>> {
  const ask = (key: string, domain: string | null = null) => session.value({ domain, key }, signal)
  const number = textOf(await ask('PhoneNumber'))
  const percent = numberOf(await ask('BatteryCurrentCapacity', BATTERY))
  const isCharging = booleanOf(await ask('BatteryIsCharging', BATTERY)) ?? false
  return {
    ...open,
    name: open.name ?? 'iPhone',
    number: number === null ? null : phoneNumberOf(number),
    battery: percent === null ? null : { percent, isCharging },
    isDeveloperModeOn: booleanOf(await ask('DeveloperModeStatus', FILE_INTEGRITY)),
    language: shortText(await ask('Language', INTERNATIONAL)),
    // The passcode is set and the screen locked (go-ios).
    isLocked: booleanOf(await ask('PasswordProtected')),
    timeZone: shortText(await ask('TimeZone')),
    simStatus: shortText(await ask('SIMStatus')),
  }
}

function shortText(value: PropertyValue | null): string | null {
  return textOf(value)?.slice(0, TEXT_LENGTH_MAX) ?? null
}

/** The trouble behind an error; throws on what is no failure of the outside. */
function troubleOf(error: unknown): { readonly reason: PhoneTroubleReason; readonly why: string } {
  if (error instanceof NoTrust) return { reason: error.reason, why: error.message }
  if (error instanceof LockdownRefusal) {
    return { reason: REASON_OF_WORD[error.word] ?? 'unreadable', why: error.message }
  }
  if (error instanceof LockdownBroken) return { reason: 'unreadable', why: error.message }
  if (!(error instanceof MuxError)) throw error
  const reason = error.code === 'denied' ? 'usbmux_denied' : 'unreadable'
  return { reason, why: error.message }
}
