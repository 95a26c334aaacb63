// The answers of the relay that the page shows.

import type { Conversation, Message, MessageList } from '../api/messages.ts'
import type { Shape } from '../api/schema.ts'
import type { Webhook } from '../api/webhooks.ts'

export type { Attachment, MessageAttachment } from '../api/attachments.ts'
export type {
  About,
  Attention,
  BrowserSession,
  Check,
  ContactCost,
  FindingBranch,
  InboxEntry,
  InboxRequest,
  KindInfo,
  LineChecks,
  MessageTimes,
  RelayState,
  SeenAttempt,
  SeenDelivery,
  SentRequest,
  SessionState,
  WebhookDay,
} from '../api/dashboard.ts'
export type { Box, InvitedBox } from '../api/boxes.ts'
export type { HealthFinding } from '../api/health.ts'
export type { Contact, ImportReport, OptOut, SearchResult } from '../api/contacts.ts'
export type { CreatedKey, Key, RevokedKey } from '../api/keys.ts'
export type { Conversation, Message } from '../api/messages.ts'
export type {
  Backup,
  InvitedMember,
  LogLine,
  Member,
  RecentLog,
  RestoreState,
  Setting,
  UpdateState,
  UploadedBackup,
} from '../api/owner.ts'
export type { AuditEntry } from '../api/audit.ts'
export type { PhoneLine } from '../api/phone-lines.ts'
export type {
  DayStats,
  HomePictures,
  LinePictures,
  WebhookPictures,
  WebhookStrip,
} from '../api/stats.ts'
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

export type Reaction = NonNullable<Message['reactions']>[number]
export type Person = NonNullable<Conversation['participants']>[number]
export type EventName = Webhook['events'][number]

export type Page<T> = Omit<Shape<typeof MessageList>, 'data'> & { readonly data: readonly T[] }
