// Sentences of the form of a webhook, its secret, and the events it can have.

import type { Webhook } from '../../api/webhooks.ts'

/** The form of a webhook, and its secret. */
export const WEBHOOK_FORM = {
  sentTo: (url: string) => `Events will be sent to ${url}`,
  overHttp:
    'Receives POST requests. With http, others can read events in transit: fine on this computer and your own network, otherwise use https.',
  overHttps: 'Receives POST requests. URLs on this computer and your own network work, too.',
  events: 'Events',
  chooseEvents: 'Choose at least one.',
  lines: 'Lines',
  linesHint: 'Choose none for the events of all lines.',
  attachments: 'Attachments',
  attachmentLinks: 'Include download links',
  attachmentLinksHint: 'Events have a link for each file that works for 7 days without an API key.',
  description: 'Description',
  descriptionExample: 'Booking system',
  settings: 'Events and URL',
  save: 'Save',
  saved: 'Saved.',
  secretTitle: 'Signing secret',
  secretHint: "Signs every event. If it's lost or someone else may know it, create a new one.",
  newSecret: 'New secret…',
  newSecretTitle: 'Create a new secret?',
  createSecret: 'Create secret',
  bothValid:
    'Both secrets are valid for 24 hours, so you can update your endpoint without losing events.',
  oldValid: 'The old secret stays valid for 24 hours.',
  saveSecret: 'Save your signing secret',
  onlyOnce: "You won't see the secret again.",
  secret: 'Secret',
  secretUse:
    'Your app uses it to verify that events come from this relay, following Standard Webhooks.',
  readGuide: 'Read the guide',
  deleteNoun: 'webhook',
  deleteConsequence: "Its pending events and its secret will be deleted. This can't be undone.",
  addedAt: 'Added',
  deleteHint: 'To stop events for a while, pause it instead.',
} as const

type EventGroup =
  | 'Messages'
  | 'Reactions and changes'
  | 'Attachments'
  | 'Groups'
  | 'Approvals'
  | 'Opt-outs'

type EventName = Webhook['events'][number]

/** Every event with its meaning, and its group in the form of a webhook. */
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
}

/** The names of a record are those of its type. */
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]

/** The events by their group, in the order of the form. */
export const EVENT_GROUPS: ReadonlyMap<EventGroup, readonly EventName[]> = Map.groupBy(
  EVENT_NAMES,
  (name) => EVENTS[name][0],
)

/** The events of a new webhook; the others are for receivers that know them. */
export const USUAL_EVENTS = EVENT_GROUPS.get('Messages') ?? []
