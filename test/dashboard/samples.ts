// Answers of the API with all their fields, for tests that look at some of them.

import type { Attachment, MessageAttachment } from '../../src/api/attachments.ts'
import type { SeenDelivery } from '../../src/api/dashboard.ts'
import type { Conversation, Message } from '../../src/api/messages.ts'
import type { PhoneLine } from '../../src/api/phone-lines.ts'
import type { Webhook } from '../../src/api/webhooks.ts'
import { kindInfo } from '../../src/http/dashboard-views.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'

/** The kinds of line, as the relay answers them. */
export const KINDS = LINE_KINDS.map(kindInfo)

const TIME = '2026-11-21T10:00:00.000Z'

export function phoneLine(fields: Partial<PhoneLine> = {}): PhoneLine {
  return {
    id: 'line_1',
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
    ...fields,
  }
}

export function message(fields: Partial<Message> = {}): Message {
  return {
    id: 'msg_1',
    guid: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42',
    platform_guid: null,
    direction: 'inbound',
    status: 'received',
    service: 'iMessage',
    to: '+12025550101',
    from: '+12025550123',
    handle: '+12025550123',
    text: 'On my way.',
    phone_line_id: 'line_1',
    phone_number: '+12025550101',
    conversation_id: 'conv_1',
    source: 'device',
    queued_reason: null,
    error: null,
    created_at: TIME,
    updated_at: TIME,
    sent_at: TIME,
    delivered_at: null,
    read_at: null,
    ...fields,
  }
}

/** A file as it is read by itself, with what its message adds. */
export function attachment(
  fields: Partial<Attachment & MessageAttachment> = {},
): Attachment & MessageAttachment {
  return {
    id: 'att_1',
    filename: 'menu.pdf',
    mime_type: 'application/pdf',
    size: 245_760,
    state: 'available',
    url: '/api/v1/attachments/att_1/content',
    declared_type: null,
    sha256: null,
    width: null,
    height: null,
    duration_ms: null,
    direction: 'inbound',
    message_id: 'msg_1',
    variants: ['original'],
    created_at: TIME,
    expires_at: null,
    ...fields,
  }
}

export function conversation(fields: Partial<Conversation> = {}): Conversation {
  return {
    id: 'conv_1',
    phone_line_id: 'line_1',
    phone_number: '+12025550101',
    handle: '+12025550123',
    chat_identifier: '+12025550123',
    service: 'iMessage',
    message_count: 1,
    last_message: null,
    automation_paused: false,
    created_at: TIME,
    updated_at: TIME,
    ...fields,
  }
}

export function webhook(fields: Partial<Webhook> = {}): Webhook {
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
    ...fields,
  }
}

export function delivery(fields: Partial<SeenDelivery> = {}): SeenDelivery {
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
    person: null,
    schedule: { made: 0, of: 12 },
    ...fields,
  }
}
