import { countWords, grouped } from './common.ts'

export const WEBHOOK_ISSUES = {
  title: (count: number) => `Events don't reach ${countWords(count, 'webhook')}`,
  list: "Webhooks that events don't reach",
  since: 'first failed',
  waiting: (count: number) => `${grouped(count)} waiting`,
  open: 'Open',
  retry: 'Retry now',
  retrying: (name: string) => `Retrying ${name}.`,
} as const
