// Sentences of the forms that send, with their files, and names of groups: Home has them, too.

import { grouped } from './common.ts'

export const GROUP = {
  unnamed: 'Group',
  of: (people: readonly string[], more: number) =>
    more === 0 ? people.join(', ') : `${people.join(', ')} and ${grouped(more)} more`,
} as const

export const FILES = {
  attach: 'Attach files',
  attachments: 'Attachments',
  tooMany: (most: number) => `A message can have ${grouped(most)} attachments at most.`,
  uploading: (name: string) => `Uploading ${name}`,
  remove: (name: string) => `Remove ${name}`,
  open: 'Open',
  openNamed: (name: string) => `Open ${name}`,
  loading: 'Loading…',
  download: 'Download',
} as const

export const SEND = {
  to: 'To',
  toHint: 'Name, number or email',
  understood: (number: string) => `→ ${number}`,
  notUnderstood:
    'Enter a number with its country code, such as +1 202 555 0123, the name of a contact, or an email address.',
  refused: (sentence: string) => sentence.replace(/^to /, 'This '),
  line: 'Line',
  automatic: 'Automatic (usual or least used line)',
  text: 'Text',
  send: 'Send',
  message: 'Message',
  messageTo: (name: string) => `Message to ${name}`,
  willWait: 'Line offline, message will wait',
  later: 'Send later',
  now: 'Send now instead',
  at: 'Send at',
  schedule: 'Schedule',
} as const
