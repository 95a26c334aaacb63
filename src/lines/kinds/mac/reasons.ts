// Why a Mac line cannot send or read, in words that its owner can act on. One table: the line's state
// and the finding in the health catalogue say the same.

import type { Finding } from '../../../domain/finding.ts'
import type { OfflineReason } from '../../../domain/line.ts'

type Trouble = {
  readonly title: string
  readonly why: string
  /** What the owner does about it: the hint of the line and the fix of the finding. */
  readonly fix: string
}

export type MacTrouble = keyof typeof TROUBLES

const TROUBLES = {
  chat_db_absent: {
    title: 'Messages was never set up on this Mac',
    why: 'Its database does not exist, so there is nothing to read.',
    fix: 'Open Messages, sign in to iMessage, and send yourself one message.',
  },
  full_disk_access: {
    title: 'Hookline may not read the messages',
    why: 'macOS refuses to open the database of Messages: Full Disk Access is missing.',
    fix: 'In System Settings, Privacy & Security, Full Disk Access, switch Hookline on (off and on again where it is on).',
  },
  wrong_owner: {
    title: 'The database of Messages belongs to another user',
    why: 'Each user of a Mac has messages of their own, and only that user can read them.',
    fix: 'Run Hookline as the user who is signed in to Messages.',
  },
  chat_db_unreadable: {
    title: 'The database of Messages cannot be read',
    why: 'It is damaged, or of a form that Hookline does not know.',
    fix: 'Open Messages and look whether it works; then record "hookline mac trace" and report it.',
  },
  no_gui_session: {
    title: 'Nobody is logged in to the screen of this Mac',
    why: 'Messages works only while its user is logged in; the screen may be locked.',
    fix: 'Log in on the Mac, and switch automatic login on so that it survives a power cut.',
  },
  automation_denied: {
    title: 'Hookline may not control Messages',
    why: 'macOS refuses its requests to Messages, so nothing can be sent; receiving goes on.',
    fix: 'In System Settings, Privacy & Security, Automation, switch Messages on below Hookline.',
  },
  messages_not_running: {
    title: 'Messages does not run',
    why: 'It could not be started; it is tried again every half minute.',
    fix: 'Open Messages by hand and look whether it asks for something.',
  },
  messages_signed_out: {
    title: 'Messages is signed out of iMessage',
    why: 'There is no iMessage account that is switched on.',
    fix: 'Open Messages, Settings, iMessage, and sign in; messages wait until then.',
  },
  messages_not_answering: {
    title: 'Messages does not answer',
    why: 'It runs and does not react to requests; it is started again by the relay.',
    fix: 'Look at the screen of the Mac: a window of Messages may wait for an answer.',
  },
  sends_vanish: {
    title: 'Messages takes what is sent, and nothing of it appears',
    why: 'Sends came through without a trace in Messages, one after the other, so the line rests; one waiting message is tried after ten minutes, then at most every hour.',
    fix: 'Send a text by hand in Messages; where that fails too, restart the Mac. Look whether the uncertain messages arrived.',
  },
  script_refused: {
    title: 'Messages does not understand the relay',
    why: 'The script for Messages does not work on this version of macOS.',
    fix: 'Upgrade Hookline; where that does not help, report your version of macOS.',
  },
} as const satisfies Record<string, Trouble>

export function offlineReason(trouble: MacTrouble): OfflineReason {
  return { code: trouble, hint: TROUBLES[trouble].fix }
}

export function troubleFinding(trouble: MacTrouble, key: string | null): Finding {
  return { code: trouble, severity: 'error', ...TROUBLES[trouble], key, depends_on: null }
}
