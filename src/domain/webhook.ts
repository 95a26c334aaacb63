/** Webhooks that there can be. */
export const WEBHOOKS_MAX = 1_000

export const EVENT_NAMES = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.reaction',
  'message.edited',
  'message.unsent',
  'attachment.available',
  'attachment.failed',
  'group_message.received',
  'group_message.sent',
  'group_message.failed',
  'group.updated',
  'approval.requested',
  'approval.resolved',
  'contact.opted_out',
  'contact.opted_in',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

/** Values of `after` for what is recorded from now on, and for all that is kept. */
export const LATEST = 'latest'
export const OLDEST = 'oldest'

/** The event by which a message of a group is announced in place of a direct one; null where none is. */
export function eventInGroup(name: EventName): EventName | null {
  const known = IN_GROUPS[name]
  return known === undefined ? name : known
}

const IN_GROUPS: Partial<Record<EventName, EventName | null>> = {
  'message.received': 'group_message.received',
  'message.sent': 'group_message.sent',
  'message.failed': 'group_message.failed',
  // They would say nothing of single members.
  'message.delivered': null,
  'message.read': null,
}

/** Reasons of the relay, not the user, to stop delivering to a webhook. */
export const DISABLED_REASONS = ['gone', 'failing', 'secret_unreadable'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** Results of an attempt to deliver, as the figures count them. */
export const ATTEMPT_OUTCOMES = [
  'delivered',
  'http_4xx',
  'http_5xx',
  'http_other',
  'timeout',
  'refused',
  'reset',
  'unreachable',
  'tls',
  'dns',
  'other',
] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

export const ATTEMPT_TRIGGERS = ['scheduled', 'probe', 'manual'] as const
