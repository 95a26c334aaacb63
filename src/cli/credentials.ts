// Commands for whatever may talk to the relay: API keys, tokens of iPhones with Shortcuts, and the link
// that sets the dashboard's password.

import type { BridgeToken } from '../api/bridges.ts'
import type { CreatedKey } from '../api/keys.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import {
  createBridge,
  createKey,
  listBridges,
  listKeys,
  removeBridge,
  renewBridgeToken,
  revokeKey,
} from '../keys/credentials.ts'
import { groupedNumber } from '../people/phone-numbers.ts'
import { argument, type Call, type Command } from './command.ts'
import { runningRelay, throughRelayOrFile } from './own-file.ts'
import { fields, table, timeCell } from './table.ts'

const BRIDGE = [{ name: 'ID', ids: 'bridges' }] as const
const FIRST_PAGE = { limit: 200, cursor: null }
const FIRST_PAGE_QUERY = { query: { limit: String(FIRST_PAGE.limit) } }

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: 'keys create',
    options: [{ name: 'name', value: 'NAME', sentence: 'A name for the key, such as its app.' }],
    sentence: 'Create an API key. Its secret is shown only once.',
    run: createApiKey,
  },
  { name: 'keys list', sentence: 'List API keys, including revoked ones.', run: listApiKeys },
  {
    name: 'keys revoke',
    args: [{ name: 'ID', ids: 'keys' }],
    sentence: 'Revoke an API key permanently. Takes effect at once.',
    run: revokeApiKey,
  },
]

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: 'bridges list',
    sentence: 'List iPhone Shortcuts lines, including removed ones.',
    run: listIphones,
  },
  {
    name: 'bridges add',
    args: [{ name: 'NUMBER' }],
    options: [{ name: 'label', value: 'NAME', sentence: 'A name for the iPhone.' }],
    sentence: 'Add an iPhone as a Shortcuts line. Its token is shown only once.',
    run: addIphone,
  },
  {
    name: 'bridges token',
    args: BRIDGE,
    sentence: 'Create a new token for an iPhone. The old one stops working at once.',
    run: renewToken,
  },
  {
    name: 'bridges remove',
    args: BRIDGE,
    sentence: 'Remove an iPhone Shortcuts line permanently.',
    run: removeIphone,
  },
]

export const SETUP_LINK_COMMAND: Command = {
  name: 'setup-link',
  sentence: 'Print a one-time link to set or reset the dashboard password.',
  run: printSetupLink,
}

/** Rows that show a new key and the headers it goes into. */
export function describeNewKey(key: Pick<CreatedKey, 'id' | 'key' | 'secret'>): string[] {
  return [
    ...fields([
      ['id', key.id],
      ['X-API-Key', key.key],
      ['X-API-Secret', key.secret],
    ]),
    "Save the secret now. You won't see it again.",
  ]
}

async function createApiKey(call: Call): Promise<undefined> {
  const name = call.options.get('name') ?? null
  const key = await throughRelayOrFile(call, {
    relay: (client) => client.ask('POST /keys', { body: name === null ? {} : { name } }),
    file: (file) => createKey(file, { name, origin: COMMAND_LINE }),
  })
  call.out.data(key, describeNewKey(key))
}

async function listApiKeys(call: Call): Promise<undefined> {
  const page = await throughRelayOrFile(call, {
    relay: (client) => client.ask('GET /keys', FIRST_PAGE_QUERY),
    file: (file) => listKeys(file, FIRST_PAGE),
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
}

async function revokeApiKey(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  const answer = await throughRelayOrFile(call, {
    relay: (client) => client.ask('DELETE /keys/:id', { id }),
    file: (file) => revokeKey(file, id, COMMAND_LINE),
  })
  const { created } = answer
  call.out.data(answer, [`Revoked ${answer.id}.`])
  if (created !== undefined) {
    const ids = [...created.keys, ...created.webhooks, ...created.bridges]
    call.out.note(`Created with this key and still active: ${ids.join(', ')}`)
  }
}

async function listIphones(call: Call): Promise<undefined> {
  const page = await throughRelayOrFile(call, {
    relay: (client) => client.ask('GET /bridges', FIRST_PAGE_QUERY),
    file: (file) => listBridges(file, FIRST_PAGE),
  })
  const rows = page.data.map((bridge) => [
    bridge.id,
    groupedNumber(bridge.phone_number),
    bridge.label,
    bridge.token_hint,
    timeCell(bridge.last_heard_at),
    bridge.revoked_at === null ? '' : 'removed',
  ])
  call.out.data(page, table(['ID', 'NUMBER', 'LABEL', 'TOKEN', 'LAST SEEN', 'STATE'], rows))
}

async function addIphone(call: Call): Promise<undefined> {
  const number = argument(call, 0)
  const label = call.options.get('label') ?? null
  const bridge = await throughRelayOrFile(call, {
    relay: (client) =>
      client.ask('POST /bridges', {
        body: { phone_number: number, ...(label === null ? {} : { label }) },
      }),
    file: (file) => createBridge(file, { number, label, origin: COMMAND_LINE }),
  })
  call.out.data(bridge, describeToken(bridge))
}

async function renewToken(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  const renewed = await throughRelayOrFile(call, {
    relay: (client) => client.ask('POST /bridges/:id/token', { id }),
    file: (file) => renewBridgeToken(file, id, COMMAND_LINE),
  })
  call.out.data(renewed, describeToken(renewed))
}

async function removeIphone(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  await throughRelayOrFile<unknown>(call, {
    relay: (client) => client.ask('DELETE /bridges/:id', { id }),
    file: (file) => removeBridge(file, id, COMMAND_LINE),
  })
  call.out.data({ id, deleted: true }, [`Removed ${id}.`])
}

function describeToken({ id, token }: BridgeToken): readonly string[] {
  return [
    ...fields([
      ['id', id],
      ['Authorization', `Bearer ${token}`],
    ]),
    "Save the token now. You won't see it again.",
  ]
}

async function printSetupLink(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const link = await client.ask('POST /setup-link', { body: {} })
  call.out.data(link, [link.url, ...(link.lan_url === null ? [] : [link.lan_url])])
  call.out.note('Valid once, for 30 minutes. Setting a password signs out every browser.')
}
