import type { Backup, Setting } from '../../api/owner.ts'
import { formatter } from '../time-words.ts'
import { countWords } from './common.ts'

export const SETTINGS = {
  title: 'Settings',
  keys: 'API keys',
  activity: 'Activity and log',
  lead: 'Changes are saved automatically.',
  saved: 'Saved.',
  on: 'On',
  off: 'Off',
  lockedBy: 'Set by',
  lockedHow: '. Change it there, and restart the relay.',
  general: ['General', 'Appearance in this browser, and the time zone.'],
  theme: 'Theme',
  themes: { system: 'System', light: 'Light', dark: 'Dark' },
  useTimeZone: (zone: string) => `Use this browser's: ${zone}`,
  network: ['Network', 'How the relay is reached, and what it may call.'],
  address: 'Address',
  publicUrl: 'Public URL',
  trustedProxies: 'Trusted proxies',
  none: 'None',
  targetsAny: 'Any address, including private networks',
  targetsPublic: 'Public addresses only',
  messages: ['Messages', 'Webhook events, human takeover, and retention.'],
  optOuts: [
    { value: 'enforce', text: 'Record it, and block messages to them' },
    { value: 'record', text: 'Only record it' },
    { value: 'off', text: 'Do nothing' },
  ],
  forever: 'Forever',
  delete: 'Delete',
  deleteMessages: 'Delete old messages?',
  deletesMessages: (days: number) =>
    `Messages older than ${countWords(days, 'day')} will be deleted within an hour, and others once they are as old. Existing backups still contain them.`,
  attachments: ['Attachments', 'Size, storage, and retention of files.'],
  asMessages: 'As long as messages',
  deleteFiles: 'Delete old files?',
  deletesFiles: (days: number) =>
    `Files older than ${countWords(days, 'day')} will be deleted, and others once they are as old.`,
  security: ['Security', 'Password and sessions.'],
  sessions: (count: number) => countWords(count, 'active session'),
  thisBrowser: 'This browser',
  anotherBrowser: 'Another browser',
  signedIn: 'Signed in ',
  lastSeen: ', last seen ',
  signOut: 'Sign out this browser',
  signOutEverywhere: 'Sign out everywhere',
  passwordLockedBefore: 'Set by ',
  passwordLockedAfter: ' or its file. Change it there, and restart the relay.',
  passwordHint: 'Changing your password signs out all other browsers.',
  changePassword: 'Change password',
  health: ['Health', 'A heartbeat for your monitoring service, and where problems are shown.'],
  heartbeatCalled: (url: string) => `Called every 5 minutes: ${url}. Keys in it are hidden.`,
  removeUrl: 'Remove URL',
  home: 'Home',
  homeAfter:
    " shows what's wrong and how to fix it. You can also run this on the computer itself, even when the relay isn't running:",
  command: 'Command',
  commands: 'Commands',
  updates: ['Updates', 'The version of Hookline, and newer ones.'],
  version: 'Version',
  checkNow: 'Check for updates',
  upToDate: 'This is the newest version there.',
  available: (version: string) => `Hookline ${version} is available`,
  notChecked: "The release source couldn't be checked",
  about: ['About', 'Version and location.'],
  dataDirectory: 'Data directory',
  guide: 'Guide',
  documentation: 'API documentation',
  license: 'License',
  backups: ['Backups', 'A verified copy of the database, daily and on demand.'],
  backUpNow: 'Back up now',
  backedUp: 'Backup created.',
  noBackups: 'No backups yet. The first one is created within a day.',
  created: 'Created',
  type: 'Type',
  size: 'Size',
  download: 'Download',
  ofBackup: (moment: string) => ` backup of ${moment}`,
  secondFolderBefore: 'To store daily backups in a second folder, ideally on another disk, set ',
  storedIn: 'Daily backups are also stored in ',
  howToRestore: 'How to restore on the command line',
  howToRestoreWords:
    "On the computer that runs Hookline, run these commands with the file's name in place of FILE. Nothing is sent as a result: messages that were queued then are marked uncertain.",
  moving: ['Move or restore', 'Everything as one file, for a new computer.'],
  everything:
    'One file with messages, attachments, contacts, keys, webhooks and their secrets. Anyone who has it can read everything: keep it safe.',
  downloadEverything: 'Download everything',
  restoreFrom: 'Restore from a file…',
  checkingTitle: 'Uploading the backup',
  checking: 'Everything in it is checked before anything changes.',
  foundTitle: 'Restore this backup?',
  restore: 'Restore',
  foundFile: 'File',
  foundVersion: 'Written by',
  hookline: (version: string) => `Hookline ${version}`,
  unknown: 'Unknown',
  foundLatest: 'Latest message',
  foundCounts: 'Contents',
  counted: ({
    messages,
    conversations,
    contacts,
    phone_lines,
    webhooks,
    keys,
    attachments,
  }: Counts) =>
    [
      countWords(messages, 'message'),
      countWords(conversations, 'conversation'),
      countWords(contacts, 'contact'),
      countWords(attachments, 'file'),
      countWords(phone_lines, 'line'),
      countWords(webhooks, 'webhook'),
      countWords(keys, 'key'),
    ].join(', '),
  missing: (count: number) =>
    `${countWords(count, 'file')} of attachments aren't in it, and will be missing.`,
  noSecretKey:
    "It doesn't include the secret key: a backup of another computer can't read its webhook secrets here.",
  replaces:
    'This replaces all data of this relay. The current data is kept in a folder beside it. Messages that were queued in the backup are marked uncertain, and nothing is sent.',
  signsOut:
    "You then sign in again. For another relay's backup, use the password from that backup.",
  restoringTitle: 'Restoring…',
  restoring: 'The relay restarts with the backup. This page continues by itself.',
  restored: 'Backup restored. Sign in again.',
  notRestored: 'The backup was not restored. The previous data is still in place.',
} as const

