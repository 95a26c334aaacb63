import type { HealthFinding, NewSnooze } from '../api/health.ts'
import { TIME_WANTED } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { SNOOZE_DAYS_MAX } from '../domain/finding.ts'
import type { Timestamp } from '../domain/ids.ts'
import { countWords } from '../domain/number-words.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import { saveSnooze } from '../storage/snoozes.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'
import type { Signal } from '../system/signal.ts'
import { type HealthCatalogue, findingName } from './catalogue.ts'

/** Snoozes a finding, or ends its snooze; returns the finding as it is listed from now on. */
export type SetSnooze = (wanted: NewSnooze, origin: Origin) => Promise<HealthFinding>

/** The returned function throws if there is no such finding now, or if the time is too far away. */
export function createSnoozes(
  { writer, ids, audit }: Core,
  given: { readonly health: Pick<HealthCatalogue, 'list'>; readonly healthSignal: Signal },
): SetSnooze {
  const { health, healthSignal } = given
  return async ({ code, about, until }, origin) => {
    const name = findingName(code, about)
    const listed = async () =>
      (await health.list()).find((each) => findingName(each.code, each.about) === name)
    const found = await listed()
    if (found === undefined) {
      throw new RelayError('not_found', 'There is no such finding. It may have been resolved.')
    }
    await writer.write((tx) => {
      const now = ids.now()
      const end = until === null ? now : endOf(until, found, now)
      saveSnooze(tx, { finding: name, severity: found.severity, until: end }, now)
      audit.record(tx, origin, {
        action: 'finding.snoozed',
        about: { kind: 'finding', id: name.trim() },
        before: { until: found.snoozed_until ?? null },
        after: { until: until === null ? null : isoTime(end) },
      })
    })
    healthSignal.notify()
    return (await listed()) ?? found
  }
}

function endOf(text: string, { severity }: HealthFinding, now: Timestamp): Timestamp {
  const end = parseIsoTime(text)
  const days = SNOOZE_DAYS_MAX[severity]
  if (end === null) throw invalidRequest({ path: 'until', message: TIME_WANTED })
  if (end > now && end <= now + days * DAY_MS) return end
  const message = `must be in the future, and for this finding within ${countWords(days, 'day')}`
  throw invalidRequest({ path: 'until', message })
}
