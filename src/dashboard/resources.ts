// The answers of the API that the page shows.

export type { HealthFinding } from '../api/health.ts'
export type { CreatedKey, Key, RevokedKey } from '../api/keys.ts'
export type { Conversation, DayStats, Message } from '../api/messages.ts'
export type { PhoneLine } from '../api/phone-lines.ts'
export type { Webhook } from '../api/webhooks.ts'
