import type { Conversation } from '../api/messages.ts'
import { CONVERSATION_TYPES } from '../domain/conversation.ts'
import { groupedNumber } from '../domain/handle.ts'
import { SAVE_OPTIONS, saveFile } from './attachments.ts'
import { SITE_OPTION, argument, idIn, type Call, type Command } from './command.ts'
import { excerptOf, withOf } from './message-lines.ts'
import { askRelay, byId, calling, runningRelay } from './own-file.ts'
import { fields, stateCell, table, timeCell } from './table.ts'

const LISTED_MAX = 200

export const CONVERSATION_COMMANDS: readonly Command[] = [
  {
    name: 'conversations list',
    short: 'conversations',
    options: [
      {
        name: 'type',
        value: CONVERSATION_TYPES.join('|'),
        sentence: 'Only people or only groups (default all).',
      },
      { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only conversations of this line.' },
      SITE_OPTION,
      { name: 'limit', value: 'N', sentence: `Number to list, 1 to ${LISTED_MAX} (default 50).` },
    ],
    sentence: 'List conversations, newest first. Short: conversations.',
    run: list,
  },
  {
    name: 'conversations show',
    args: [{ name: 'ID', ids: 'conversations' }],
    options: [
      {
        name: 'limit',
        value: 'N',
        sentence: `Number of messages, 1 to ${LISTED_MAX} (default 20).`,
      },
    ],
    sentence: 'Show a conversation and its latest messages.',
    run: show,
  },
  {
    name: 'conversations export',
    args: [{ name: 'ID', ids: 'conversations' }],
    options: SAVE_OPTIONS,
    sentence: 'Save a conversation: as JSON if FILE ends in .json, else as CSV.',
    run: exportOne,
  },
  {
    name: 'conversations separate',
    args: [{ name: 'ID', ids: 'conversations' }],
    sentence: 'Take a conversation out of the one it was merged into, for good.',
    run: calling('separateConversation', byId, ({ handle }, call) => [
      `${argument(call, 0)} is a conversation of its own again, with ${handle}.`,
    ]),
  },
]

async function list(call: Call): Promise<undefined> {
  const type = call.options.choice('type', CONVERSATION_TYPES) ?? 'all'
  const limit = call.options.number('limit', { fallback: 50, max: LISTED_MAX })
  const line = call.options.get('line')
  const page = await askRelay(call, 'listConversations', {
    query: {
      type,
      limit: String(limit),
      phone_line_id: line || undefined,
      site_id: call.options.get('site'),
    },
  })
  const rows = page.data.map((conversation) => {
    const { id, phone_number, last_message: last, updated_at } = conversation
    const text = last === null ? '' : excerptOf(last)
    return [id, nameOf(conversation), groupedNumber(phone_number), timeCell(updated_at), text]
  })
  call.out.data(page, [table(['ID', 'WITH', 'LINE', 'LAST', 'MESSAGE'], rows)])
  if (rows.length === 0) call.out.note('No conversations.')
}

async function show(call: Call): Promise<undefined> {
  const limit = call.options.number('limit', { fallback: 20, max: LISTED_MAX })
  const client = await runningRelay(call)
  const id = argument(call, 0)
  const conversation = await client.ask('getConversation', { params: { id } })
  const query = { conversation_id: conversation.moved_to ?? id, limit: String(limit) }
  const page = await client.ask('listMessages', { query })
  const rows = page.data
    .toReversed()
    .map((message) => [
      timeCell(message.created_at),
      message.direction === 'outbound' ? 'you' : withOf(message),
      stateCell(message.status),
      excerptOf(message),
    ])
  call.out.data({ ...conversation, messages: page.data }, [
    fields([
      ['id', conversation.id],
      ['with', nameOf(conversation)],
      ['line', `${groupedNumber(conversation.phone_number)} (${conversation.phone_line_id})`],
      ['service', conversation.service],
      ['messages', conversation.message_count],
      ['human takeover', conversation.automation_paused ? 'yes' : 'no'],
      ...(conversation.merged_from ?? []).map(
        (merged) => ['merged with', `${merged.handle} (${merged.conversation_id})`] as const,
      ),
    ]),
    '',
    table(['TIME', 'FROM', 'STATUS', 'TEXT'], rows),
  ])
}

async function exportOne(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const format = call.options.get('to')?.endsWith('.json') ? 'json' : 'csv'
  const bytes = client.download('exportConversation', { params: idIn(call), query: { format } })
  const to = await saveFile(call, bytes, { size: null, sha256: null })
  call.out.data({ saved_to: to }, [`Saved ${to}.`])
}

function nameOf({ type, handle, name, contact_name, participants = [] }: Conversation): string {
  if (type !== 'group') return contact_name ?? groupedNumber(handle)
  const people = participants
    .map((person) => person.name ?? groupedNumber(person.handle))
    .join(', ')
  return name ? `${name} (${people})` : `Group: ${people}`
}
