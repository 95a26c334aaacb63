import type { KindInfo } from '../../api/dashboard.ts'
import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import type { StateWords } from '../components/drawings.ts'
import { numberWords } from '../numbers.ts'

export function lineName({ label, phone_number }: PhoneLine): string {
  return label ?? numberWords(phone_number)
}

export function lineNameIn(lines: readonly PhoneLine[], of: Conversation): string {
  const line = lines.find(({ id }) => id === of.phone_line_id)
  return line === undefined ? numberWords(of.phone_number) : lineName(line)
}

/** Returns whether this line could send a message that names no line. */
export function isReady({ status, is_enabled, imessage_active }: PhoneLine): boolean {
  return status === 'online' && is_enabled && imessage_active
}

export function lineState(line: PhoneLine): StateWords {
  if (line.status !== 'online') return { text: 'Offline', tone: 'bad', icon: 'cross' }
  if (!line.is_enabled) return { text: 'Paused', tone: 'warn', icon: 'pause' }
  if (!line.imessage_active) return { text: 'No iMessage', tone: 'bad', icon: 'warning' }
  // A limit of 0 is intended, and no warning.
  if (line.daily_contact_limit > 0 && line.new_contacts_today >= line.daily_contact_limit)
    return { text: 'Online, limit reached', tone: 'warn', icon: 'warning' }
  return { text: 'Online', tone: 'ok', icon: 'check' }
}

/** A line in a menu: name, number, and state unless it is online. */
export function lineOption(line: PhoneLine) {
  const { text } = lineState(line)
  const name = line.label === null ? '' : `${line.label}, `
  const state = text === 'Online' ? '' : ` (${text.toLowerCase()})`
  return { value: line.id, text: `${name}${numberWords(line.phone_number)}${state}` }
}

export type Kinds = readonly KindInfo[]

/** Undefined if this version doesn't know the line's kind. */
export function kindOf({ driver }: PhoneLine, kinds: Kinds): KindInfo | undefined {
  return kinds.find(({ name }) => name === driver)
}

export function kindName(line: PhoneLine, kinds: Kinds): string {
  return kindOf(line, kinds)?.title ?? line.driver
}

/** Messages of a simulated line stay on this machine, and incoming ones can be simulated. */
export function isSimulated(line: PhoneLine, kinds: Kinds): boolean {
  return kindOf(line, kinds)?.is_real === false
}

/** The command that starts a relay without a device. */
export function trialCommand(kinds: Kinds): string {
  return kinds.find(({ trial_command }) => trial_command !== null)?.trial_command ?? ''
}

/** A simulated line's contacts: `reader` reads messages, `echo` also replies; null for a real line. */
export function practiceNumbers(line: PhoneLine, kinds: Kinds): KindInfo['practice_numbers'] {
  return kindOf(line, kinds)?.practice_numbers ?? null
}

/** `own`: the text came from the line's own number, which doesn't prove that others can reach it. */
export type TestOutcome =
  | { readonly outcome: 'waiting' }
  | { readonly outcome: 'own' }
  | { readonly outcome: 'arrived'; readonly message: Message }

/** Finds a test text in the line's `messages` by its unique `code`. */
export function testOutcome(
  messages: readonly Message[],
  line: PhoneLine,
  code: string,
): TestOutcome {
  const found = messages.filter(({ text }) => text.includes(code))
  const message = found.find((each) => each.direction === 'inbound' && !isOwn(each, line))
  if (message !== undefined) return { outcome: 'arrived', message }
  return { outcome: found.some((each) => isOwn(each, line)) ? 'own' : 'waiting' }
}

/** Returns whether the text was typed on the device, or on another device of the same account. */
function isOwn({ source, direction, handle }: Message, { phone_number }: PhoneLine): boolean {
  if (direction === 'inbound') return handle === phone_number
  return source === 'device'
}
