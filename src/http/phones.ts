// How far iPhones on the cable have come on their way to lines: for the owner, who mends what stops them.

import type { Phone } from '../api/owner.ts'

/** A phone as its driver tells of it. */
export type PhoneReport = {
  readonly key: string
  readonly name: string | null
  readonly iosVersion: string | null
  readonly batteryPercent: number | null
  /** In the order in which they are reached. */
  readonly states: readonly { readonly state: string; readonly isReached: boolean }[]
  readonly stop: {
    readonly code: string
    readonly title: string
    readonly why: string
    readonly fix: string
  } | null
  readonly unknownScreen: string | null
}

export function phoneResource(report: PhoneReport): Phone {
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
