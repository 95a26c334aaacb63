// Everything in the page that depends on a line's kind.

import type { PhoneLine } from './resources.ts'

const NAMES: Readonly<Record<string, string>> = {
  mac: 'Messages on this Mac',
  iphone: 'iPhone',
  shortcuts: 'iPhone via Shortcuts',
  simulated: 'Simulated: nothing leaves this machine',
}

export function kindName({ driver }: PhoneLine): string {
  return NAMES[driver] ?? driver
}

/** True where messages stay on this machine, and incoming ones can be simulated. */
export function isSimulated({ driver }: PhoneLine): boolean {
  return driver === 'simulated'
}

/** True where setup begins with the permissions of this machine. */
export function needsPermissions(drivers: readonly string[]): boolean {
  return drivers.includes('mac')
}

const UNUSED = ['simulated not_configured', 'shortcuts device_absent']

/** True for a line that the owner asked for and no longer does; the relay deletes no other. */
export function isDeletable({ driver, status_reason }: PhoneLine): boolean {
  return UNUSED.includes(`${driver} ${status_reason}`)
}

/** Starts a relay to try without a device. */
export const TRIAL_COMMAND = 'hookline serve --simulated-lines 2'

/** A simulated contact that reads messages, and one that also replies with the same text. */
export const SIMULATED_READER = '+12025550123'
export const SIMULATED_ECHO = '+12025550196'
