// Words that the address book and the contact form share.

export const PEOPLE = {
  add: 'Add contact',
  edit: 'Edit contact',
  optedOut: 'Opted out',
} as const
