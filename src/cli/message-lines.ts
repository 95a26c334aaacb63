// A message as lines of text.

import type { Message } from '../api/messages.ts'
import { groupedNumber } from '../people/phone-numbers.ts'
import { fields, sizeCell, table, timeCell } from './table.ts'

const EXCERPT_LENGTH_MAX = 60

/** The beginning of its text, or what it has instead. */
export function excerptOf({ text, attachments = [], unsent_at }: Message): string {
  if (unsent_at !== undefined) return '(unsent)'
  const line = text.replaceAll(/\s+/g, ' ')
  if (line.length > EXCERPT_LENGTH_MAX) return `${line.slice(0, EXCERPT_LENGTH_MAX - 1)}…`
  return line === '' ? attachments.map(({ filename }) => `[${filename}]`).join(' ') : line
}

/** All that there is to say of it, with what belongs to it. */
export function messageLines(message: Message): readonly string[] {
  return [...fields([...factsOf(message), ...extrasOf(message)]), ...partsOf(message)]
}

type Pairs = readonly (readonly [string, string])[]

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
    ['status', error === null ? status : `${status} (${error.code}: ${error.message})`],
    ['direction', direction],
    ['line', `${groupedNumber(phone_number)} (${message.phone_line_id})`],
    ['conversation', message.conversation_id],
    ['with', withOf(message)],
    ['service', service],
    ...times.flatMap(([name, at]) => (at === null ? [] : [[name, timeCell(at)] as const])),
    ['text', message.text],
  ]
}

function withOf({ conversation_type, sender, handle }: Message): string {
  if (conversation_type !== 'group') return groupedNumber(handle)
  return sender ? `${sender.name ?? groupedNumber(sender.handle)} in a group` : 'a group'
}

function extrasOf(message: Message): Pairs {
  const { reply_to, unsent_at, downgraded_at, service_requested } = message
  return [
    ...pair('asked for', service_requested),
    ...pair('sent as SMS', downgraded_at && timeCell(downgraded_at)),
    ...pair('reply to', reply_to && (reply_to.text_excerpt ?? reply_to.guid)),
    ...pair('unsent', unsent_at && timeCell(unsent_at)),
  ]
}

function pair(name: string, value: string | undefined): Pairs {
  return value === undefined ? [] : [[name, value]]
}

function partsOf({ attachments = [], reactions = [], edits = [] }: Message): readonly string[] {
  return [
    ...titled('Attachments', ['ID', 'NAME', 'TYPE', 'SIZE', 'STATE'], attachments.map(fileCells)),
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

function fileCells(file: NonNullable<Message['attachments']>[number]) {
  const { id, filename, mime_type, size, state, sent } = file
  const fate = sent === false ? `${state}, not sent` : state
  return [id, filename, mime_type, size === null ? null : sizeCell(size), fate]
}

function titled(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): readonly string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...table(head, rows)]
}
