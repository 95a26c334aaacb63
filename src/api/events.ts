// Events as a client reads them. Webhooks get the same events.

import { Type } from 'typebox'

import { flag, id, objectSchema, time, text, type Shape } from './schema.ts'
import {
  AlertChange,
  EventPayload,
  GroupUpdate,
  OptOutChange,
  UnplacedReaction,
} from './webhooks.ts'

const RecordedEvent = objectSchema('RecordedEvent', {
  id: id('evt', 'The `webhook-id` of its deliveries.'),
  created_at: time('When it was recorded.'),
  payload: Type.Union([EventPayload, UnplacedReaction, GroupUpdate, OptOutChange, AlertChange], {
    title: 'RecordedPayload',
    description: 'The body of its deliveries.',
  }),
})

export const EventList = objectSchema('EventList', {
  data: Type.Array(RecordedEvent),
  has_more: flag('Whether more is recorded already.'),
  next_cursor: text('The `after` of the next call, even if there is no more yet.'),
})
export type EventList = Shape<typeof EventList>
