// Sentences of the address book.

import { countWords, grouped } from './common.ts'

export const PEOPLE = {
  title: 'People',
  lead: 'Names for the people you write with. Only you see them; webhooks never carry them.',
  add: 'Add contact',
  edit: 'Edit contact',
  save: 'Save',
  saved: 'Saved.',
  handle: 'Number or email',
  name: 'Name',
  note: 'Note',
  tags: 'Tags',
  tagsHint: 'Separated by commas',
  remove: 'Delete contact…',
  removeThis: 'Delete this contact?',
  consequence: 'Conversations and messages stay.',
  search: 'Search by name, number or tag',
  none: 'No contacts yet',
  howToAdd: 'Add people one by one, or import a vCard or CSV file from your phone or mail program.',
  nothingFound: 'No results',
  tryOther: 'Try another name, tag or part of the number.',
  list: 'Contacts',
  open: 'Open',
  write: (name: string) => `Conversations with ${name}`,
  importFile: 'Import…',
  exportFile: 'Export (CSV)',
  importing: 'Importing contacts',
  uploading: 'Uploading the file',
  reading: 'Adding contacts…',
  imported: 'Import finished',
  report: (imported: number, updated: number, skipped: number) =>
    `${grouped(imported)} added, ${grouped(updated)} changed, ${grouped(skipped)} already there.`,
  failed: (count: number) => `${countWords(count, 'entry')} couldn't be imported:`,
  row: (row: number, why: string) => `Row ${grouped(row)}: ${why}`,
  moreRows: (count: number) => `and ${grouped(count)} more`,
} as const
