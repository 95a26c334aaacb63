// How a line is told.

import type { StateWords } from './components/tone.ts'
import type { PhoneLine } from './resources.ts'

const DRIVERS: Readonly<Record<string, string>> = {
  mac: 'Messages on this Mac',
  iphone: 'iPhone',
  shortcuts: 'iPhone by Shortcuts',
  simulated: 'Simulated: nothing leaves this machine',
}

export function lineName({ label, phone_number }: PhoneLine): string {
  return label ?? phone_number
}

export function driverWords({ driver }: PhoneLine): string {
  return DRIVERS[driver] ?? driver
}

/** Whether a message that names no line could take it. */
export function isReady({ status, is_enabled, imessage_active }: PhoneLine): boolean {
  return status === 'online' && is_enabled && imessage_active
}

export function lineState(line: PhoneLine): StateWords {
  if (line.status !== 'online') return { text: 'Offline', tone: 'bad', icon: 'cross' }
  if (!line.is_enabled) return { text: 'Paused', tone: 'warn', icon: 'pause' }
  if (!line.imessage_active) return { text: 'No iMessage', tone: 'bad', icon: 'warning' }
  if (isAtLimit(line)) return { text: 'Online, limit reached', tone: 'warn', icon: 'warning' }
  return { text: 'Online', tone: 'ok', icon: 'check' }
}

/** Whether the line has no new contact left for today; a limit of 0 is meant so. */
function isAtLimit({ new_contacts_today, daily_contact_limit }: PhoneLine): boolean {
  return daily_contact_limit > 0 && new_contacts_today >= daily_contact_limit
}
