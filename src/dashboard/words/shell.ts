// Sentences of the frame around all pages.

import { countWords } from './common.ts'

export const SHELL = {
  pages: 'Pages',
  names: {
    home: 'Home',
    conversations: 'Conversations',
    people: 'People',
    lines: 'Lines',
    boxes: 'Boxes',
    messages: 'Messages',
    webhooks: 'Webhooks',
    keys: 'Keys',
    activity: 'Activity',
    settings: 'Settings',
    setup: 'Setup',
  },
  /** For narrow screens. */
  shortNames: { conversations: 'Chats' } as Readonly<Record<string, string>>,
  unread: (count: number) => `, ${countWords(count, 'unread conversation')}`,
  title: (page: string, unread: number) => (unread === 0 ? page : `(${unread}) ${page}`),
  search: 'Search',
  skip: 'Skip to main content',
  guide: 'Guide',
  documentation: 'API documentation',
  signOut: 'Sign out',
  version: (version: string) => `Version ${version}`,
  silent: "The relay isn't responding",
  whySilent: 'Check that the relay is running. This page retries automatically.',
  unknown: 'Page not found',
  unknownAddress: 'Nothing at this address',
  whyUnknown: 'Check the link for typos. It may also be from another version of Hookline.',
  toHome: 'Go to Home',
  dismiss: 'Dismiss',
  lost: 'Connection to the relay lost. This page may be out of date. Reconnecting…',
  upgraded: 'The relay was upgraded.',
} as const
