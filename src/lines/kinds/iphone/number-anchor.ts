// The iPhone that holds the number of a Mac line. No message passes through its cable; but Apple takes the
// number from the account some time after the phone or its SIM is gone, so it is worth watching.

import type { Finding } from '../../../domain/finding.ts'
import type { Phone, PhoneFacts, PhoneTroubleReason } from './cable/lockdown.ts'
import type { PhoneCable } from './cable/phone-watch.ts'
import { BLOCKERS } from './phone-blockers.ts'

type AnchoredLine = { readonly key: string; readonly number: string }
type Remark = Omit<Finding, 'key' | 'depends_on'>
type ReadPhone = Phone & { readonly facts: PhoneFacts }

const OF_TRUST: ReadonlySet<PhoneTroubleReason> = new Set([
  'not_trusted',
  'trust_dialog',
  'trust_denied',
  'pairing_stale',
])
/** The oldest version that is known to hold a number for the Messages of a current Mac. */
const IOS_MAJOR_MIN = 15

/** Watches the iPhones on the cable that hold the numbers of Mac lines. */
export class PhoneAnchors {
  readonly #cable: PhoneCable

  constructor(cable: PhoneCable) {
    this.#cable = cable
  }

  /** Findings about the phones behind these lines; they never take a line offline. */
  findings(lines: readonly AnchoredLine[]): readonly Finding[] {
    if (lines.length === 0) return []
    const denied = this.#cable.isDenied ? [troubleRemark('usbmux_denied', 'usbmux_denied')] : []
    return [
      ...denied.map((remark) => about(remark, null)),
      ...anchorFindings(lines, this.#cable.phones()),
    ]
  }
}

/**
 * Findings about the phones behind `lines`: warnings and infos, never errors, because the line works without
 * them. A phone belongs to a line once it was seen with the line's number; it is reported absent only if it
 * was attached since the relay started.
 */
export function anchorFindings(
  lines: readonly AnchoredLine[],
  phones: readonly Phone[],
): readonly Finding[] {
  const read = phones.filter((phone): phone is ReadPhone => phone.facts !== null)
  const findings = lines.flatMap((line) => {
    const remarks = remarksOn(line, read) ?? strangerRemarks(lines, read)
    return remarks.map((remark) => about(remark, line.key))
  })
  return lines.length === 0 ? [] : [...findings, ...unknownPhones(phones)]
}

function about(remark: Remark, key: string | null): Finding {
  return { ...remark, key, depends_on: null }
}

/** Null where no phone was seen with the number of the line. */
function remarksOn(
  { number }: AnchoredLine,
  phones: readonly ReadPhone[],
): readonly Remark[] | null {
  const holders = phones.filter(({ numbers }) => numbers.includes(number))
  const holder = holders.find(({ facts }) => facts.number === number) ?? holders[0]
  if (holder === undefined) return null
  if (holder.facts.number !== number) return [otherNumber(holder.facts, 'warning')]
  if (holder.device === null) return [absent(holder.facts)]
  const reason = holder.trouble?.reason
  const trouble = reason === undefined ? null : phoneRemark(reason)
  return [trouble, lowBattery(holder), oldIos(holder.facts)].filter((remark) => remark !== null)
}

/** A single line and a single phone with another number belong together, or the phone only charges here. */
function strangerRemarks(
  lines: readonly AnchoredLine[],
  phones: readonly ReadPhone[],
): readonly Remark[] {
  const [phone, ...others] = phones.filter(({ device, facts }) => device && facts.number !== null)
  if (phone === undefined || others.length > 0 || lines.length !== 1) return []
  return [otherNumber(phone.facts, 'info')]
}

/** Phones whose number was never read: they may be behind any of the lines. */
function unknownPhones(phones: readonly Phone[]): readonly Finding[] {
  for (const { facts, trouble } of phones) {
    if (facts === null && trouble !== null && OF_TRUST.has(trouble.reason)) {
      return [about({ ...phoneRemark(trouble.reason), severity: 'info' }, null)]
    }
  }
  return []
}

function phoneRemark(reason: PhoneTroubleReason): Remark {
  return troubleRemark(OF_TRUST.has(reason) ? 'anchor_not_trusted' : 'anchor_unreadable', reason)
}

function troubleRemark(code: string, reason: PhoneTroubleReason): Remark {
  const { title, why, fix } = BLOCKERS[reason]
  return { code, severity: 'warning', title, why, fix }
}

function absent({ name }: PhoneFacts): Remark {
  return {
    code: 'anchor_absent',
    severity: 'warning',
    title: 'The iPhone that holds the number of this line is not plugged in',
    why: `"${name}" was attached before. Without it Hookline cannot check that the number is safe.`,
    fix: 'Plug it in again, and leave it switched on with its SIM.',
  }
}

function otherNumber({ name, number }: PhoneFacts, severity: 'warning' | 'info'): Remark {
  const has = number === null ? 'no number' : `a number ending in ${number.slice(-4)}`
  return {
    code: 'anchor_number_mismatch',
    severity,
    title: 'The iPhone has a different number than the line',
    why: `"${name}" has ${has}.`,
    fix: 'Insert the right SIM, or correct the number of the line. Ignore this if the phone only charges here.',
  }
}

function lowBattery({ facts, hasLowBattery }: ReadPhone): Remark | null {
  if (!hasLowBattery || facts.battery === null) return null
  return {
    code: 'anchor_low_battery',
    severity: 'warning',
    title: 'The battery of the iPhone is low and not charging',
    why: `"${facts.name}" is at ${facts.battery.percent} %, and has been low for ten minutes or longer.`,
    fix: 'Plug it into a port or hub that supplies enough power.',
  }
}

function oldIos({ name, iosVersion }: PhoneFacts): Remark | null {
  if (Number.parseInt(iosVersion, 10) >= IOS_MAJOR_MIN) return null
  return {
    code: 'anchor_ios_too_old',
    severity: 'info',
    title: 'The iOS version of the iPhone is old',
    why: `"${name}" runs iOS ${iosVersion}. Versions from ${IOS_MAJOR_MIN} on are known to work.`,
    fix: 'Update it, or move the number to a newer iPhone.',
  }
}
