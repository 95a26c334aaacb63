import { countWords, grouped } from './common.ts'

export const WEBHOOK_ISSUES = {
  title: (count: number) => `${countWords(count, 'webhook')} ${count === 1 ? 'is' : 'are'} failing`,
  list: 'Failing webhooks',
  since: 'first failed',
  waiting: (count: number) => `${grouped(count)} waiting`,
  open: 'Open',
  pause: 'Pause',
  paused: (name: string) => `${name} is paused.`,
  retry: 'Retry now',
  retrying: (name: string) => `Retrying ${name}.`,
} as const
