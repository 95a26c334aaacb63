import type { HealthFinding } from '../../src/api/health.ts'

const TIME = '2026-11-21T10:00:00.000Z'

export const LINE = {
  id: 'line_01k5c3qv7yfxn8t2w9r4d6m0ab',
  phone_number: '+12025550101',
  label: null,
  status: 'online',
  imessage_active: true,
  daily_contact_limit: 50,
  driver: 'simulated',
  status_reason: null,
  status_hint: null,
  new_contacts_today: 0,
  is_enabled: true,
  relay_sms: false,
  capabilities: {
    new_contacts: true,
    choose_service: false,
    delivered: true,
    read: true,
    guid: true,
    attachments: false,
  },
  created_at: TIME,
} as const

export const WEBHOOK = {
  id: 'wh_01k5c3qv7yfxn8t2w9r4d6m0ab',
  url: 'https://shop.example.com/hooks',
  events: ['message.received'],
  is_active: true,
  description: null,
  disabled_reason: null,
  created_by: 'key_01k5c3qv7yfxn8t2w9r4d6m0ab',
  created_at: TIME,
  updated_at: TIME,
} as const

export const DELIVERY = {
  id: 'dlv_01k5c3qv7yfxn8t2w9r4d6m0ab',
  webhook_id: WEBHOOK.id,
  event_id: 'evt_01k5c3qv7yfxn8t2w9r4d6m0ab',
  event: 'message.received',
  message_id: 'msg_01k5c3qv7yfxn8t2w9r4d6m0ab',
  status: 'pending',
  attempt_count: 0,
  next_attempt_at: TIME,
  created_at: TIME,
  completed_at: null,
} as const

/** A finding of the health catalogue, with all its fields. */
export function finding(told: Partial<HealthFinding> & { readonly code: string }): HealthFinding {
  return {
    severity: 'warning',
    title: `About ${told.code}`,
    why: 'Why.',
    fix: 'Fix.',
    line_id: null,
    about: aboutOf(told.line_id ?? null),
    since: TIME,
    depends_on: null,
    ...told,
  }
}

function aboutOf(lineId: string | null): HealthFinding['about'] {
  return lineId === null ? { kind: 'relay', id: null } : { kind: 'line', id: lineId }
}
