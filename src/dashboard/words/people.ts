// Sentences that the address book and the form of a contact share.

export const PEOPLE = {
  add: 'Add contact',
  edit: 'Edit contact',
  optedOut: 'Opted out',
} as const
