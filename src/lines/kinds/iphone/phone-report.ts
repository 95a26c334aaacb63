import type { AttendedPhone } from './attended-phone.ts'
import type { Phone } from './cable/phone-facts.ts'
import { attachStop, fitnessStop } from './phone-fitness.ts'
import {
  heightOf,
  PHONE_STATES,
  PHONE_STOPS,
  placeOf,
  type PhoneState,
  type PhoneStop,
} from './phone-stops.ts'

/** How far a phone has come on its way to a line, for its owner. */
export type PhoneReport = {
  /** Its UDID. */
  readonly key: string
  readonly name: string | null
  readonly iosVersion: string | null
  readonly batteryPercent: number | null
  readonly states: readonly { readonly state: PhoneState; readonly isReached: boolean }[]
  readonly stop: {
    readonly code: string
    readonly title: string
    readonly why: string
    readonly fix: string
  } | null
  /** A screen that nobody knew: types and identifiers, and nothing of what anybody wrote. */
  readonly unknownScreen: string | null
}

const TOP = heightOf('online')

/** `line` is null where the phone is no line yet: it has no number, or was never read. */
export function phoneReport(phone: Phone, line: AttendedPhone | null): PhoneReport {
  const stop = line === null ? firstStop(phone) : stopOfLine(line)
  const height = Math.min(
    stop === null ? TOP : placeOf(stop),
    heightOf(line?.life.state ?? 'trusted'),
  )
  return {
    key: phone.udid,
    ...factsOf(phone),
    states: PHONE_STATES.map((state) => ({ state, isReached: heightOf(state) <= height })),
    stop: stop === null ? null : inWords(stop),
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

/** What stops a line; iMessage that is off stops sending only. */
export function stopOfLine({ life, evidence }: AttendedPhone): PhoneStop | null {
  if (life.stop !== null) return life.stop
  return life.isOnline && evidence.isOff ? { code: 'imessage_off', detail: null } : null
}

/** What is known to stop a phone that nobody attends to. */
export function firstStop(phone: Phone): PhoneStop | null {
  return attachStop(phone) ?? fitnessStop(phone)
}

export function inWords({ code, detail }: PhoneStop) {
  const { title, why, fix } = PHONE_STOPS[code]
  return { code, title, why: detail === null ? why : `${why} ${detail}`, fix }
}

/** A report in the words of the API. */
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
