import type * as api from '../api/keys.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { createKey, listKeys, revokeKey } from '../keys/keys.ts'
import { EXIT, argument, type Call, type Command, type ExitCode } from './command.ts'
import { throughRelayOrFile } from './own-file.ts'
import { fields, table, timeCell } from './table.ts'

const LISTED_MAX = 200

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: 'keys create',
    args: [],
    options: [{ name: 'name', value: 'NAME', sentence: 'What the key is for.' }],
    sentence: 'Make an API key; its secret is shown this once.',
    run: create,
  },
  {
    name: 'keys list',
    args: [],
    options: [],
    sentence: 'List the API keys, the revoked ones too.',
    run: list,
  },
  {
    name: 'keys revoke',
    args: [{ name: 'ID', ids: 'keys' }],
    options: [],
    sentence: 'Revoke an API key at once and for good.',
    run: revoke,
  },
]

/** The lines that show a new key and how to use it. */
export function describeNewKey(key: Pick<api.CreatedKey, 'id' | 'key' | 'secret'>): string[] {
  return [
    ...fields([
      ['id', key.id],
      ['X-API-Key', key.key],
      ['X-API-Secret', key.secret],
    ]),
    'The secret is not shown again.',
  ]
}

async function create(call: Call): Promise<ExitCode> {
  const name = call.options.get('name') ?? null
  const key = await throughRelayOrFile(call, {
    relay: async (client) => {
      const body = name === null ? {} : { name }
      const answer = await client.ask('POST', '/keys', { body })
      return answer.body as api.CreatedKey // The relay's own schema checked it.
    },
    file: (file) => createKey(file, { name, origin: COMMAND_LINE }),
  })
  call.out.data(key, describeNewKey(key))
  return EXIT.ok
}

async function list(call: Call): Promise<ExitCode> {
  const page = await throughRelayOrFile(call, {
    relay: async (client) => {
      const answer = await client.ask('GET', `/keys?limit=${LISTED_MAX}`)
      return answer.body as { readonly data: readonly api.Key[] } // Checked by its schema.
    },
    file: (file) => listKeys(file, { limit: LISTED_MAX, cursor: null }),
  })
  const rows = page.data.map((key) => [
    key.id,
    key.name,
    key.key_hint,
    timeCell(key.created_at),
    timeCell(key.last_used_at),
    key.revoked_at === null ? '' : 'revoked',
  ])
  call.out.data(page, table(['ID', 'NAME', 'KEY', 'CREATED', 'LAST USED', 'STATE'], rows))
  return EXIT.ok
}

async function revoke(call: Call): Promise<ExitCode> {
  const id = argument(call, 0)
  const answer = await throughRelayOrFile(call, {
    relay: async (client) => {
      const { body } = await client.ask('DELETE', `/keys/${encodeURIComponent(id)}`)
      return body as api.RevokedKey // Checked by its schema.
    },
    file: (file) => revokeKey(file, id, COMMAND_LINE),
  })
  const lives = answer.created
  call.out.data(answer, [`Revoked ${answer.id}.`])
  if (lives !== undefined) {
    call.out.note(
      `What it made still lives: ${[...lives.keys, ...lives.webhooks, ...lives.bridges].join(', ')}`,
    )
  }
  return EXIT.ok
}
