// Lists for the assertions of a test, which wait until there is enough.

import { Type, type TObject } from 'typebox'

import { objectSchema } from '../api/schema.ts'
import { EventName } from '../api/webhooks.ts'
import { invalidRequest } from '../domain/errors.ts'
import { contextOf } from '../http/request-context.ts'
import { systemClock } from '../system/clock.ts'
import { durationIn } from './durations.ts'
import { fits, issuesOfPattern } from './people-file.ts'

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

const Missing = objectSchema('FakeTimeout', {
  code: Type.Literal('timeout'),
  message: Type.String(),
})

/** The answers of a list that waits. */
export function listsOf<T extends TObject>(title: string, item: T) {
  const data = Type.Array(item)
  return {
    200: objectSchema(title, { data }),
    408: objectSchema(`${title}SoFar`, { error: Missing, data }),
  }
}

const WAIT_MS_MAX = 60_000
const LOOK_EVERY_MS = 20

type ListInput = {
  readonly request: Request
  readonly set: { status?: number | string }
  readonly query: Readonly<Partial<Record<'contains' | 'matches' | 'wait', string>>> & {
    readonly count?: number
  }
}

/**
 * Looks until enough of what it finds has the text that was asked for, or the time is over: then it answers 408 with
 * what there is. The time is real, even if the relay's clock stands still.
 */
export async function awaited<T>(
  { request, set, query }: ListInput,
  {
    find,
    textOf,
    isFrozen,
  }: { find: () => readonly T[]; textOf: (one: T) => string; isFrozen: boolean },
) {
  const { count = query.wait === undefined ? 0 : 1 } = query
  const waitMs = waitMsIn(query)
  contextOf(request).peer.liftTimeout(0)
  const until = systemClock.monotonic() + waitMs
  const look = () => find().filter((one) => fits(query, textOf(one)))
  let data = look()
  while (data.length < count && systemClock.monotonic() < until && !request.signal.aborted) {
    await systemClock.sleep(LOOK_EVERY_MS, request.signal)
    data = look()
  }
  if (data.length >= count) return { data }
  set.status = 408
  const message =
    `There ${data.length === 1 ? 'is' : 'are'} ${data.length} of ${count} wanted.` +
    (isFrozen ? ' The clock stands still: what is due later happens when you move it.' : '')
  return { error: { code: 'timeout' as const, message }, data }
}

/** The time to wait. Throws `invalid_request` if the query makes no sense. */
function waitMsIn({ wait = '0', matches = '' }: ListInput['query']): number {
  const issues = issuesOfPattern(matches, 'matches')
  const waitMs = durationIn('wait', wait)
  const isIn = waitMs >= 0 && waitMs <= WAIT_MS_MAX
  if (!isIn) issues.push({ path: 'wait', message: 'must be 60s at most' })
  if (issues.length > 0) throw invalidRequest(...issues)
  return waitMs
}
