// What a line is, and what it can do, in words.

import type { PhoneLine } from '../resources.ts'

const DRIVERS: Readonly<Record<string, string>> = {
  mac: 'Messages on this Mac',
  iphone: 'iPhone',
  simulated: 'Simulated line',
}

type Capability = keyof PhoneLine['capabilities']

export const CAPABILITIES: readonly (readonly [name: Capability, words: string])[] = [
  ['new_contacts', 'Writes to somebody for the first time'],
  ['delivered', 'Tells when a message was delivered'],
  ['read', 'Tells when a message was read'],
  ['choose_service', 'Chooses between iMessage and SMS'],
  ['attachments', 'Sends pictures and files'],
  ['guid', 'Tells the id that the device gives a message'],
]

const DAY_MS = 86_400_000

export function driverWords({ driver }: PhoneLine): string {
  return DRIVERS[driver] ?? driver
}

/** The next midnight UTC, when contacts are counted anew; milliseconds since 1970, as `now` is. */
export function nextUtcDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS
}
