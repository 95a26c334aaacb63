import type { PhoneLine } from '../api/phone-lines.ts'
import { NO_CAPABILITIES } from '../domain/line.ts'
import { hintFor } from '../domain/not-relayed.ts'
import type { NotRelayedCount } from '../storage/intake-records.ts'
import { isoTime } from '../system/iso-time.ts'
import type { LineSnapshot } from './line-snapshot.ts'

type Counts = {
  readonly newContactsToday: number
  readonly notRelayed: readonly NotRelayedCount[]
}

export function phoneLineResource(
  { line, state }: LineSnapshot,
  { newContactsToday, notRelayed }: Counts,
): PhoneLine {
  const isOnline = state.status === 'online'
  return {
    id: line.id,
    phone_number: line.number,
    label: line.label,
    status: state.status,
    status_reason: isOnline ? null : state.reason.code,
    status_hint: isOnline ? null : state.reason.hint,
    imessage_active: isOnline && state.imessageActive,
    daily_contact_limit: line.dailyContactLimit,
    new_contacts_today: newContactsToday,
    is_enabled: line.isEnabled,
    relay_sms: line.relaySms,
    driver: line.driver,
    capabilities: isOnline ? state.capabilities : NO_CAPABILITIES,
    not_relayed: notRelayed.map((count) => ({
      kind: count.kind,
      count: count.count,
      since: isoTime(count.since),
      last_at: isoTime(count.lastAt),
      hint: hintFor(line, count.kind),
    })),
    created_at: isoTime(line.createdAt),
  }
}
