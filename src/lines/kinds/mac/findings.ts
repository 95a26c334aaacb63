// Findings of a Mac line.

import type { Finding } from '../../../domain/finding.ts'
import { grouped } from '../../../domain/number-words.ts'
import type { MacLineRun } from './line-run.ts'
import { numbersOf } from './number-lookup.ts'
import type { Reading } from './reading.ts'
import { TROUBLES, troubleFinding } from './troubles.ts'

/** Without its number a line cannot be listed. */
export function numberUnknown(key: string | null): Finding {
  return {
    code: 'number_unknown',
    severity: 'error',
    title: 'The phone number of this Mac is unknown',
    why: 'The history of Messages does not show which number it sends from.',
    fix: 'Set HOOKLINE_MAC_PHONE_NUMBER to the number (as +12025550123) and restart Hookline.',
    key,
    depends_on: null,
  }
}

type Found = Omit<Finding, 'key' | 'depends_on'>

/** Findings of a line, the worst first. */
export function lineFindings(
  line: MacLineRun,
  { key, number }: { readonly key: string; readonly number: string },
): readonly Finding[] {
  const { trouble } = line
  const worst = trouble === null ? [] : [troubleFinding(trouble, key)]
  const others = [
    ...stateFindings(line),
    ...numberFindings(line.database.aliases, number),
    ...readingFindings(line.database.reading),
  ]
  return [...worst, ...others.map((found) => ({ ...found, key, depends_on: null }))]
}

function stateFindings(line: MacLineRun): readonly Found[] {
  const { trouble, pausedMs } = line
  const found: Found[] = []
  if (trouble === null && line.areSendsVanishing) {
    found.push({
      code: 'sends_vanish',
      severity: 'warning',
      ...TROUBLES.sends_vanish,
      why: 'The last messages that Messages accepted left no trace in it. The next one shows whether the problem persists.',
    })
  }
  if (trouble === null && !line.isConnected) {
    found.push({
      code: 'imessage_not_connected',
      severity: 'warning',
      title: 'Messages is not connected to Apple',
      why: 'Its iMessage account is signed in but offline. Messages wait until it is back.',
      fix: 'Check the internet connection of this Mac.',
    })
  }
  if (pausedMs > 0) {
    const minutes = Math.ceil(pausedMs / 60_000)
    found.push({
      code: 'new_contacts_paused',
      severity: 'warning',
      title: 'Sending to new contacts is paused',
      why: `Five recipients within an hour were not on iMessage. Sending to new contacts resumes in ${minutes} minutes.`,
      fix: 'Check the numbers that your app writes to: Apple blocks lines that guess.',
    })
  }
  return found
}

function numberFindings(aliases: ReadonlyMap<string, number>, number: string): readonly Found[] {
  const numbers = numbersOf(aliases).map(([alias]) => alias)
  const [used] = numbers
  if (used === undefined || (aliases.has(number) && numbers.every((alias) => alias === number))) {
    return []
  }
  if (!aliases.has(number)) {
    return [
      {
        code: 'sends_as_other_number',
        severity: 'warning',
        title: 'Messages sends from a different number',
        why: `Its last messages used a number that ends in ${used.slice(-4)}.`,
        fix: 'In Messages, Settings, iMessage, choose the number for new conversations, or correct HOOKLINE_MAC_PHONE_NUMBER.',
      },
    ]
  }
  return [
    {
      code: 'several_numbers',
      severity: 'info',
      title: 'This Mac uses more than one number',
      why: 'Messages to all of them are received here. Messages decides for each conversation which number it sends from.',
      fix: 'To separate the numbers, use one macOS user or one Mac for each.',
    },
  ]
}

function readingFindings(reading: Reading | null): readonly Found[] {
  const found: Found[] = []
  const oldCount = reading?.countOf('history') ?? 0
  if (oldCount > 0) {
    found.push({
      code: 'old_messages_synced',
      severity: 'info',
      title: 'Old messages were synced from iCloud',
      why: `Old messages received: ${grouped(oldCount)}. They are listed, and were not announced.`,
      fix: 'No action needed.',
    })
  }
  const undecodableCount = reading?.countOf('undecodable') ?? 0
  if (undecodableCount > 0) {
    found.push({
      code: 'undecodable_bodies',
      severity: 'warning',
      title: 'The text of some messages could not be read',
      why: `Messages since the line started in a format that Hookline does not know: ${grouped(undecodableCount)}.`,
      fix: 'Upgrade Hookline. If that does not help, record "hookline mac trace" and report it.',
    })
  }
  return found
}