/** The label of a setting by its name, and the hint below its field. */
export const FIELDS = {
  time_zone: 'Time zone',
  time_zone_hint: 'The days of limits and figures begin at midnight there.',
  webhook_targets: 'Webhook destinations',
  webhook_targets_hint:
    'Apps on your own network, such as n8n or Home Assistant, have private addresses.',
  open_metrics: 'Public metrics',
  open_metrics_hint:
    'When off, only this computer and keys that may read the health of all lines can read /metrics.',
  announce_device_messages: 'Include messages sent from the device',
  announce_device_messages_hint: 'Webhooks also fire for these.',
  enforce_automation_pause: 'Block API sends during human takeover',
  enforce_automation_pause_hint: 'If off, apps only see the flag.',
  opt_out: 'When someone texts STOP',
  opt_out_hint:
    'Also UNSUBSCRIBE and the like, in English, German, Spanish and French. See People.',
  message_retention_days: 'Keep messages for (days)',
  message_retention_days_hint: 'Older messages are deleted. Leave empty to keep forever.',
  attachment_max_mb: 'Largest file (MB)',
  attachment_max_mb_hint: 'Larger uploads are refused.',
  attachment_quota_gb: 'Storage for files (GB)',
  attachment_quota_gb_hint: "Once it's full, new files aren't kept.",
  attachment_retention_days: 'Keep files for (days)',
  attachment_retention_days_hint:
    'Older files are deleted; their messages stay. Leave empty to keep both as long.',
  heartbeat_url: 'Heartbeat URL',
  heartbeat_url_hint:
    'Called every 5 minutes while the relay works. It stops only if the relay, its computer or its network does, or if the disk is almost full: not for a line that is offline or a webhook that fails.',
  release_source: 'Release source',
  release_source_hint:
    'A folder on that computer or an https URL with SHA256SUMS and its signature. Checked once a day. Leave empty to turn this off.',
  backups_kept: 'Daily backups to keep',
  backups_kept_hint: 'From 1 to 365. Older ones are deleted.',
} as const

type Counts = Readonly<
  Record<
    'messages' | 'conversations' | 'contacts' | 'phone_lines' | 'webhooks' | 'keys' | 'attachments',
    number
  >
>

export function variableOf(name: Setting['name']): string {
  return `HOOKLINE_${name.toUpperCase()}`
}

export function backupKindWords({ kind }: Backup): string {
  return kind === 'daily' ? 'Regular' : 'Before an upgrade'
}

const MOMENT = formatter({ dateStyle: 'medium', timeStyle: 'short' })

/** "Nov 21, 2026, 10:00 AM". */
export const momentWords = (iso: string) => MOMENT().format(Date.parse(iso))
