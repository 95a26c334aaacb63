// What the API answers about webhooks, with all its fields.

import type { SeenDelivery, Webhook } from '../../src/dashboard/resources.ts'

const TIME = '2026-11-21T10:00:00.000Z'

export function webhook(told: Partial<Webhook> = {}): Webhook {
  return {
    id: 'wh_1',
    url: 'https://shop.example.com/hook',
    events: ['message.received'],
    is_active: true,
    description: null,
    disabled_reason: null,
    created_by: 'dashboard',
    created_at: TIME,
    updated_at: TIME,
    ...told,
  }
}

export function delivery(told: Partial<SeenDelivery> = {}): SeenDelivery {
  return {
    id: 'dlv_1',
    webhook_id: 'wh_1',
    event_id: 'evt_1',
    event: 'message.received',
    message_id: 'msg_1',
    status: 'pending',
    attempt_count: 0,
    next_attempt_at: TIME,
    created_at: TIME,
    completed_at: null,
    attempts: [],
    ...told,
  }
}
