// Sentences of what waits for the owner on Home.

import { countWords } from './common.ts'

export const ISSUES = {
  setup: 'Finish setting up',
  dismiss: 'Dismiss',
  continueSetup: 'Continue setup',
  nextStep: (title: string, step: number, of: number) => `Next: ${title}, step ${step} of ${of}.`,
  issues: 'Issues',
  severities: { error: 'Error', warning: 'Warning', info: 'Info' },
  learnMore: 'Learn more',
  alsoCaused: 'Also caused by this:',
  open: (place: string) => `Open ${place}`,
  snooze: 'Snooze…',
  snoozeNow: 'Snooze',
  snoozeTitle: 'Snooze this issue?',
  snoozeText: 'It stays hidden until then, unless it gets worse.',
  snoozeFor: 'Hide for',
  oneDay: '1 day',
  oneWeek: '1 week',
  untilDate: 'Until a date',
  date: 'Date',
  snoozed: (count: number) => countWords(count, 'snoozed issue'),
  snoozedUntil: (time: string) => `Snoozed until ${time}`,
  snoozeDone: 'Snoozed.',
  showAgain: 'Show now',
  attention: 'Messages to look at',
  attentionCounts: {
    approval: 'to approve',
    failed: 'failed',
    expired: 'expired',
    uncertain: 'uncertain',
    queued: 'waiting',
  },
  attentionHint:
    'Failed and expired messages from the last 7 days, and all that are uncertain or waiting.',
  many: (count: string) => `${count}+`,
} as const
