// What happened, newest first, and a sentence about all of it.

import { Type } from 'typebox'

import { AUDIT_ACTIONS } from '../domain/audit.ts'
import { MARK_KINDS } from '../domain/timeline.ts'
import { enumOf, id, listOf, nullable, objectSchema, text, time, type Shape } from './schema.ts'

const KINDS = [
  'line.off',
  'relay.started',
  'messages.unsent',
  ...MARK_KINDS,
  'change',
  'entries.deleted',
] as const

export const TimelineEntry = objectSchema('TimelineEntry', {
  id: text('The same for the same entry in every answer.', 'line.off-1795774320000-1'),
  kind: enumOf('TimelineKind', KINDS),
  at: time('When it began. A count begins with its hour.'),
  until: nullable(time('When it ended; null for a moment, and for what goes on.')),
  text: text('A sentence with names.', 'Front desk was off for 4 minutes: The device is asleep.'),
  phone_line_id: nullable(id('line', 'The line that it is about.')),
  webhook_id: nullable(id('wh', 'The webhook that it is about.')),
  message_id: nullable(id('msg', 'The message that a `change` is about.')),
  handle: nullable(text('The person that it is about.')),
  reason: nullable(text('Why a line was off, or a webhook was turned off; a code.')),
  action: nullable(enumOf('TimelineAction', AUDIT_ACTIONS, 'Of a `change`: see `GET /audit`.')),
  counts: nullable(
    objectSchema('TimelineCounts', {
      failed: Type.Integer(),
      expired: Type.Integer(),
      uncertain: Type.Integer({ description: 'Messages that became uncertain.' }),
      confirmed: Type.Integer({
        description: 'Failed or uncertain ones that were sent after all.',
      }),
    }),
  ),
})
export type TimelineEntry = Shape<typeof TimelineEntry>

const count = (description: string) => nullable(Type.Integer({ minimum: 0, description }))

const TimelineSummary = objectSchema(
  'TimelineSummary',
  {
    text: text('One sentence.', 'Quiet night: 31 messages received, 3 to answer.'),
    is_quiet: Type.Boolean({ description: 'True if nothing in it needs a look.' }),
    lines_off: count('Lines that were off for some time.'),
    off_seconds: count('How long they were off, added up.'),
    received: count('By the quarter hours that overlap the range.'),
    sent: count('By the quarter hours that overlap the range.'),
    failed: count('By the hours that overlap the range, like the next two.'),
    expired: count('Messages that expired.'),
    uncertain: count('Messages that became uncertain.'),
    to_answer: count('Conversations that wait for an answer now; 1,000 stands for more.'),
    webhooks_failing: count('Webhooks that fail now.'),
  },
  'A number is null if the caller may not read it.',
)
export type TimelineSummary = Shape<typeof TimelineSummary>

export const Timeline = objectSchema('Timeline', {
  ...listOf('TimelinePage', TimelineEntry).properties,
  since: time('Start of the range.'),
  until: time('End of the range.'),
  time_zone: text('The zone of times in sentences.', 'Europe/Berlin'),
  summary: nullable({
    ...TimelineSummary,
    description: 'On the first page of a range of at most 7 days; null otherwise.',
  }),
})
export type Timeline = Shape<typeof Timeline>
