// Findings and reports about iPhones that are lines, or are configured as lines.

import type { Phone as PhoneReport } from '../../../api/owner.ts'
import type { FindingCode } from '../../../domain/finding-codes.ts'
import type { Finding } from '../../../domain/finding.ts'
import type { Phone, PhoneFacts, PhoneTroubleReason } from './cable/lockdown.ts'
import type { PhoneCable } from './cable/phone-watch.ts'
import type { PhoneChoice } from './options.ts'
import {
  BLOCKERS,
  fallbackIndex,
  firstBlocker,
  PHONE_STAGES,
  type PhoneBlocker,
  stageIndex,
} from './phone-blockers.ts'
import type { PhoneLine } from './phone-line.ts'

type Words = Pick<Finding, 'code' | 'title' | 'why' | 'fix'>
type NumberOf = (phone: Phone) => string | null
type LineFinding = Omit<Finding, 'key' | 'depends_on'>

/** As many digits at the end of a UDID as its owner needs to recognize the phone. */
const UDID_END_LENGTH = 6
const TOP = stageIndex('online')

/** Progress of a phone; `line` is null if it is not a line yet: it has no number, or was never read. */
export function phoneReport(phone: Phone, line: PhoneLine | null): PhoneReport {
  const blocker = line === null ? firstBlocker(phone) : blockerOfLine(line)
  const reached = Math.min(
    blocker === null ? TOP : fallbackIndex(blocker),
    stageIndex(line?.life.stage ?? 'trusted'),
  )
  return {
    key: phone.udid,
    ...factsOf(phone),
    states: PHONE_STAGES.map((state, index) => ({ state, is_reached: index <= reached })),
    stop: blocker === null ? null : wordsOf(blocker),
    unknown_screen: line?.unknownScreen ?? null,
  }
}

function factsOf({ facts, trouble }: Phone) {
  if (facts === null) {
    return { name: trouble?.name ?? null, ios_version: null, battery_percent: null }
  }
  const { name, iosVersion, battery } = facts
  return { name, ios_version: iosVersion, battery_percent: battery?.percent ?? null }
}

export function lineFindings(line: PhoneLine, numberOf: NumberOf): readonly Finding[] {
  const { phone, udid } = line.life
  const blocker = blockerOfLine(line)
  const findings = [
    blocker === null ? null : blockerFinding(blocker),
    phone === null ? null : lowBattery(phone),
    phone === null ? null : otherNumber(phone, numberOf),
    line.hasHidden('named') ? CONTACTS : null,
    line.hasHidden('unproven') ? UNPROVEN : null,
    line.counts.gaps > 0 ? GAPS : null,
    line.hasUnread ? UNREAD : null,
    line.counts.groups > 0 ? GROUPS : null,
  ]
  return findings.flatMap((finding) => about(finding, udid))
}

/** Findings about a phone that is configured as a line but is not one yet. */
export function waitingFindings(phone: Phone, numberOf: NumberOf): readonly Finding[] {
  if (phone.device === null) return []
  const blocker = firstBlocker(phone)
  if (blocker !== null) return about(blockerFinding(blocker), phone.udid)
  return about(numberOf(phone) === null ? NO_NUMBER : null, phone.udid)
}

/** A finding about configured phones that have not been plugged in since the start. */
export function unseenFindings(unseen: readonly PhoneChoice[]): readonly Finding[] {
  if (unseen.length === 0) return []
  const ends = unseen.flatMap(({ udid }) => udid?.slice(-UDID_END_LENGTH) ?? [])
  const which = ends.length === 0 ? 'None' : `None of those ending in ${ends.join(', ')}`
  return about(
    {
      code: 'iphone_not_seen',
      severity: 'warning',
      title: 'An iPhone configured as a line has not been seen yet',
      why: `The option iphone-lines asks for it. ${which} was plugged in since the relay started.`,
      fix: 'Plug it in and unlock it. On Linux, usbmuxd must be installed.',
    },
    null,
  )
}

export function deniedFindings(): readonly Finding[] {
  return about(blockerFinding({ code: 'usbmux_denied', detail: null }), null)
}

/** The blocker of a running line; if iMessage is off, only sending is blocked. */
function blockerOfLine({ life, evidence }: PhoneLine): PhoneBlocker | null {
  if (life.blocker !== null) return life.blocker
  return life.isOnline && evidence.isOff ? { code: 'imessage_off', detail: null } : null
}

