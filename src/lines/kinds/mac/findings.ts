// What a Mac line tells the health catalogue beside the trouble that takes it offline.

import type { Finding } from '../../../domain/finding.ts'
import { grouped } from '../../../domain/number-words.ts'
import type { AttendedMacLine } from './attended-line.ts'
import { numbersOf } from './own-number.ts'
import { troubleFinding } from './reasons.ts'

/** Everything that is worth telling of a line, the worst first. */
export function lineFindings(
  line: AttendedMacLine,
  { key, number }: { readonly key: string; readonly number: string },
): readonly Finding[] {
  const { trouble } = line
  const all = [
    trouble === null ? null : troubleFinding(trouble, key),
    sendsVanish(line, key),
    notConnected(line, key),
    newContactsPaused(line, key),
    otherNumber(line, key, number),
    severalNumbers(line, key, number),
    oldMessages(line, key),
    undecodable(line, key),
  ]
  return all.filter((finding) => finding !== null)
}

/** Without its number a line cannot be listed: nobody could say whom its messages are from. */
export function numberUnknown(key: string | null): Finding {
  return {
    code: 'number_unknown',
    severity: 'error',
    title: 'The phone number of this Mac is not known yet',
    why: 'The history of Messages does not say which number it sends as.',
    fix: 'Set HOOKLINE_MAC_PHONE_NUMBER to the number (as +12025550123) and restart Hookline.',
    key,
    depends_on: null,
  }
}

/** Before the line rests, and while one message is tried. */
function sendsVanish(line: AttendedMacLine, key: string): Finding | null {
  if (line.trouble !== null || !line.areSendsVanishing) return null
  return { ...troubleFinding('sends_vanish', key), severity: 'warning', why: VANISHING_WHY }
}

const VANISHING_WHY =
  'Of the last sends that Messages took there is no trace in it. The next one shows whether that goes on.'

function notConnected(line: AttendedMacLine, key: string): Finding | null {
  if (line.trouble !== null || line.isConnected) return null
  return {
    code: 'imessage_not_connected',
    severity: 'warning',
    title: 'Messages has no connection to Apple',
    why: 'Its iMessage account is signed in and offline; messages wait until it is back.',
    fix: 'Look whether this Mac reaches the internet.',
    key,
    depends_on: null,
  }
}

function newContactsPaused(line: AttendedMacLine, key: string): Finding | null {
  if (line.pausedMs === 0) return null
  const minutes = Math.ceil(line.pausedMs / 60_000)
  return {
    code: 'new_contacts_paused',
    severity: 'warning',
    title: 'Nobody new is written to for a while',
    why: `Five recipients within an hour were not on iMessage; it goes on in ${minutes} minutes.`,
    fix: 'Check the numbers that your program writes to: Apple blocks lines that guess.',
    key,
    depends_on: null,
  }
}

function otherNumber(line: AttendedMacLine, key: string, number: string): Finding | null {
  const [used] = numbersOf(line.database.aliases)
  if (used === undefined || line.database.aliases.has(number)) return null
  return {
    code: 'sends_as_other_number',
    severity: 'warning',
    title: 'Messages sends from another number than the line has',
    why: `Its last messages came from or went to a number that ends in ${used[0].slice(-4)}.`,
    fix: 'In Messages, Settings, iMessage, choose the number for new conversations, or correct HOOKLINE_MAC_PHONE_NUMBER.',
    key,
    depends_on: null,
  }
}

function severalNumbers(line: AttendedMacLine, key: string, number: string): Finding | null {
  const others = numbersOf(line.database.aliases).filter(([alias]) => alias !== number)
  if (others.length === 0 || !line.database.aliases.has(number)) return null
  return {
    code: 'several_numbers',
    severity: 'info',
    title: 'This Mac uses more than one number',
    why: 'All of them are received here; which one a message is sent from, Messages decides by the conversation.',
    fix: 'For a number of its own each, use one macOS user or one Mac per number.',
    key,
    depends_on: null,
  }
}

function oldMessages(line: AttendedMacLine, key: string): Finding | null {
  const count = line.database.reading?.countOf('history') ?? 0
  if (count === 0) return null
  return {
    code: 'old_messages_synced',
    severity: 'info',
    title: 'Old messages were synced from iCloud',
    why: `Messages of the past that came in: ${grouped(count)}. They are listed and were not announced.`,
    fix: 'Nothing has to be done.',
    key,
    depends_on: null,
  }
}

function undecodable(line: AttendedMacLine, key: string): Finding | null {
  const count = line.database.reading?.countOf('undecodable') ?? 0
  if (count === 0) return null
  return {
    code: 'undecodable_bodies',
    severity: 'warning',
    title: 'The text of some messages could not be read',
    why: `Messages since the line started whose form Hookline does not know: ${grouped(count)}.`,
    fix: 'Upgrade Hookline; where that does not help, record "hookline mac trace" and report it.',
    key,
    depends_on: null,
  }
}
