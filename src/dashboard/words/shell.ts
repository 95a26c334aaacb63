// The names of the pages.

export const SHELL = {
  names: {
    home: 'Home',
    conversations: 'Conversations',
    people: 'People',
    lines: 'Lines',
    boxes: 'Boxes',
    messages: 'Messages',
    webhooks: 'Webhooks',
    connect: 'Connect',
    keys: 'Keys',
    night: 'Last night',
    activity: 'Activity',
    settings: 'Settings',
    setup: 'Setup',
  },
  unknown: 'Page not found',
} as const
