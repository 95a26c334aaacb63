export const MEMBERS = {
  section: [
    'People who answer',
    'They read conversations and send messages here with a password of their own, and can do nothing else.',
  ],
  none: 'Only you can sign in.',
  add: 'Add person',
  name: 'Name',
  nameHint: 'They sign in with it, and their messages show it.',
  created: 'Send them this link',
  createdWords:
    'It works once, for three days. It lets them choose a password. Open it in their browser: in yours it would sign you out.',
  link: 'Link',
  onlyHere:
    'This link works on this computer only. The guide says how to open the relay to your network.',
  noPassword: 'No password yet',
  notSignedIn: 'Not signed in',
  lastSeen: 'Last seen ',
  newLink: 'New link',
  linkOf: (name: string) => ` for ${name}`,
  remove: 'Remove…',
  removeTitle: 'Remove this person?',
  removeConfirm: 'Remove',
  removeWords: (name: string) =>
    `\u2068${name}\u2069 is signed out at once and can't sign in again. Messages they sent stay.`,
  removed: 'Removed.',
} as const
