// The answers of the relay that the page shows.

import type { MessageList } from '../api/messages.ts'
import type { Shape } from '../api/schema.ts'

export type {
  About,
  BrowserSession,
  Check,
  ContactCost,
  FindingBranch,
  KindInfo,
  LineChecks,
  RelayState,
  SeenAttempt,
  SeenDelivery,
  SentRequest,
  SessionState,
  WebhookDay,
} from '../api/dashboard.ts'
export type { HealthFinding } from '../api/health.ts'
export type { CreatedKey, Key, RevokedKey } from '../api/keys.ts'
export type { Conversation, DayStats, Message } from '../api/messages.ts'
export type { Backup, Setting } from '../api/owner.ts'
export type { PhoneLine } from '../api/phone-lines.ts'
export type {
  CreatedWebhook,
  Delivery,
  ReplayAnswer,
  ReplayState,
  RetryAnswer,
  RotatedSecret,
  StoppedReplay,
  Webhook,
} from '../api/webhooks.ts'

/** The envelope of every list. */
export type Page<T> = Omit<Shape<typeof MessageList>, 'data'> & { readonly data: readonly T[] }
