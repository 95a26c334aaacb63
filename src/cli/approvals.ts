import { argument, type Call, type Command } from './command.ts'
import { excerptOf, withOf } from './message-lines.ts'
import { askRelay } from './own-file.ts'
import { table, timeCell } from './table.ts'

export const APPROVAL_COMMANDS: readonly Command[] = [
  {
    name: 'approvals list',
    short: 'approvals',
    sentence: 'List messages that wait for an approval. Short: approvals.',
    run: list,
  },
  {
    name: 'approvals approve',
    args: [{ name: 'ID', ids: 'approvals' }],
    options: [
      { name: 'text', value: 'TEXT', sentence: 'Send this text in place of the other one.' },
    ],
    sentence: 'Let a message be sent.',
    run: approve,
  },
  {
    name: 'approvals deny',
    args: [{ name: 'ID', ids: 'approvals' }],
    options: [{ name: 'reason', value: 'TEXT', sentence: 'Reason, for the sender.' }],
    sentence: 'Make sure that a message is never sent.',
    run: deny,
  },
]

async function list(call: Call): Promise<undefined> {
  const query = { type: 'all', queued_reason: 'approval', limit: '200' }
  const page = await askRelay(call, 'GET /messages', { query })
  const rows = page.data.map((message) => [
    message.id,
    timeCell(message.created_at),
    withOf(message),
    message.approval?.requested_by,
    excerptOf(message),
  ])
  call.out.data(page, [table(['ID', 'TIME', 'TO', 'KEY', 'TEXT'], rows)])
  if (rows.length === 0) call.out.note('No message waits for an approval.')
}

async function approve(call: Call): Promise<undefined> {
  const text = call.options.get('text')
  const body = text === undefined ? {} : { text }
  const message = await askRelay(call, 'POST /messages/:id/approve', {
    id: argument(call, 0),
    body,
  })
  call.out.data(message, [`Approved ${message.id}.`])
}

async function deny(call: Call): Promise<undefined> {
  const reason = call.options.get('reason')
  const body = reason === undefined ? {} : { reason }
  const message = await askRelay(call, 'POST /messages/:id/deny', { id: argument(call, 0), body })
  call.out.data(message, [`Denied ${message.id}.`])
}
