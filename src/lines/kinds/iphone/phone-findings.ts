// Findings and reports about iPhones that are lines, or are configured as lines.

import type { Finding } from '../../../domain/finding.ts'
import type { Phone } from './cable/lockdown.ts'
import type { PhoneChoice } from './options.ts'
import {
  BLOCKERS,
  fallbackIndex,
  firstBlocker,
  PHONE_STAGES,
  stageIndex,
  type PhoneBlocker,
  type PhoneStage,
} from './phone-blockers.ts'
import type { PhoneLine } from './phone-line.ts'

/** Progress of a phone on its way to a line. */
export type PhoneReport = {
  /** The UDID. */
  readonly key: string
  readonly name: string | null
  readonly iosVersion: string | null
  readonly batteryPercent: number | null
  readonly states: readonly { readonly state: PhoneStage; readonly isReached: boolean }[]
  readonly stop: Words | null
  /** A screen that was not recognized: types and identifiers, and none of its texts. */
  readonly unknownScreen: string | null
}

type Words = Readonly<Record<'code' | 'title' | 'why' | 'fix', string>>
type NumberOf = (phone: Phone) => string | null
type Remark = Omit<Finding, 'key' | 'depends_on'>

/** Enough of a UDID for its owner to recognize the phone. */
const UDID_END_LENGTH = 6
const TOP = stageIndex('online')

/** `line` is null where the phone is no line yet: it has no number, or was never read. */
export function phoneReport(phone: Phone, line: PhoneLine | null): PhoneReport {
  const blocker = line === null ? firstBlocker(phone) : blockerOfLine(line)
  const reached = Math.min(
    blocker === null ? TOP : fallbackIndex(blocker),
    stageIndex(line?.life.stage ?? 'trusted'),
  )
  return {
    key: phone.udid,
    ...factsOf(phone),
    states: PHONE_STAGES.map((state, index) => ({ state, isReached: index <= reached })),
    stop: blocker === null ? null : wordsOf(blocker),
    unknownScreen: line?.unknownScreen ?? null,
  }
}

function factsOf({ facts, trouble }: Phone) {
  if (facts === null) {
    return { name: trouble?.name ?? null, iosVersion: null, batteryPercent: null }
  }
  const { name, iosVersion, battery } = facts
  return { name, iosVersion, batteryPercent: battery?.percent ?? null }
}

/** Findings about a phone whose line is running. */
export function lineFindings(line: PhoneLine, numberOf: NumberOf): readonly Finding[] {
  const { phone, udid } = line.life
  const blocker = blockerOfLine(line)
  const remarks = [
    blocker === null ? null : blockerRemark(blocker),
    phone === null ? null : lowBattery(phone),
    phone === null ? null : otherNumber(phone, numberOf),
    line.counts.named > 0 ? CONTACTS : null,
    line.counts.gaps > 0 ? GAPS : null,
    line.counts.groups > 0 ? GROUPS : null,
  ]
  return remarks.flatMap((remark) => about(remark, udid))
}

/** Findings about a phone that is configured as a line and is none yet. */
export function waitingFindings(phone: Phone, numberOf: NumberOf): readonly Finding[] {
  if (phone.device === null) return []
  const blocker = firstBlocker(phone)
  if (blocker !== null) return about(blockerRemark(blocker), phone.udid)
  return about(numberOf(phone) === null ? NO_NUMBER : null, phone.udid)
}

/** The finding about configured phones that were not plugged in since the start. */
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

/** The finding that no phone can be seen at all. */
export function deniedFindings(): readonly Finding[] {
  return about(blockerRemark({ code: 'usbmux_denied', detail: null }), null)
}

/** The blocker of a running line; iMessage that is off blocks sending only. */
function blockerOfLine({ life, evidence }: PhoneLine): PhoneBlocker | null {
  if (life.blocker !== null) return life.blocker
  return life.isOnline && evidence.isOff ? { code: 'imessage_off', detail: null } : null
}

function wordsOf({ code, detail }: PhoneBlocker): Words {
  const { title, why, fix } = BLOCKERS[code]
  return { code, title, why: detail === null ? why : `${why} ${detail}`, fix }
}

function about(remark: Remark | null, key: string | null): readonly Finding[] {
  return remark === null ? [] : [{ ...remark, key, depends_on: null }]
}

/** An agent that is still starting is no fault yet. */
function blockerRemark(blocker: PhoneBlocker): Remark {
  const severity = blocker.code === 'agent_starting' ? 'info' : 'error'
  return { severity, ...wordsOf(blocker) }
}

function lowBattery({ facts, hasLowBattery }: Phone): Remark | null {
  if (!hasLowBattery || facts?.battery == null) return null
  return {
    code: 'battery_low',
    severity: 'warning',
    title: 'The battery of the iPhone is low and not charging',
    why: `It is at ${facts.battery.percent} %, and has been low for ten minutes or longer.`,
    fix: 'Plug it into a port or hub that supplies enough power. Below 8 % the line goes offline.',
  }
}

function otherNumber(phone: Phone, numberOf: NumberOf): Remark | null {
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

const NO_NUMBER: Remark = {
  code: 'phone_number_unknown',
  severity: 'error',
  title: 'The number of the iPhone is unknown',
  why: 'Some carriers leave it out of the SIM. Without it there is no line.',
  fix: 'Add the number after the UDID in the option iphone-lines, as UDID=+12025550100.',
}

const CONTACTS: Remark = {
  code: 'phone_has_contacts',
  severity: 'warning',
  title: 'The iPhone shows names instead of numbers',
  why: 'Messages from its contacts cannot be relayed, because their numbers are not on the screen.',
  fix: 'Remove all contacts from the iPhone, and turn off Contacts in its iCloud settings.',
}

const GROUPS: Remark = {
  code: 'group_messages_not_relayed',
  severity: 'info',
  title: 'Group messages are not relayed',
  why: 'Some arrived since the line started. They stay in Messages.',
  fix: 'Read them in Messages. Hookline relays one-to-one messages.',
}

const GAPS: Remark = {
  code: 'messages_may_be_missing',
  severity: 'warning',
  title: 'Messages of a chat may be missing',
  why: 'A chat was cleared, or too many messages arrived while the line was offline.',
  fix: 'Check Messages on the iPhone. This finding clears at the next start of the line.',
}

/** A report in the API's words. */
export function phoneResource(report: PhoneReport) {
  return {
    key: report.key,
    name: report.name,
    ios_version: report.iosVersion,
    battery_percent: report.batteryPercent,
    states: report.states.map(({ state, isReached }) => ({ state, is_reached: isReached })),
    stop: report.stop,
    unknown_screen: report.unknownScreen,
  }
}
