// The finding that an alert reached nobody.

import type { Finding } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { countWords } from '../domain/number-words.ts'
import { DAY_MS, QUARTER_MS } from '../domain/time.ts'
import {
  EVERYBODY,
  listAlerts,
  listChannels,
  noticesSince,
  type AlertRow,
  type NoticeRow,
} from '../storage/alerts.ts'
import type { Core } from '../storage/core.ts'
import { noticesOf } from './notices.ts'
import { channelName } from './resource.ts'

/** Only the newest alerts and notices are checked. */
const ALERTS_MAX = 100
const NOTICES_MAX = 1_000
const NAMED_MAX = 3

/**
 * Alerts of the last two days that no channel could deliver. An alert about this finding isn't among them, because it
 * would keep itself alive.
 */
export function undeliveredFindings({ db, clock }: Core): readonly Finding[] {
  const channels = listChannels(db)
  if (channels.length === 0) return []
  const all = { before: null, reader: EVERYBODY }
  const recent = listAlerts(db, all, ALERTS_MAX).filter(
    ({ cause, raisedAt }) =>
      cause !== 'alerts_not_delivered' && raisedAt !== null && isRecent(clock.ageOf(raisedAt)),
  )
  if (recent.length === 0) return []
  const since = timestamp(Math.min(...recent.map(({ raisedAt, since }) => raisedAt ?? since)))
  const notices = noticesSince(db, since, NOTICES_MAX)
  const lost = recent.filter(({ id }) => isLost(noticesOf(id, notices)))
  const [first] = lost
  if (first === undefined) return []
  const nameOf = (id: string) => {
    const channel = channels.find((one) => one.id === id)
    return channel === undefined ? 'a removed channel' : channelName(channel)
  }
  return [
    {
      code: 'alerts_not_delivered',
      severity: 'error',
      title: `${countWords(lost.length, 'alert')} reached nobody`,
      why: `${titlesOf(lost)} ${triesOf(noticesOf(first.id, notices), nameOf)}`,
      fix: 'Add a second channel that does not depend on a line, such as ntfy: hookline alerts add URL. Then try it: hookline alerts test',
      key: null,
      depends_on: null,
    },
  ]
}

function isRecent(ageMs: number): boolean {
  return ageMs >= QUARTER_MS && ageMs < 2 * DAY_MS
}

/** True if every notice failed or waits because of an error. */
function isLost(notices: readonly NoticeRow[]): boolean {
  return notices.length > 0 && notices.every(({ status, error }) => status !== 'done' && error)
}

function titlesOf(lost: readonly AlertRow[]): string {
  const named = lost.slice(0, NAMED_MAX).map(({ title }) => title)
  return `${named.join('; ')}${lost.length > named.length ? '; …' : '.'}`
}

/** The result of each try: "My phone: no_line." */
function triesOf(notices: readonly NoticeRow[], nameOf: (id: string) => string): string {
  const newest = new Map(notices.toReversed().map((notice) => [notice.channelId, notice]))
  return [...newest].map(([id, { error }]) => `${nameOf(id)}: ${error}.`).join(' ')
}
