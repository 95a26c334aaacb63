// Messages on the phones of people, and calls to webhooks, for the assertions of a test.

import { Type } from 'typebox'

import { parsed } from '../api/client.ts'
import { enumOf, nullable, objectSchema, time, type Shape } from '../api/schema.ts'
import { EventName } from '../api/webhooks.ts'
import { invalidRequest } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import { REACTION_TYPES } from '../domain/message-extras.ts'
import { contextOf } from '../http/request-context.ts'
import type { PhoneMessage } from '../lines/kinds/simulated/phones.ts'
import { systemClock } from '../system/clock.ts'
import { isoTime } from '../system/iso-time.ts'
import type { WebhookCall } from './calls.ts'
import { issuesOfPattern } from './people-file.ts'

const word = (description: string) => Type.Optional(Type.String({ description }))

const SHARED_QUERY = {
  contains: word('Only those with this in their text. Case does not count.'),
  matches: word('Only those whose text this regular expression matches, with the flag i.'),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'How many there must be at least; 1 if there is a `wait`.',
    }),
  ),
  wait: word('How long to wait for them in real time, such as 5s; 60s at most.'),
}

export const OutboxQuery = Type.Object({
  to: word('Only those to this handle, or to the group with this identifier.'),
  line: word('Only those of this line, by its number or its id.'),
  ...SHARED_QUERY,
})

export const CallsQuery = Type.Object({
  url: word('Only calls of URLs with this in them.'),
  event: Type.Optional(EventName),
  ...SHARED_QUERY,
})

const File = objectSchema('OutboxFile', {
  filename: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer({ description: 'In bytes.' }),
  sha256: Type.String(),
})

const Reaction = objectSchema('OutboxReaction', {
  from: Type.String(),
  reaction: enumOf('OutboxReactionType', REACTION_TYPES),
  emoji: nullable(Type.String()),
})

export const OutboxMessage = objectSchema('OutboxMessage', {
  id: Type.String({ description: 'The id of the message in the API.' }),
  guid: Type.String({ description: 'Its `platform_guid`.' }),
  line: Type.String({ description: 'The number of the line that sent it.' }),
  to: Type.String({ description: 'The person, or the identifier of the group.' }),
  participants: Type.Array(Type.String(), { description: 'The members of the group, else empty.' }),
  text: Type.String({ description: 'As it reads now.' }),
  earlier_texts: Type.Array(Type.String(), { description: 'Before it was edited, oldest first.' }),
  is_unsent: Type.Boolean(),
  service: Type.String(),
  files: Type.Array(File),
  reactions: Type.Array(Reaction),
  state: enumOf(
    'OutboxState',
    ['sending', 'sent', 'delivered', 'read'],
    'On the network, whatever the relay knows of it. SMS and groups stay `sent`: they have no receipts.',
  ),
  sent_at: time('When it left.'),
  delivered_at: nullable(time('When it was on the phone.')),
  read_at: nullable(time('When the person read it.')),
})

export const FakeWebhookCall = objectSchema('FakeWebhookCall', {
  at: time('When it began.'),
  url: Type.String(),
  event: nullable(Type.String({ description: 'Null for posts that are no events.' })),
  event_id: nullable(
    Type.String({ description: 'The same in each repetition: ignore what you have seen.' }),
  ),
  attempt: Type.Integer({ description: 'Counts the calls of this URL with this event, from 1.' }),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String({ description: 'As it was signed.' }),
  json: Type.Unknown({ description: 'The body as JSON; its text if it is none.' }),
  status: nullable(Type.Integer({ description: "The receiver's answer." })),
  answer: nullable(Type.String({ description: 'The first KiB of its body.' })),
  error: nullable(Type.String({ description: 'Why there is no answer, such as timeout.' })),
})

const Missing = objectSchema('FakeTimeout', {
  code: Type.Literal('timeout'),
  message: Type.String(),
})

export const Outbox = objectSchema('Outbox', { data: Type.Array(OutboxMessage) })
export const OutboxSoFar = objectSchema('OutboxSoFar', { error: Missing, ...Outbox.properties })
export const CallList = objectSchema('FakeWebhookCalls', { data: Type.Array(FakeWebhookCall) })
export const CallsSoFar = objectSchema('FakeWebhookCallsSoFar', {
  error: Missing,
  ...CallList.properties,
})

export function outboxMessage(message: PhoneMessage): Shape<typeof OutboxMessage> {
  const { id, guid, line, to, text, service, acceptedAt, deliveredAt, readAt } = message
  return {
    id,
    guid,
    line,
    to,
    participants: [...(message.group?.participants ?? [])],
    text,
    earlier_texts: [...message.earlierTexts],
    is_unsent: message.isUnsent,
    service,
    files: message.files.map(({ filename, declaredType, size, sha256 }) => {
      return { filename, mime_type: declaredType, size, sha256 }
    }),
    reactions: message.reactions.map(({ handle, type, emoji }) => {
      return { from: handle, reaction: type, emoji }
    }),
    state: stateOf(acceptedAt, deliveredAt, readAt),
    sent_at: isoTime(timestamp(message.sentAt)),
    delivered_at: timeOrNull(deliveredAt),
    read_at: timeOrNull(readAt),
  }
}

function stateOf(acceptedAt: number | null, deliveredAt: number | null, readAt: number | null) {
  if (readAt !== null) return 'read'
  if (deliveredAt !== null) return 'delivered'
  return acceptedAt === null ? 'sending' : 'sent'
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(timestamp(at))
}

export function webhookCall({
  at,
  result,
  eventId,
  ...call
}: WebhookCall): Shape<typeof FakeWebhookCall> {
  const answered = result.result === 'answered' ? result : null
  const failed = result.result === 'failed' ? result.error : result.result
  return {
    ...call,
    at: isoTime(timestamp(at)),
    event_id: eventId,
    json: parsed(call.body),
    status: answered?.statusCode ?? null,
    answer: answered?.excerpt ?? null,
    error: answered === null ? failed : null,
  }
}

type Text = { readonly contains?: string | undefined; readonly matches?: string | undefined }

/** A condition for texts. Throws `invalid_request` for a pattern that is none. */
export function textFilter({ contains = '', matches = '' }: Text): (text: string) => boolean {
  const issues = issuesOfPattern(matches, 'matches')
  if (issues.length > 0) throw invalidRequest(...issues)
  const [pattern, part] = [new RegExp(matches, 'i'), contains.toLowerCase()]
  return (text) => text.toLowerCase().includes(part) && pattern.test(text)
}

const LOOK_EVERY_MS = 20

/** Looks until there are enough, or the time is over. The time is real, even if the relay's clock stands still. */
export async function awaitEnough<T>(
  request: Request,
  find: () => readonly T[],
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): Promise<readonly T[]> {
  contextOf(request).peer.liftTimeout(0)
  const until = systemClock.monotonic() + waitMs
  for (;;) {
    const data = find()
    const isOver = systemClock.monotonic() >= until || request.signal.aborted
    if (data.length >= count || isOver) return data
    await systemClock.sleep(LOOK_EVERY_MS, request.signal)
  }
}
