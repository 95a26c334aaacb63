// What of a phone itself stands against its being a line, by what lockdown tells of it.

import type { Phone } from './cable/phone-facts.ts'
import type { PhoneStop } from './phone-stops.ts'

/** The user-space tunnel, which needs no root, wants an iOS newer than 17.4.0 (go-ios, tunnel_api.go). */
const IOS_MIN = '17.4.1'
const EMPTY_PERCENT = 8

/** Why an attached phone cannot be read; null where it can. */
export function attachStop(phone: Phone | null): PhoneStop | null {
  if (phone === null || phone.device === null) return { code: 'device_absent', detail: null }
  if (phone.trouble !== null) return { code: phone.trouble.reason, detail: phone.trouble.why }
  if (phone.facts === null) return { code: 'unreadable', detail: 'It was not read yet.' }
  return null
}

/** What the owner has to change about a phone that can be read; null where nothing. */
export function fitnessStop(phone: Phone | null): PhoneStop | null {
  const facts = phone?.facts ?? null
  if (facts === null) return attachStop(phone)
  if (isOld(facts.iosVersion)) {
    return { code: 'ios_too_old', detail: `It runs iOS ${facts.iosVersion}.` }
  }
  if (facts.isDeveloperModeOn === false) return { code: 'developer_mode_off', detail: null }
  if (facts.language !== null && !/^en\b/i.test(facts.language)) {
    return { code: 'language_not_english', detail: `Its language is ${facts.language}.` }
  }
  return batteryStop(phone)
}

export function batteryStop(phone: Phone | null): PhoneStop | null {
  const battery = phone?.facts?.battery ?? null
  if (battery === null || battery.isCharging || battery.percent >= EMPTY_PERCENT) return null
  return { code: 'battery_empty', detail: `It has ${battery.percent} %.` }
}

function isOld(version: string): boolean {
  return Bun.semver.order(wholeVersion(version), IOS_MIN) < 0
}

/** iOS leaves out a last number that is zero. */
function wholeVersion(version: string): string {
  return [...version.split('.'), '0', '0'].slice(0, 3).join('.')
}
