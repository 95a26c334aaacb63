// Reasons why a Mac line is offline. One table serves both: the line's state and the finding in the health
// catalogue say the same.

import type { Finding } from '../../../domain/finding.ts'
import type { OfflineReason } from '../../../domain/line.ts'

type Trouble = {
  readonly title: string
  readonly why: string
  /** Hint of the line, and fix of the finding. */
  readonly fix: string
}

export type MacTrouble = keyof typeof TROUBLES

export const TROUBLES = {
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
