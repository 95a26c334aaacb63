// Findings of a Mac line, and the reasons why it is offline. One table serves both: the line's state and
// the finding in the health catalogue say the same.

import type { Finding } from '../../../domain/finding.ts'
import type { OfflineReason } from '../../../domain/line.ts'
import { grouped } from '../../../domain/number-words.ts'
import type { MacLineRun } from './line-run.ts'
import { numbersOf } from './number-lookup.ts'
import type { Reading } from './reading.ts'

type Trouble = {
  readonly title: string
  readonly why: string
  /** Hint of the line, and fix of the finding. */
  readonly fix: string
}

export type MacTrouble = keyof typeof TROUBLES

const TROUBLES = {
  chat_db_absent: {
    title: 'Messages is not set up on this Mac',
    why: 'Its database does not exist yet, so there is nothing to read.',
    fix: 'Open Messages, sign in to iMessage, and send yourself a message.',
  },
  full_disk_access: {
    title: 'Hookline needs Full Disk Access',
    why: 'macOS does not let Hookline read the Messages database.',
    fix: 'In System Settings, Privacy & Security, Full Disk Access, turn Hookline on. If it is on already, turn it off and on again.',
  },
  wrong_owner: {
    title: 'The Messages database belongs to another user',
    why: 'Each user of a Mac has their own messages, and only that user can read them.',
    fix: 'Run Hookline as the user who is signed in to Messages.',
  },
  chat_db_unreadable: {
    title: 'The Messages database cannot be read',
    why: 'It is damaged, or in a format that Hookline does not know.',
    fix: 'Open Messages and check that it works; then record "hookline mac trace" and report the problem.',
  },
  no_gui_session: {
    title: 'No user is logged in on this Mac',
    why: 'Messages works only while its user is logged in; the screen may be locked.',
    fix: 'Log in on the Mac, and turn on automatic login so that it survives a power outage.',
  },
  automation_denied: {
    title: 'Hookline is not allowed to control Messages',
    why: 'macOS blocks its requests to Messages, so nothing can be sent. Receiving still works.',
    fix: 'In System Settings, Privacy & Security, Automation, turn on Messages under Hookline.',
  },
  messages_not_running: {
    title: 'Messages is not running',
    why: 'It could not be started. Hookline tries again every 30 seconds.',
    fix: 'Open Messages yourself and check whether it asks for something.',
  },
  messages_signed_out: {
    title: 'Messages is signed out of iMessage',
    why: 'No iMessage account is turned on.',
    fix: 'Open Messages, Settings, iMessage, and sign in. Messages wait until then.',
  },
  messages_not_answering: {
    title: 'Messages is not responding',
    why: 'It is running but does not respond to requests. Hookline restarts it.',
    fix: 'Check the screen of the Mac: a window of Messages may be waiting for an answer.',
  },
  sends_vanish: {
    title: 'Messages accepts messages that never appear',
    why: 'Several messages in a row left no trace in Messages, so sending is paused. One waiting message is tried after ten minutes, then at most every hour.',
    fix: 'Send a text in Messages yourself. If that fails too, restart the Mac. Check whether the uncertain messages arrived.',
  },
  script_refused: {
    title: 'Hookline does not work with this version of Messages',
    why: 'The script that controls Messages fails on this version of macOS.',
    fix: 'Upgrade Hookline. If that does not help, report your version of macOS.',
  },
} as const satisfies Record<string, Trouble>

export function offlineReason(trouble: MacTrouble): OfflineReason {
  return { code: trouble, hint: TROUBLES[trouble].fix }
}

export function troubleFinding(trouble: MacTrouble, key: string | null): Finding {
  return { code: trouble, severity: 'error', ...TROUBLES[trouble], key, depends_on: null }
}

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
