// What the API answers, typed by its schemas.

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
