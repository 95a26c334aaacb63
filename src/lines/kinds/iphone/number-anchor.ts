// The iPhone that holds the number of a line, where a Mac sends and receives under it. No message passes
// through its cable; but Apple takes the number from the account some time after the phone or its SIM is
// gone, so that it is worth a look.

import type { Finding } from '../../../domain/finding.ts'
import type { Phone, PhoneFacts, PhoneTroubleReason } from './cable/phone-facts.ts'
import { PHONE_TROUBLES } from './cable/phone-troubles.ts'

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

/**
 * What is worth telling of the phones behind `lines`: warnings and infos, never errors, because the
 * line works without them. A phone belongs to a line once it was seen with the line's number; that one
 * is absent is told only of a phone that was there since the relay started.
 */
export function anchorFindings(
  lines: readonly AnchoredLine[],
  phones: readonly Phone[],
): readonly Finding[] {
  const read = phones.filter(isRead)
  const findings = lines.flatMap((line) => {
    const remarks = remarksOn(line, read) ?? strangerRemarks(lines, read)
    return remarks.map((remark) => ({ ...remark, key: line.key, depends_on: null }))
  })
  return lines.length === 0 ? [] : [...findings, ...unknownPhones(phones)]
}

/** Null where no phone was seen with the number of the line. */
function remarksOn(
  { number }: AnchoredLine,
  phones: readonly ReadPhone[],
): readonly Remark[] | null {
  const holders = phones.filter(({ numbers }) => numbers.includes(number))
  const holder = holders.find(({ facts }) => facts.number === number) ?? holders[0]
  if (holder === undefined) return null
  if (holder.facts.number !== number) return [otherNumber(holder.facts)]
  if (holder.device === null) return [absent(holder.facts)]
  const all = [trouble(holder), lowBattery(holder), oldIos(holder.facts)]
  return all.filter((remark) => remark !== null)
}

/** One line and one phone with another number belong together, or the phone only charges here. */
function strangerRemarks(
  lines: readonly AnchoredLine[],
  phones: readonly ReadPhone[],
): readonly Remark[] {
  const [phone, ...others] = phones.filter(({ device, facts }) => device && facts.number !== null)
  if (phone === undefined || others.length > 0 || lines.length !== 1) return []
  return [{ ...otherNumber(phone.facts), severity: 'info' }]
}

/** Phones that never said which number they have: they may be behind any of the lines. */
function unknownPhones(phones: readonly Phone[]): readonly Finding[] {
  const [phone] = phones.filter(({ facts, trouble }) => {
    return facts === null && trouble !== null && OF_TRUST.has(trouble.reason)
  })
  if (phone?.trouble === null || phone === undefined) return []
  const remark = troubleRemark(phone.trouble.reason)
  return [{ ...remark, severity: 'info', key: null, depends_on: null }]
}

function trouble(phone: Phone): Remark | null {
  return phone.trouble === null ? null : troubleRemark(phone.trouble.reason)
}

function troubleRemark(reason: PhoneTroubleReason): Remark {
  const code = OF_TRUST.has(reason) ? 'anchor_not_trusted' : 'anchor_unreadable'
  return { code, severity: 'warning', ...PHONE_TROUBLES[reason] }
}

function absent({ name }: PhoneFacts): Remark {
  return {
    code: 'anchor_absent',
    severity: 'warning',
    title: 'The iPhone that holds the number of this line is not plugged in',
    why: `"${name}" was attached before. Without it Hookline cannot see whether the number is safe.`,
    fix: 'Plug it in again, and leave it switched on with its SIM.',
  }
}

function otherNumber({ name, number }: PhoneFacts): Remark {
  const has = number === null ? 'no number' : `a number that ends in ${number.slice(-4)}`
  return {
    code: 'anchor_number_mismatch',
    severity: 'warning',
    title: 'The iPhone has another number than the line',
    why: `"${name}" has ${has}.`,
    fix: 'Put the right SIM in, or correct the number of the line; ignore this for a phone that only charges here.',
  }
}

function lowBattery({ facts, hasLowBattery }: ReadPhone): Remark | null {
  if (!hasLowBattery || facts.battery === null) return null
  return {
    code: 'anchor_low_battery',
    severity: 'warning',
    title: 'The battery of the iPhone is low and does not charge',
    why: `"${facts.name}" has ${facts.battery.percent} %, for ten minutes or longer.`,
    fix: 'Plug it into a port or a hub that gives enough power.',
  }
}

function oldIos({ name, iosVersion }: PhoneFacts): Remark | null {
  if (Number.parseInt(iosVersion, 10) >= IOS_MAJOR_MIN) return null
  return {
    code: 'anchor_ios_too_old',
    severity: 'info',
    title: 'The iOS of the iPhone is old',
    why: `"${name}" runs iOS ${iosVersion}; from ${IOS_MAJOR_MIN} on this is known to work.`,
    fix: 'Update it, or move the number to a newer iPhone.',
  }
}

function isRead(phone: Phone): phone is ReadPhone {
  return phone.facts !== null
}
