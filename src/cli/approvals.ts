import { idIn, type Call, type Command } from './command.ts'
import { namedIds } from './completion-ids.ts'
import { excerptOf, withOf } from './message-lines.ts'
import { calling, runningRelay } from './own-file.ts'
import { table, timeCell } from './table.ts'

/** Keys whose names are shown. */
const KEYS_MAX = 1_000

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
    run: calling(
      'approveMessage',
      (call) => [{ params: idIn(call), body: { text: call.options.get('text') } }],
      ({ id }) => [`Approved ${id}.`],
    ),
  },
  {
    name: 'approvals deny',
    args: [{ name: 'ID', ids: 'approvals' }],
    options: [{ name: 'reason', value: 'TEXT', sentence: 'Reason, for the sender.' }],
    sentence: 'Make sure that a message is never sent.',
    run: calling(
      'denyMessage',
      (call) => [{ params: idIn(call), body: { reason: call.options.get('reason') } }],
      ({ id }) => [`Denied ${id}.`],
    ),
  },
]

async function list(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const query = { type: 'all', queued_reason: 'approval', limit: '200', contact_names: 'true' }
  const page = await client.ask('listMessages', { query })
  const keys = page.data.length === 0 ? [] : await namedIds(client, 'keys', KEYS_MAX)
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  const nameOf = (id: string | undefined) => names.get(id ?? '') ?? id
  const rows = page.data.map((message) => [
    message.id,
    timeCell(message.created_at),
    withOf(message),
    nameOf(message.approval?.requested_by),
    excerptOf(message),
  ])
  call.out.data(page, [table(['ID', 'TIME', 'TO', 'KEY', 'TEXT'], rows)])
  if (rows.length === 0) call.out.note('No message waits for an approval.')
}
