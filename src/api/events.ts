// Events as they are read: the same that webhooks get.

import { Type } from 'typebox'

import { objectSchema, time, type Shape } from './schema.ts'
import { EventPayload, GroupUpdate, OptOutChange, UnplacedReaction } from './webhooks.ts'

const EVENT_ID = Type.String({
  description: 'The `webhook-id` of its deliveries.',
  example: 'evt_01k5c3qv7yfxn8t2w9r4d6m0ab',
})

const RecordedEvent = objectSchema('RecordedEvent', {
  id: EVENT_ID,
  created_at: time('When it was recorded.'),
  payload: Type.Union([EventPayload, UnplacedReaction, GroupUpdate, OptOutChange], {
    title: 'RecordedPayload',
    description: 'The body of its deliveries.',
  }),
})

export const EventList = objectSchema('EventList', {
  data: Type.Array(RecordedEvent),
  has_more: Type.Boolean({ description: 'Whether more is recorded already.' }),
  next_cursor: Type.String({
    description: 'The `after` of the next call, also where there is no more yet.',
  }),
})
export type EventList = Shape<typeof EventList>
