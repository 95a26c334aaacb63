// The events that a webhook can receive.

import type { Webhook } from '../../api/webhooks.ts'

type EventGroup =
  | 'Messages'
  | 'Reactions and changes'
  | 'Attachments'
  | 'Groups'
  | 'Approvals'
  | 'Opt-outs'
  | 'Alerts'

type EventName = Webhook['events'][number]

/** Every event with its group in the form, and its meaning. */
export const EVENTS: Readonly<Record<EventName, readonly [group: EventGroup, words: string]>> = {
  'message.received': ['Messages', 'Someone sent a message to one of your lines.'],
  'message.sent': ['Messages', 'A message was sent through the relay.'],
  'message.delivered': ['Messages', "The message reached the recipient's device."],
  'message.read': ['Messages', 'The recipient read the message.'],
  'message.failed': ['Messages', "The message wasn't sent, or we couldn't confirm that it was."],
  'message.reaction': ['Reactions and changes', 'Someone added or removed a reaction.'],
  'message.edited': ['Reactions and changes', 'The sender edited a message.'],
  'message.unsent': ['Reactions and changes', 'The sender unsent a message.'],
  'attachment.available': ['Attachments', 'A file that was pending has arrived.'],
  'attachment.failed': ['Attachments', "The device couldn't get a file."],
  'group_message.received': ['Groups', 'Someone sent a message to a group.'],
  'group_message.sent': ['Groups', 'A message to a group was sent.'],
  'group_message.failed': [
    'Groups',
    "A message to a group wasn't sent, or we couldn't confirm that it was.",
  ],
  'group.updated': ['Groups', 'A group was renamed, or someone joined or left.'],
  'approval.requested': ['Approvals', 'A message waits for someone to approve it.'],
  'approval.resolved': [
    'Approvals',
    'A message was approved or denied, or nobody decided in time.',
  ],
  'contact.opted_out': ['Opt-outs', 'Someone wants no more messages.'],
  'contact.opted_in': ['Opt-outs', 'Someone wants messages again.'],
  'alert.raised': ['Alerts', 'A problem has lasted for the time of its alert rule.'],
  'alert.resolved': ['Alerts', 'A problem of which there was an alert is over.'],
}

export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[] // The record has every name.

export const EVENT_OPTIONS = [
  { value: '', text: 'All events' },
  ...EVENT_NAMES.map((name) => ({ value: name, text: name })),
]

export const EVENT_GROUPS: ReadonlyMap<EventGroup, readonly EventName[]> = Map.groupBy(
  EVENT_NAMES,
  (name) => EVENTS[name][0],
)

/** The events of a new webhook. The others are for receivers that know them. */
export const USUAL_EVENTS = EVENT_GROUPS.get('Messages') ?? []
