/** Most webhooks of a relay. */
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
  'alert.raised',
  'alert.resolved',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

/** Values of `after` that mean "from now on" and "everything stored". */
export const LATEST = 'latest'
export const OLDEST = 'oldest'

/** The event for a message of a group, instead of the one for a direct message; null if there is none. */
export function eventInGroup(name: EventName): EventName | null {
  const known = IN_GROUPS[name]
  return known === undefined ? name : known
}

const IN_GROUPS: Partial<Record<EventName, EventName | null>> = {
  'message.received': 'group_message.received',
  'message.sent': 'group_message.sent',
  'message.failed': 'group_message.failed',
  // Receipts of a group don't say which member they are from.
  'message.delivered': null,
  'message.read': null,
}

/** The reason why the relay itself, not the user, stops delivering to a webhook. */
export const DISABLED_REASONS = ['gone', 'failing', 'secret_unreadable'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** Outcomes of a delivery attempt, as the figures count them. */
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
