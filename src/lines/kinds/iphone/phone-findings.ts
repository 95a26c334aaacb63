// What the health catalogue says of iPhone lines.

import type { Finding } from '../../../domain/finding.ts'
import type { PhoneChoice } from '../../../domain/value-kind.ts'
import type { AttendedPhone } from './attended-phone.ts'
import type { Phone } from './cable/phone-facts.ts'
import { firstStop, inWords, stopOfLine } from './phone-report.ts'
import type { PhoneStop } from './phone-stops.ts'

/** By so much of it a person knows a phone again. */
const UDID_END_LENGTH = 6

type NumberOf = (phone: Phone) => string | null
type Remark = Omit<Finding, 'key' | 'depends_on'>

/** Those of a phone that is attended. */
export function lineFindings(line: AttendedPhone, numberOf: NumberOf): readonly Finding[] {
  const { phone } = line.life
  const stop = stopOfLine(line)
  const remarks = [
    stop === null ? null : stopRemark(stop),
    phone === null ? null : lowBattery(phone),
    phone === null ? null : otherNumber(phone, numberOf),
    line.met.named > 0 ? CONTACTS : null,
    line.met.gaps > 0 ? GAPS : null,
    line.met.groups > 0 ? GROUPS : null,
  ]
  return remarks.flatMap((remark) => about(remark, line.life.udid))
}

/** Those of a phone that shall be a line and is none yet. */
export function waitingFindings(phone: Phone, numberOf: NumberOf): readonly Finding[] {
  if (phone.device === null) return []
  const stop = firstStop(phone)
  if (stop !== null) return about(stopRemark(stop), phone.udid)
  return about(numberOf(phone) === null ? NO_NUMBER : null, phone.udid)
}

/** Phones that shall be lines and were not plugged in since the start. */
export function unseenFindings(unseen: readonly PhoneChoice[]): readonly Finding[] {
  if (unseen.length === 0) return []
  const ends = unseen.flatMap(({ udid }) => udid?.slice(-UDID_END_LENGTH) ?? [])
  const which = ends.length === 0 ? 'None' : `Of those that end in ${ends.join(', ')} none`
  return [
    {
      code: 'iphone_not_seen',
      severity: 'warning',
      title: 'An iPhone that shall be a line was not seen yet',
      why: `The option iphone-lines asks for it. ${which} was plugged in since the relay started.`,
      fix: 'Plug it in and unlock it; on Linux, usbmuxd must be installed.',
      key: null,
      depends_on: null,
    },
  ]
}

/** Nothing of any phone can be seen. */
export function deniedFinding(): Finding {
  const remark = stopRemark({ code: 'usbmux_denied', detail: null })
  return { ...remark, key: null, depends_on: null }
}

function about(remark: Remark | null, key: string): readonly Finding[] {
  return remark === null ? [] : [{ ...remark, key, depends_on: null }]
}

/** An agent that is being started is on its way: nothing is wrong yet. */
function stopRemark(stop: PhoneStop): Remark {
  const severity = stop.code === 'agent_starting' ? 'info' : 'error'
  return { severity, ...inWords(stop) }
}

function lowBattery({ facts, hasLowBattery }: Phone): Remark | null {
  if (!hasLowBattery || facts?.battery == null) return null
  return {
    code: 'battery_low',
    severity: 'warning',
    title: 'The battery of the iPhone is low and does not charge',
    why: `It has ${facts.battery.percent} %, for ten minutes or longer.`,
    fix: 'Plug it into a port or a hub that gives enough power; below 8 % the line goes offline.',
  }
}

function otherNumber(phone: Phone, numberOf: NumberOf): Remark | null {
  const number = phone.facts?.number ?? null
  if (number === null || number === numberOf(phone)) return null
  return {
    code: 'phone_number_mismatch',
    severity: 'warning',
    title: 'The SIM of the iPhone has another number than the line',
    why: `Its number ends in ${number.slice(-4)}.`,
    fix: 'Put the right SIM in, or correct the number in the option iphone-lines.',
  }
}

const NO_NUMBER: Remark = {
  code: 'phone_number_unknown',
  severity: 'error',
  title: 'The iPhone does not say its number',
  why: 'Some carriers leave it out of the SIM; without it there is no line.',
  fix: 'Give the number after the UDID in the option iphone-lines, as UDID=+12025550100.',
}

const CONTACTS: Remark = {
  code: 'phone_has_contacts',
  severity: 'warning',
  title: 'The iPhone shows names in the place of numbers',
  why: 'Messages of people who are among its contacts cannot be told: nobody can say their number.',
  fix: 'Remove all contacts from the iPhone, and switch Contacts off in its iCloud settings.',
}

const GROUPS: Remark = {
  code: 'group_messages_not_relayed',
  severity: 'info',
  title: 'Group messages are not relayed',
  why: 'Some came since the line started; they stay in Messages.',
  fix: 'Read them in Messages; Hookline relays messages between two.',
}

const GAPS: Remark = {
  code: 'messages_may_be_missing',
  severity: 'warning',
  title: 'Messages of a chat may be missing',
  why: 'A chat was cleared, or too much came while nobody could look.',
  fix: 'Look into Messages on the iPhone; this goes away with the next start of the line.',
}