function wordsOf({ code, detail }: PhoneBlocker): Words {
  const { title, why, fix } = BLOCKERS[code]
  return { code, title, why: detail === null ? why : `${why} ${detail}`, fix }
}

function about(finding: LineFinding | null, key: string | null): readonly Finding[] {
  return finding === null ? [] : [{ ...finding, key, depends_on: null }]
}

/** An agent that is still starting is not a fault yet. */
function blockerFinding(blocker: PhoneBlocker): LineFinding {
  const severity = blocker.code === 'agent_starting' ? 'info' : 'error'
  return { severity, ...wordsOf(blocker) }
}

function lowBattery({ facts, hasLowBattery }: Phone): LineFinding | null {
  if (!hasLowBattery || facts?.battery == null) return null
  return {
    code: 'battery_low',
    severity: 'warning',
    title: 'The battery of the iPhone is low and not charging',
    why: `It is at ${facts.battery.percent} %, and has been low for ten minutes or longer.`,
    fix: 'Plug it into a port or hub that supplies enough power. Below 8 % the line goes offline.',
  }
}

function otherNumber(phone: Phone, numberOf: NumberOf): LineFinding | null {
  const number = phone.facts?.number ?? null
  if (number === null || number === numberOf(phone)) return null
  return {
    code: 'phone_number_mismatch',
    severity: 'warning',
    title: 'The SIM of the iPhone has a different number than the line',
    why: `Its number ends in ${number.slice(-4)}.`,
    fix: 'Insert the right SIM, or correct the number in the option iphone-lines.',
  }
}

const NO_NUMBER: LineFinding = {
  code: 'phone_number_unknown',
  severity: 'error',
  title: 'The number of the iPhone is unknown',
  why: 'Some carriers leave it out of the SIM. Without it there is no line.',
  fix: 'Add the number after the UDID in the option iphone-lines, as UDID=+12025550100.',
}

const CONTACTS: LineFinding = {
  code: 'phone_has_contacts',
  severity: 'warning',
  title: 'The iPhone shows names instead of numbers',
  why: 'Messages from its contacts cannot be relayed, because their numbers are not on the screen.',
  fix: 'Remove all contacts from the iPhone, and turn off Contacts in its iCloud settings.',
}

const UNPROVEN: LineFinding = {
  code: 'chat_without_number',
  severity: 'warning',
  title: 'The iPhone does not show whose a chat is',
  why: 'Messages suggests a name such as "Maybe: Ann", or the details of a chat do not show its number. Messages in such a chat are not relayed until the number can be seen.',
  fix: 'On the iPhone, turn off the suggestions under Settings › Apps › Contacts › Siri, and Share Name and Photo under Settings › Apps › Messages. Open the chat and read it.',
}

const GROUPS: LineFinding = {
  code: 'group_messages_not_relayed',
  severity: 'info',
  title: 'Group messages are not relayed',
  why: 'Some arrived since the line started. They stay in Messages.',
  fix: 'Read them in Messages. Hookline relays one-to-one messages.',
}

const UNREAD: LineFinding = {
  code: 'conversations_not_read',
  severity: 'warning',
  title: 'Conversations on the iPhone have not been read yet',
  why: 'There are many, or one of them could not be opened.',
  fix: 'Wait a few minutes: Hookline goes on reading them. If this stays, open them in Messages.',
}

const GAPS: LineFinding = {
  code: 'messages_may_be_missing',
  severity: 'warning',
  title: 'Messages of a chat may be missing',
  why: 'A chat was cleared, or too many messages arrived while the line was offline.',
  fix: 'Check Messages on the iPhone. This finding clears at the next start of the line.',
}

// An iPhone that holds the number of a Mac line. No message goes through its cable, but Apple removes the number from
// the account some time after the phone or its SIM is gone, so the phone is worth watching.

type AnchoredLine = { readonly key: string; readonly number: string }
type ReadPhone = Phone & { readonly facts: PhoneFacts }

const OF_TRUST: ReadonlySet<PhoneTroubleReason> = new Set([
  'not_trusted',
  'trust_dialog',
  'trust_denied',
  'pairing_stale',
])
/** The oldest version known to hold a number for Messages on a current Mac. */
const IOS_MAJOR_MIN = 15

