// Makes src/guides/event-reference.md from the names of events, their words in the dashboard, and the bodies of test
// events, which the same functions build as those of real ones.

import { EVENTS } from '../src/dashboard/words/webhook-form.ts'
import { timestamp } from '../src/domain/ids.ts'
import { EVENT_NAMES, type EventName } from '../src/domain/webhook.ts'
import { LogicalClock } from '../src/system/logical-clock.ts'
import { samplePayload } from '../src/webhooks/sample.ts'
import { TestClock } from '../test/support/test-clock.ts'

type Body = Readonly<Record<string, unknown>> & {
  readonly message?: Readonly<Record<string, unknown>> | null
}

const EXAMPLES: readonly (readonly [heading: string, names: readonly EventName[]])[] = [
  ['Messages', ['message.received', 'message.failed']],
  ['Reactions, edits and unsends', ['message.reaction', 'message.edited', 'message.unsent']],
  ['Files', ['attachment.available']],
  ['Groups', ['group_message.received', 'group.updated']],
  ['Approvals', ['approval.requested', 'approval.resolved']],
  ['Opt-outs', ['contact.opted_out']],
  ['Alerts', ['alert.raised', 'alert.resolved']],
]
const AT = timestamp(Date.UTC(2026, 10, 21, 4, 33, 11, 394))
const PLAIN = new Set(Object.keys(bodyOf('message.sent').message ?? {}))

/** The whole guide, in Markdown. */
export function eventsGuide(): string {
  const examples = EXAMPLES.map(([heading, names]) => {
    const blocks = names.map(
      (name) => `\`\`\`json\n${JSON.stringify(bodyOf(name), null, 2)}\n\`\`\``,
    )
    return [`## ${heading}`, ...blocks].join('\n\n')
  })
  return `# Every event

[Webhooks](webhooks) and [readers of events](events) get the same bodies. New versions may add fields and events: ignore
those you don't know. The fields of \`message\` are in camelCase; everything else is as in the API. \`webhook-id\`, and
\`id\` of a reader's event, is the event's own: the same event can come twice.

\`message\` always has ${listed([...PLAIN])}.
\`phone_line_id\` comes with each event; it is null for an opt-out or an alert that is of no line.

| event | when | its own fields |
|---|---|---|
${EVENT_NAMES.map(rowOf).join('\n')}

- A webhook gets the events that it names, and a new one from \`hookline webhooks add\` without \`--events\` the first four:
  add \`message.failed\` to learn of failures.
- **To answer**, send to \`message.handle\` with the event's \`phone_line_id\`. Events about two people have no
  \`conversation_id\`; those of a group have \`conversation\`, and go to \`POST /api/v1/conversations/{id}/messages\`.
- \`message.sent\`, \`message.delivered\` and \`message.read\` come in this order, and a step that the device skipped comes
  with the next one. A line that can't report a step sends none.
- \`message.attachments\` and \`message.replyTo\` come with any event whose message has files or answers another one.
- A reaction to a message that the relay doesn't have has \`"message": null\` and the device's id of it in \`target_guid\`.

The bodies below are those of test events: \`hookline webhooks test ID\` sends the one of the first event
that the webhook gets.

${examples.join('\n\n')}
`
}

function rowOf(name: EventName): string {
  const { event: _, phone_line_id: __, message, ...rest } = bodyOf(name)
  const ofMessage = Object.keys(message ?? {}).filter((field) => !PLAIN.has(field))
  const fields = [
    ...(message === undefined ? [] : ['message']),
    ...ofMessage.map((field) => `message.${field}`),
    ...Object.keys(rest),
  ]
  return `| <a id="${name}"></a>\`${name}\` | ${EVENTS[name][1]} | ${listed(fields)} |`
}

const listed = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ')

/** The body of a test event, the same one in each run. */
function bodyOf(name: EventName): Body {
  let drawn = 0
  const random = {
    chance: () => 0,
    bytes: (count: number) => new Uint8Array(count).map(() => (drawn += 41)),
  }
  return JSON.parse(samplePayload(name, new LogicalClock(new TestClock(AT), random, AT)))
}
