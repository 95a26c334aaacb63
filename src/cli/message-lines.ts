import type { Message } from '../api/messages.ts'
import { groupedNumber } from '../domain/handle.ts'
import { fields, sizeCell, stateCell, table, timeCell, type Cell, type Line } from './table.ts'

/** The text on one line, or the names of the files. */
export function excerptOf({ text, attachments = [], unsent_at }: Message): string {
  if (unsent_at !== undefined) return '(unsent)'
  const line = text.replaceAll(/\s+/g, ' ')
  return line === '' ? attachments.map(({ filename }) => `[${filename}]`).join(' ') : line
}

/** Everything about a message, with its attachments, reactions and earlier texts. */
export function messageLines(message: Message): readonly Line[] {
  return [fields([...factsOf(message), ...extrasOf(message)]), ...partsOf(message)]
}

type Pairs = readonly (readonly [string, Cell])[]

function factsOf(message: Message): Pairs {
  const { id, status, direction, phone_number, service, error } = message
  const times = [
    ['created', message.created_at],
    ['sent', message.sent_at],
    ['delivered', message.delivered_at],
    ['read', message.read_at],
  ] as const
  return [
    ['id', id],
    ['status', stateCell(error === null ? status : `${status} (${error.code}: ${error.message})`)],
    ['direction', direction],
    ['line', `${groupedNumber(phone_number)} (${message.phone_line_id})`],
    ['conversation', message.conversation_id],
    ['with', withOf(message)],
    ['service', service],
    ...times.flatMap(([name, at]) => (at === null ? [] : [[name, timeCell(at)] as const])),
    ['text', message.text],
  ]
}

export function withOf({ conversation_type, sender, handle, contact_name }: Message): string {
  if (conversation_type !== 'group') return contact_name ?? groupedNumber(handle)
  return sender ? `${sender.name ?? groupedNumber(sender.handle)} in a group` : 'a group'
}

function extrasOf(message: Message): Pairs {
  const { reply_to, unsent_at, downgraded_at, service_requested, send_at, approval } = message
  return [
    ...pair('scheduled for', send_at && timeCell(send_at)),
    ...pair('approval', approval && [approval.state, approval.reason].filter(Boolean).join(': ')),
    ...pair('text before', approval?.original_text ?? undefined),
    ...pair('asked for', service_requested),
    ...pair('sent as SMS', downgraded_at && timeCell(downgraded_at)),
    ...pair('reply to', reply_to && (reply_to.text_excerpt ?? reply_to.guid)),
    ...pair('unsent', unsent_at && timeCell(unsent_at)),
  ]
}

function pair(name: string, value: Cell): Pairs {
  return value === undefined ? [] : [[name, value]]
}

function partsOf({ attachments = [], reactions = [], edits = [] }: Message): readonly Line[] {
  return [
    ...titled(
      'Attachments',
      ['ID', 'NAME', 'TYPE', 'SIZE', 'STATE'],
      attachments.map(({ id, filename, mime_type, size, state, sent }) => {
        const fate = sent === false ? `${state}, not sent` : state
        return [id, filename, mime_type, size === null ? null : sizeCell(size), fate]
      }),
    ),
    ...titled(
      'Reactions',
      ['FROM', 'REACTION', 'TIME'],
      reactions.map(({ is_from_me, handle, emoji, type, created_at }) => {
        return [is_from_me ? 'you' : groupedNumber(handle), emoji ?? type, timeCell(created_at)]
      }),
    ),
    ...titled(
      'Earlier texts',
      ['TIME', 'TEXT'],
      edits.map(({ at, text }) => [timeCell(at), text]),
    ),
  ]
}

function titled(
  title: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly Line[] {
  return rows.length === 0 ? [] : ['', `${title}:`, table(head, rows)]
}