/** Findings about the phones behind these lines, and about a cable that the system denies. */
export function cableFindings(
  cable: PhoneCable,
  lines: readonly AnchoredLine[],
): readonly Finding[] {
  const denied = troubleFinding('usbmux_denied', 'usbmux_denied')
  const isHidden = lines.length > 0 && cable.isDenied
  return [...about(isHidden ? denied : null, null), ...anchorFindings(lines, cable.phones())]
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
    const findings = findingsOn(line, read) ?? strangerFindings(lines, read)
    return findings.flatMap((finding) => about(finding, line.key))
  })
  return lines.length === 0 ? [] : [...findings, ...unknownPhones(phones)]
}

/** Findings about the phone with the line's number; null if none was seen with it. */
function findingsOn(
  { number }: AnchoredLine,
  phones: readonly ReadPhone[],
): readonly LineFinding[] | null {
  const holders = phones.filter(({ numbers }) => numbers.includes(number))
  const holder = holders.find(({ facts }) => facts.number === number) ?? holders[0]
  if (holder === undefined) return null
  if (holder.facts.number !== number) return [anchorNumber(holder.facts, 'warning')]
  if (holder.device === null) return [absent(holder.facts)]
  const reason = holder.trouble?.reason
  const trouble = reason === undefined ? null : phoneFinding(reason)
  return [trouble, anchorBattery(holder), oldIos(holder.facts)].filter(
    (finding) => finding !== null,
  )
}

/** One line and one phone with another number: either the phone is the line's, or it only charges here. */
function strangerFindings(
  lines: readonly AnchoredLine[],
  phones: readonly ReadPhone[],
): readonly LineFinding[] {
  const [phone, ...others] = phones.filter(({ device, facts }) => device && facts.number !== null)
  if (phone === undefined || others.length > 0 || lines.length !== 1) return []
  return [anchorNumber(phone.facts, 'info')]
}

/** A finding about a phone whose number was never read: it may be behind any of the lines. */
function unknownPhones(phones: readonly Phone[]): readonly Finding[] {
  for (const { facts, trouble } of phones) {
    if (facts === null && trouble !== null && OF_TRUST.has(trouble.reason)) {
      return about({ ...phoneFinding(trouble.reason), severity: 'info' }, null)
    }
  }
  return []
}

function phoneFinding(reason: PhoneTroubleReason): LineFinding {
  return troubleFinding(OF_TRUST.has(reason) ? 'anchor_not_trusted' : 'anchor_unreadable', reason)
}

function troubleFinding(code: FindingCode, reason: PhoneTroubleReason): LineFinding {
  const { title, why, fix } = BLOCKERS[reason]
  return { code, severity: 'warning', title, why, fix }
}

function absent({ name }: PhoneFacts): LineFinding {
  return {
    code: 'anchor_absent',
    severity: 'warning',
    title: 'The iPhone that holds the number of this line is not plugged in',
    why: `"${name}" was attached before. Without it Hookline cannot check that the number is safe.`,
    fix: 'Plug it in again, and leave it switched on with its SIM.',
  }
}

function anchorNumber({ name, number }: PhoneFacts, severity: 'warning' | 'info'): LineFinding {
  const has = number === null ? 'no number' : `a number ending in ${number.slice(-4)}`
  return {
    code: 'anchor_number_mismatch',
    severity,
    title: 'The iPhone has a different number than the line',
    why: `"${name}" has ${has}.`,
    fix: 'Insert the right SIM, or correct the number of the line. Ignore this if the phone only charges here.',
  }
}

function anchorBattery(phone: ReadPhone): LineFinding | null {
  const { name, battery } = phone.facts
  const low = lowBattery(phone)
  return (
    low && {
      ...low,
      code: 'anchor_low_battery',
      why: `"${name}" is at ${battery?.percent} %, and has been low for ten minutes or longer.`,
      fix: 'Plug it into a port or hub that supplies enough power.',
    }
  )
}

function oldIos({ name, iosVersion }: PhoneFacts): LineFinding | null {
  if (Number.parseInt(iosVersion, 10) >= IOS_MAJOR_MIN) return null
  return {
    code: 'anchor_ios_too_old',
    severity: 'info',
    title: 'The iOS version of the iPhone is old',
    why: `"${name}" runs iOS ${iosVersion}. Versions from ${IOS_MAJOR_MIN} on are known to work.`,
    fix: 'Update it, or move the number to a newer iPhone.',
  }
}
