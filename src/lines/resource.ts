import { NO_CAPABILITIES, type Capabilities, type DriverKind } from '../domain/line.ts'
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
  readonly driver: DriverKind
  readonly capabilities: Capabilities
  readonly created_at: string
}

export function phoneLineResource(
  { line, state }: LiveLine,
  newContactsToday: number,
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
    created_at: isoTime(line.createdAt),
  }
}
