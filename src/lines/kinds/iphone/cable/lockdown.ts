import { deadline, type Clock } from '../../../../system/clock.ts'
import {
  LOCKDOWN_PORT,
  LockdownBroken,
  LockdownRefusal,
  LockdownSession,
} from './lockdown-session.ts'
import type { MuxDevice } from './mux-device.ts'
import { MuxError } from './mux-error.ts'
import { readPairRecord } from './pair-record.ts'
import {
  phoneNumberOf,
  type PhoneFacts,
  type PhoneTrouble,
  type PhoneTroubleReason,
} from './phone-facts.ts'
import { numberOf, switchOf, textOf, type PropertyValue } from './property-list.ts'
import type { Usbmux } from './usbmux.ts'

export type PhoneReading = PhoneFacts | PhoneTrouble

/** What a phone tells everybody. */
type OpenFacts = {
  readonly name: string | null
  readonly iosVersion: string
  readonly productType: string
}

/** A phone that does not answer is given up: whoever waits behind it comes next. */
const READING_MS_MAX = 15_000
const TEXT_LENGTH_MAX = 200

const BATTERY = 'com.apple.mobile.battery'
const INTERNATIONAL = 'com.apple.international'
/** The part of the system that lets only signed programs run, and so knows of the developer mode. */
const FILE_INTEGRITY = 'com.apple.security.mac.amfi'

/** What the words of lockdown mean for the trust (lockdown.h of libimobiledevice has them all). */
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
 * What a phone tells of itself. It changes nothing there, and puts no question to its owner. Rejects
 * only when `signal` aborts: what else goes wrong is told as trouble, within 15 s.
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
  const isCharging = switchOf(await ask('BatteryIsCharging', BATTERY)) ?? false
  return {
    ...open,
    name: open.name ?? 'iPhone',
    number: number === null ? null : phoneNumberOf(number),
    battery: percent === null ? null : { percent, isCharging },
    isDeveloperModeOn: switchOf(await ask('DeveloperModeStatus', FILE_INTEGRITY)),
    language: shortText(await ask('Language', INTERNATIONAL)),
    // The passcode is set and the screen locked (go-ios).
    isLocked: switchOf(await ask('PasswordProtected')),
    timeZone: shortText(await ask('TimeZone')),
    simStatus: shortText(await ask('SIMStatus')),
  }
}

function shortText(value: PropertyValue | null): string | null {
  return textOf(value)?.slice(0, TEXT_LENGTH_MAX) ?? null
}

/** What failed, as its owner can be told. What is no failure of the outside is thrown on. */
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
