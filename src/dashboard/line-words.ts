// How a line is told.

import type { IconName } from './components/drawings.ts'
import type { Tone } from './components/tone.ts'
import type { PhoneLine } from './resources.ts'

export type LineWords = { readonly text: string; readonly tone: Tone; readonly icon: IconName }

export function lineName({ label, phone_number }: PhoneLine): string {
  return label ?? phone_number
}

export function lineStatusWords(line: PhoneLine): LineWords {
  if (line.status !== 'online') return { text: 'Offline', tone: 'bad', icon: 'cross' }
  if (!line.is_enabled) return { text: 'Paused', tone: 'warn', icon: 'pause' }
  if (!line.imessage_active) return { text: 'No iMessage', tone: 'bad', icon: 'warning' }
  return { text: 'Online', tone: 'ok', icon: 'check' }
}

/**
 * The line that a message without a line would take now, or null: the first, by creation, that is ready
 * and has a new contact left. Simulated ones come into play only where no other line is enabled.
 */
export function expectedLine(
  lines: readonly PhoneLine[],
  knowsContact: (line: PhoneLine) => boolean,
): PhoneLine | null {
  const enabled = lines.filter((line) => line.is_enabled)
  const real = enabled.filter((line) => line.driver !== 'simulated')
  const usable = (real.length > 0 ? real : enabled).filter(
    (line) => line.status === 'online' && line.imessage_active,
  )
  const free = usable.filter(
    (line) => knowsContact(line) || line.new_contacts_today < line.daily_contact_limit,
  )
  return free[0] ?? usable[0] ?? null
}
