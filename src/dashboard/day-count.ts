// How many messages there were today. The API has no figure for that, so the ids of the day are
// counted: all of them once, and afterwards only what is new.

import { withQuery } from './address.ts'
import type { Api, List } from './api.ts'
import type { Clock } from './clock.ts'
import type { Answer } from './request.ts'
import type { Message } from './resources.ts'
import { isoTime } from './time-words.ts'

export type DayCount = {
  readonly count: number
  /** Whether there are more than are counted. */
  readonly isMore: boolean
}

type Tools = { readonly api: Pick<Api, 'get'>; readonly clock: Clock }

const PAGE = 200
const COUNTED_MAX = 1_000

/** Returns what counts, each time it is called, the day of the browser's time zone. */
export function createDayCount({ api, clock }: Tools) {
  const ids = new Set<string>()
  let day = 0
  /** Everything before is counted; the same millisecond may get another one. */
  let countedUntil = 0

  return async function count(signal: AbortSignal): Promise<Answer<DayCount>> {
    const today = clock.startOfDay(clock.time())
    if (today !== day) {
      ids.clear()
      day = today
      countedUntil = today
    }
    let cursor: string | null = null
    let newest = countedUntil
    do {
      if (ids.size >= COUNTED_MAX) break
      const created_after = isoTime(countedUntil - 1)
      const path = withQuery('messages', { created_after, limit: PAGE, cursor })
      const answer: Answer<List<Message>> = await api.get<List<Message>>(path, signal)
      if (!answer.ok) return answer
      for (const { id, created_at } of answer.value.data) {
        ids.add(id)
        newest = Math.max(newest, Date.parse(created_at))
      }
      cursor = answer.value.next_cursor
    } while (cursor !== null)
    countedUntil = newest
    return { ok: true, value: { count: Math.min(ids.size, COUNTED_MAX), isMore: cursor !== null } }
  }
}
