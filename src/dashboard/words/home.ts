// Sentences of Home.

export const HOME = {
  title: 'Home',
  lines: 'Lines',
  allLines: 'View all lines',
  newContactsToday: 'New contacts today',
  of: (value: string, limit: string) => `${value} of ${limit}`,
  noLine: 'No phone line yet',
  noLineHint: 'A line is a Mac or an iPhone that sends and receives for the relay.',
  seeMissing: "See what's missing",
  send: 'Send a message',
  latest: 'Latest messages',
  allMessages: 'View all messages',
  noMessages: 'No messages yet',
  noMessagesHint: 'Send one from here, or text one of your lines from a phone.',
  from: 'Incoming from',
  to: 'Outgoing to',
} as const
