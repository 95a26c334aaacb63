// Routes of the API with their answers, for a typed client. `:id` stands for the id in a path.

import type { Attachment } from './attachments.ts'
import type { AuditEntry } from './audit.ts'
import type { Box, BoxReport, BrokerUsersBlock, InvitedBox, Rollout } from './boxes.ts'
import type { Bridge, BridgeToken, CreatedBridge } from './bridges.ts'
import type {
  Contact,
  DeletedContact,
  DeletedOptOut,
  ImportReport,
  OptOut,
  SearchResult,
} from './contacts.ts'
import type { EventList } from './events.ts'
import type { HealthFinding } from './health.ts'
import type { CreatedKey, Key, KeySelf, RevokedKey } from './keys.ts'
import type { Conversation, Message } from './messages.ts'
import type {
  InvitedMember,
  MadeBackup,
  Member,
  OptionRow,
  Phone,
  RecentLog,
  ScriptCall,
  Setting,
  SetupLink,
  UpdateState,
} from './owner.ts'
import type { Page } from './paging.ts'
import type { PhoneLine } from './phone-lines.ts'
import type { Deleted } from './schema.ts'
import type { DayStats } from './stats.ts'
import type {
  CreatedWebhook,
  Delivery,
  ReplayAnswer,
  RetryAnswer,
  RotatedSecret,
  StoppedReplay,
  Webhook,
} from './webhooks.ts'

type All<T> = { readonly data: readonly T[] }

export type Answers = {
  'GET /about': { readonly version: string; readonly is_claimed: boolean }
  'POST /attachments': Attachment
  'GET /attachments/:id': Attachment
  'GET /audit': Page<AuditEntry>
  'POST /backup': MadeBackup
  /** On the control socket of a box only. */
  'GET /box': BoxReport
  'GET /boxes': All<Box>
  'POST /boxes': InvitedBox
  'PATCH /boxes/:id': Box
  'DELETE /boxes/:id': Deleted
  /** On the control socket only. */
  'GET /rollout': { readonly rollout: Rollout | null }
  'POST /rollout': Rollout
  'POST /rollout/resume': Rollout
  'DELETE /rollout': Rollout
  'GET /broker-users': BrokerUsersBlock
  'GET /bridges': Page<Bridge>
  'POST /bridges': CreatedBridge
  'POST /bridges/:id/token': BridgeToken
  'DELETE /bridges/:id': Deleted
  'GET /contacts': Page<Contact>
  'GET /contacts/:id': Contact
  'PUT /contacts/:id': Contact
  'DELETE /contacts/:id': DeletedContact
  'POST /contacts/import': ImportReport
  'GET /conversations': Page<Conversation>
  'GET /conversations/:id': Conversation
  'POST /conversations/:id/messages': Message
  'PATCH /conversations/:id': Conversation
  'POST /conversations/:id/separate': Conversation
  'GET /events': EventList
  'GET /health': All<HealthFinding>
  'POST /judgement': { readonly version: string }
  'GET /keys': Page<Key>
  'POST /keys': CreatedKey
  'GET /keys/self': KeySelf
  'DELETE /keys/:id': RevokedKey
  'GET /log': RecentLog
  'GET /members': All<Member>
  'POST /members': InvitedMember
  'POST /members/:id/link': InvitedMember
  'DELETE /members/:id': Deleted
  'GET /messages': Page<Message>
  'GET /opt-outs': Page<OptOut>
  'PUT /opt-outs/:id': OptOut
  'DELETE /opt-outs/:id': DeletedOptOut
  'GET /messages/:id': Message
  'POST /messages/send': Message
  'DELETE /messages/:id': Message
  'POST /messages/:id/approve': Message
  'POST /messages/:id/deny': Message
  'POST /messages/:id/resolve': Message
  'GET /options': All<OptionRow>
  'GET /phone-lines': Page<PhoneLine>
  'PATCH /phone-lines/:id': PhoneLine
  'POST /phone-lines/:id/adopt': PhoneLine
  'POST /phone-lines/:id/move': PhoneLine
  'GET /phones': All<Phone>
  'GET /script-calls': All<ScriptCall>
  'GET /search': SearchResult
  'GET /settings': All<Setting>
  'PUT /settings/:id': Setting
  'POST /setup-link': SetupLink
  'POST /update-check': UpdateState
  'POST /webhook-deliveries/:id/redeliver': Delivery
  'GET /stats': All<DayStats>
  'GET /webhooks': Page<Webhook>
  'POST /webhooks': CreatedWebhook
  'GET /webhooks/:id': Webhook
  'PUT /webhooks/:id': Webhook
  'DELETE /webhooks/:id': Deleted
  'GET /webhooks/:id/deliveries': Page<Delivery>
  'POST /webhooks/:id/replay': ReplayAnswer
  'DELETE /webhooks/:id/replay': StoppedReplay
  'POST /webhooks/:id/retry-failed': RetryAnswer
  'POST /webhooks/:id/rotate-secret': RotatedSecret
  'POST /webhooks/:id/test': Delivery
}

export type Route = keyof Answers
