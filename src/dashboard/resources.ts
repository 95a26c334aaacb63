// The answers of the relay, typed by its schemas.

import type { Static } from 'typebox'

import type * as schemas from '../http/schemas.ts'
import type { Stats } from '../http/stats-schemas.ts'
import type * as webhookSchemas from '../http/webhook-schemas.ts'

export type PhoneLine = Static<typeof schemas.PhoneLine>
export type Message = Static<typeof schemas.Message>
export type Conversation = Static<typeof schemas.Conversation>
export type DayStats = Static<typeof Stats>['data'][number]
export type HealthFinding = Static<typeof schemas.HealthFindings>['data'][number]
export type Key = Static<typeof schemas.KeyList>['data'][number]
export type CreatedKey = Static<typeof schemas.CreatedKey>
export type RevokedKey = Static<typeof schemas.RevokedKey>
export type Webhook = Static<typeof webhookSchemas.Webhook>
export type CreatedWebhook = Static<typeof webhookSchemas.CreatedWebhook>
export type RotatedSecret = Static<typeof webhookSchemas.RotatedSecret>
export type RetryAnswer = Static<typeof webhookSchemas.RetryAnswer>
export type ReplayAnswer = Static<typeof webhookSchemas.ReplayAnswer>
export type ReplayState = Static<typeof webhookSchemas.ReplayState>
export type StoppedReplay = Static<typeof webhookSchemas.StoppedReplay>
export type Delivery = Static<typeof webhookSchemas.Delivery>

export type SettingName =
  | 'webhook_targets'
  | 'announce_device_messages'
  | 'enforce_automation_pause'
  | 'open_metrics'
  | 'message_retention_days'
  | 'backups_kept'
  | 'heartbeat_url'

export type Setting = {
  readonly name: SettingName
  readonly value: string
  readonly is_locked: boolean
}

export type Backup = {
  readonly name: string
  readonly kind: 'daily' | 'before_migration'
  readonly created_at: string
  readonly size_bytes: number
}

export type About = {
  readonly version: string
  readonly data_directory: string
  readonly address: string
  readonly public_url: string | null
  readonly trusted_proxies: readonly string[]
  readonly backup_folder: string | null
  readonly is_password_locked: boolean
  readonly drivers: readonly string[]
}

export type BrowserSession = {
  readonly created_at: string
  readonly last_seen_at: string
  readonly is_current: boolean
}

export type FindingBranch = {
  readonly cause: HealthFinding
  readonly consequences: readonly HealthFinding[]
  readonly place: { readonly name: string; readonly href: string }
}

export type RelayState = {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  readonly lines: string
  readonly webhooks: string
  readonly findings: readonly FindingBranch[]
}

export type Check = {
  readonly state: 'ok' | 'info' | 'warn' | 'bad' | 'unknown'
  readonly title: string
  readonly why: string | null
  readonly fix: string | null
}

export type LineChecks = {
  /** Null for the Mac on which the relay runs. */
  readonly line_id: string | null
  readonly offline_since: string | null
  readonly summary: string
  readonly checks: readonly Check[]
}

export type ContactCost = {
  readonly before: string
  readonly name: string | null
  readonly after: string
}

export type Attempt = Static<typeof webhookSchemas.DeliveryWithAttempts>['attempts'][number] & {
  readonly hint: { readonly title: string; readonly advice: string } | null
  readonly duration: string
  readonly cause: string
}

export type SeenDelivery = Delivery & { readonly attempts: readonly Attempt[] }

export type WebhookDay = {
  readonly webhook_id: string
  readonly words: string
  readonly waiting: number
  readonly failing: SeenDelivery | null
  readonly stopped: string | null
}

export type SentRequest = {
  readonly headers: string
  readonly body: string | null
  readonly conversation_id: string | null
}
