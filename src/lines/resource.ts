import { NO_CAPABILITIES, type Capabilities } from '../domain/line.ts'
import { hintFor, type NotRelayedKind } from '../domain/not-relayed.ts'
import type { NotRelayedCount } from '../storage/not-relayed.ts'
import { isoTime } from '../system/iso-time.ts'
import type { LiveLine } from './live-line.ts'

/** A phone line as the API tells it. */
export type PhoneLineResource = {
  readonly id: string
  readonly phone_number: string
  readonly label: string | null
  readonly status: 'online' | 'offline'
  readonly status_reason: string | null
  readonly status_hint: string | null
  readonly imessage_active: boolean
  readonly daily_contact_limit: number
  readonly new_contacts_today: number
  readonly is_enabled: boolean
  readonly relay_sms: boolean
  readonly driver: string
  readonly capabilities: Capabilities
  readonly not_relayed: readonly NotRelayedResource[]
  readonly created_at: string
}

/** What of one kind the line received and announced to nobody. */
export type NotRelayedResource = {
  readonly kind: NotRelayedKind
  readonly count: number
  readonly since: string
  readonly last_at: string
  readonly hint: string
}

type Counts = {
  readonly newContactsToday: number
  readonly notRelayed: readonly NotRelayedCount[]
}

export function phoneLineResource(
  { line, state }: LiveLine,
  { newContactsToday, notRelayed }: Counts,
): PhoneLineResource {
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
