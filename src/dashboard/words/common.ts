// Sentences of the parts that several views share.

import { grouped } from '../../domain/number-words.ts'

export const COMMON = {
  product: 'Hookline',
  cancel: 'Cancel',
  close: 'Close',
  delete: 'Delete',
  done: 'Done',
  password: 'Password',
  reload: 'Reload',
  tryAgain: 'Try again',
  copy: (what: string) => `Copy ${what.toLowerCase()}`,
  copied: (what: string) => `${what} copied.`,
  notCopied: (what: string) => `Couldn't copy the ${what.toLowerCase()}.`,
  deleted: 'Deleted.',
  deleteThing: (noun: string) => `Delete ${noun}…`,
  deleteThis: (noun: string) => `Delete this ${noun}?`,
  notFound: (noun: string) => `${noun} not found`,
  all: (page: string) => `All ${page}`,
  showLess: 'Show less',
  showAll: (characters: number) => `Show all ${grouped(characters)} characters`,
  notLoaded: "This page couldn't be loaded",
  whyNotLoaded: "The relay was upgraded, or it can't be reached.",
  notStored: "Your browser isn't saving data for this page",
  whyNotStored:
    'You may be in a private window, or a setting blocks storage. You can sign in, but only in this tab, and again after every reload.',
} as const
