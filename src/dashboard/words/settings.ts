import type { Setting } from '../../api/owner.ts'
import { formatter } from '../time-words.ts'

export function variableOf(name: Setting['name']): string {
  return `HOOKLINE_${name.toUpperCase()}`
}

/** The sections in their order, each with its title and what it is about. The key is a part of its address. */
export const SECTIONS = {
  general: ['General', 'Appearance in this browser, and the time zone.'],
  network: ['Network', 'How the relay is reached, and what it may call.'],
  messages: ['Messages', 'Webhook events, human takeover, and retention.'],
  attachments: ['Attachments', 'Size, storage, and retention of files.'],
  backups: ['Backups', 'A verified copy of the database, daily and on demand.'],
  move: ['Move or restore', 'Everything as one file, for a new computer.'],
  members: [
    'People who answer',
    'They read conversations and send messages here with a password of their own, and can do nothing else.',
  ],
  sites: ['Sites', 'Lines in groups, such as shops. Names, notes and tags are shared.'],
  alerts: ['Alerts', 'Who is called if something breaks.'],
  security: ['Security', 'Password, two-step sign-in and sessions.'],
  health: ['Health', 'A heartbeat for your monitoring service, and where problems are shown.'],
  updates: ['Updates', 'The version of Hookline, and newer ones.'],
  about: ['About', 'Version and location.'],
} as const

const MOMENT = formatter({ dateStyle: 'medium', timeStyle: 'short' })

/** "Nov 21, 2026, 10:00 AM". */
export const momentWords = (iso: string) => MOMENT().format(Date.parse(iso))
