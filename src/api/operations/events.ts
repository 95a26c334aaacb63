import { Type } from 'typebox'

import { LATEST, OLDEST } from '../../domain/webhook.ts'
import { EventList } from '../events.ts'
import { READ, rows } from '../operation.ts'
import { PAGE_QUERY, textParameter } from '../query.ts'
import { id } from '../schema.ts'

const READS = {
  ...READ,
  callers: 'keys',
  tag: 'Events',
  scope: 'events:read',
  limits: ['lines', 'conversations'],
  errors: ['events_gone', 'rate_limit_exceeded'],
} as const

const CHOICE = {
  after: textParameter(
    `The id of the last event that you have, or a time: then what was recorded since. \`${OLDEST}\` reads all that is kept, \`${LATEST}\` what comes from now on.`,
    'evt_01k5c3qv7yfxn8t2w9r4d6m0ab',
  ),
  types: textParameter(
    'Only these events, separated by commas.',
    'message.received,message.failed',
  ),
  phone_line_id: Type.Optional(id('line', 'Events of this line.')),
  site_id: Type.Optional(id('site', 'Events of the lines of this site.')),
}

export const EVENTS = rows({
  listEvents: {
    ...READS,
    route: 'GET /events',
    summary: 'List events',
    description:
      'Oldest first, in the order in which they were recorded, for 30 days, whether a webhook wants them or not. ' +
      'Pass `next_cursor` as the `after` of the next call, and no event is missed.',
    query: Type.Object({ limit: PAGE_QUERY.limit, ...CHOICE }),
    headers: Type.Object({
      Prefer: textParameter(
        '`wait=N` waits up to N seconds (60 at most) for the first event.',
        'wait=30',
      ),
    }),
    answers: { 200: EventList },
  },
  streamEvents: {
    ...READS,
    route: 'GET /events/stream',
    summary: 'Stream events',
    description:
      'Server-sent events: `id` is the id of the event, `event` its name, `data` the body that webhooks get. ' +
      'Without `after` it begins now. A reader that reconnects with `Last-Event-ID` misses nothing, and may see ' +
      'the last event twice. A comment is sent every 15 seconds. A key has 10 readers at most, all keys 100.',
    query: Type.Object(CHOICE),
    headers: Type.Object({
      'Last-Event-ID': textParameter('As `after`, and before it: browsers send it by themselves.'),
    }),
    answers: {},
    fileAnswers: {
      200: {
        description: 'The events, as they are recorded.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
    },
  },
})
