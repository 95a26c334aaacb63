// Makes src/guides/message-states.md from the states of messages, the reasons for which they wait, and the codes with
// which they fail.

import {
  FAILURES,
  MESSAGE_STATUSES,
  QUEUED_REASONS,
  type MessageStatus,
  type QueuedReason,
} from '../src/domain/message.ts'
import { LINE_KINDS } from '../src/lines/kinds.ts'

const STATUSES: Readonly<Record<MessageStatus, string>> = {
  queued: 'Accepted; waits. `queued_reason` says for what.',
  sending: 'The device has it.',
  sent: 'The device says that it left.',
  delivered: "It is on the recipient's device, if the line can report that.",
  read: 'The recipient has read it, if they let their device say so.',
  failed: 'It was not sent, or only a part of it. `error.code` says why; nothing follows.',
  expired: 'It waited for 24 hours and was not sent. Nothing follows.',
  uncertain:
    'The device had it, and nothing proves whether it left. Hookline never sends it again. A late report, or `hookline messages resolve`, settles it.',
  received: 'Inbound: it came in. Inbound messages have no other state.',
}

const REASONS: Readonly<Record<QueuedReason, string>> = {
  approval: 'A person decides, or it expires 24 hours later.',
  scheduled: '`send_at` comes.',
  quiet_hours: 'The quiet hours of the line, or of the key, end.',
  earlier_message: 'An earlier message to the same person is settled.',
  same_text_uncertain:
    'It is known whether the same text to this person, which is `uncertain`, has left.',
  daily_contact_limit:
    'The next day begins, or the limit is raised. Only messages to new contacts wait.',
  retry: 'The next try, after a refusal that may pass.',
  pacing: "The line's turn: it sends slowly on purpose.",
  clock_jumped: "The machine's clock is certain again.",
  line_offline: 'The line is back.',
  line_disabled: 'The line is turned on.',
  storage_full: 'The disk has space.',
}

/** The whole guide, in Markdown. */
export function messageStatesGuide(): string {
  const own = LINE_KINDS.flatMap(({ title, failures }) =>
    Object.entries(failures).map(([code, sentence]) =>
      failureRow(code, title.split(':')[0] ?? '', sentence),
    ),
  )
  const shared = Object.entries(FAILURES).map(([code, sentence]) =>
    failureRow(code, 'any', sentence),
  )
  return `# States of a message

\`queued → sending → sent → delivered → read\`, and three ways out: \`failed\`, \`expired\` and \`uncertain\`. A state only
rises. A \`failed\` or \`uncertain\` message that the device proves to be sent becomes \`sent\`; \`failed\` never follows
\`delivered\`.

## Every status

| \`status\` | |
|---|---|
${MESSAGE_STATUSES.map((status) => `| \`${status}\` | ${STATUSES[status]} |`).join('\n')}

## Why a message waits

| \`queued_reason\` | until |
|---|---|
${QUEUED_REASONS.map((reason) => `| \`${reason}\` | ${REASONS[reason]} |`).join('\n')}

Whatever the reason, it has \`expired\` 24 hours after it was accepted, approved or due.

## Why a message failed

\`error.code\` is for programs, \`error.message\` for people. \`uncertain\` messages have a code too: \`outcome_unknown\`,
\`session_ended\`, \`driver_error\` or \`restored\`. A device may report a code of its own: later versions may add more.

| \`error.code\` | line | |
|---|---|---|
${[...shared, ...own].join('\n')}
`
}

function failureRow(code: string, line: string, sentence: string): string {
  return `| <a id="${code}"></a>\`${code}\` | ${line} | ${sentence} |`
}
