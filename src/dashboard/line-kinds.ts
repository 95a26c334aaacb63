// Everything in the page that depends on a line's kind, by the facts that the relay gives of each kind.

import type { About, KindInfo, PhoneLine } from './resources.ts'

export type Kinds = readonly KindInfo[]

/** Undefined for a line of a kind that this version does not know. */
function kindOf({ driver }: PhoneLine, kinds: Kinds): KindInfo | undefined {
  return kinds.find(({ name }) => name === driver)
}

export function kindName(line: PhoneLine, kinds: Kinds): string {
  return kindOf(line, kinds)?.title ?? line.driver
}

/** True where messages stay on this machine, and incoming ones can be simulated. */
export function isSimulated(line: PhoneLine, kinds: Kinds): boolean {
  return kindOf(line, kinds)?.is_real === false
}

/** True where setup begins with the permissions of this machine. */
export function needsPermissions({ drivers, kinds }: Pick<About, 'drivers' | 'kinds'>): boolean {
  return kinds.some(({ name, needs_permissions }) => needs_permissions && drivers.includes(name))
}

/** True for a line that the owner asked for and no longer does; the relay deletes no other. */
export function isDeletable(line: PhoneLine, kinds: Kinds): boolean {
  const reason = kindOf(line, kinds)?.deletable_reason ?? null
  return reason !== null && line.status_reason === reason
}

/** Starts a relay to try without a device. */
export function trialCommand(kinds: Kinds): string {
  return kinds.find(({ trial_command }) => trial_command !== null)?.trial_command ?? ''
}

// Numbers of the simulated network, which the guides name too: no other kind of line has such contacts.
/** A simulated contact that reads messages, and one that also replies with the same text. */
export const SIMULATED_READER = '+12025550123'
export const SIMULATED_ECHO = '+12025550196'
