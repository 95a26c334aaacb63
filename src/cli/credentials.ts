// Commands for whatever may talk to the relay: API keys, tokens of iPhones with Shortcuts, and the link
// that sets the dashboard's password.

import type { Bridge, BridgeToken, CreatedBridge } from '../api/bridges.ts'
import type * as api from '../api/keys.ts'
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
import { rowOf, textOf } from './answers.ts'
import { EXIT, argument, type Call, type Command, type ExitCode } from './command.ts'
import type { Method } from './control-client.ts'
import { runningRelay, throughRelayOrFile, type OwnFile } from './own-file.ts'
import { fields, table, timeCell } from './table.ts'

const BRIDGE = [{ name: 'ID', ids: 'bridges' }] as const
const FIRST_PAGE = { limit: 200, cursor: null }

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: 'keys create',
    args: [],
    options: [{ name: 'name', value: 'NAME', sentence: 'A name for the key, such as its app.' }],
    sentence: 'Create an API key. Its secret is shown only once.',
    run: createApiKey,
  },
  {
    name: 'keys list',
    args: [],
    options: [],
    sentence: 'List API keys, including revoked ones.',
    run: listApiKeys,
  },
  {
    name: 'keys revoke',
    args: [{ name: 'ID', ids: 'keys' }],
    options: [],
    sentence: 'Revoke an API key permanently. Takes effect at once.',
    run: revokeApiKey,
  },
]

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: 'bridges list',
    args: [],
    options: [],
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
    options: [],
    sentence: 'Create a new token for an iPhone. The old one stops working at once.',
    run: renewToken,
  },
  {
    name: 'bridges remove',
    args: BRIDGE,
    options: [],
    sentence: 'Remove an iPhone Shortcuts line permanently.',
    run: removeIphone,
  },
]

export const SETUP_LINK_COMMAND: Command = {
  name: 'setup-link',
  args: [],
  options: [],
  sentence: 'Print a one-time link to set or reset the dashboard password.',
  run: printSetupLink,
}

/** Rows that show a new key and the headers it goes into. */
export function describeNewKey(key: Pick<api.CreatedKey, 'id' | 'key' | 'secret'>): string[] {
  return [
    ...fields([
      ['id', key.id],
      ['X-API-Key', key.key],
      ['X-API-Secret', key.secret],
    ]),
    "Save the secret now. You won't see it again.",
  ]
}

async function createApiKey(call: Call): Promise<ExitCode> {
  const name = call.options.get('name') ?? null
  const key = await request<api.CreatedKey>(call, {
    relay: ['POST', '/keys', name === null ? {} : { name }],
    file: (file) => createKey(file, { name, origin: COMMAND_LINE }),
  })
  call.out.data(key, describeNewKey(key))
  return EXIT.ok
}

async function listApiKeys(call: Call): Promise<ExitCode> {
  const page = await request<{ readonly data: readonly api.Key[] }>(call, {
    relay: ['GET', `/keys?limit=${FIRST_PAGE.limit}`],
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
  return EXIT.ok
}

async function revokeApiKey(call: Call): Promise<ExitCode> {
  const id = argument(call, 0)
  const answer = await request<api.RevokedKey>(call, {
    relay: ['DELETE', `/keys/${encodeURIComponent(id)}`],
    file: (file) => revokeKey(file, id, COMMAND_LINE),
  })
  const { created } = answer
  call.out.data(answer, [`Revoked ${answer.id}.`])
  if (created !== undefined) {
    const ids = [...created.keys, ...created.webhooks, ...created.bridges]
    call.out.note(`Created with this key and still active: ${ids.join(', ')}`)
  }
  return EXIT.ok
}

async function listIphones(call: Call): Promise<ExitCode> {
  const page = await request<{ readonly data: readonly Bridge[] }>(call, {
    relay: ['GET', `/bridges?limit=${FIRST_PAGE.limit}`],
    file: (file) => listBridges(file, FIRST_PAGE),
  })
  const rows = page.data.map((bridge) => [
    bridge.id,
    bridge.phone_number,
    bridge.label,
    bridge.token_hint,
    timeCell(bridge.last_heard_at),
    bridge.revoked_at === null ? '' : 'removed',
  ])
  call.out.data(page, table(['ID', 'NUMBER', 'LABEL', 'TOKEN', 'LAST SEEN', 'STATE'], rows))
  return EXIT.ok
}

async function addIphone(call: Call): Promise<ExitCode> {
  const number = argument(call, 0)
  const label = call.options.get('label') ?? null
  const bridge = await request<CreatedBridge>(call, {
    relay: ['POST', '/bridges', { phone_number: number, ...(label === null ? {} : { label }) }],
    file: (file) => createBridge(file, { number, label, origin: COMMAND_LINE }),
  })
  call.out.data(bridge, describeToken(bridge))
  return EXIT.ok
}

async function renewToken(call: Call): Promise<ExitCode> {
  const id = argument(call, 0)
  const renewed = await request<BridgeToken>(call, {
    relay: ['POST', `/bridges/${encodeURIComponent(id)}/token`],
    file: (file) => renewBridgeToken(file, id, COMMAND_LINE),
  })
  call.out.data(renewed, describeToken(renewed))
  return EXIT.ok
}

async function removeIphone(call: Call): Promise<ExitCode> {
  const id = argument(call, 0)
  await request<unknown>(call, {
    relay: ['DELETE', `/bridges/${encodeURIComponent(id)}`],
    file: (file) => removeBridge(file, id, COMMAND_LINE),
  })
  call.out.data({ id, deleted: true }, [`Removed ${id}.`])
  return EXIT.ok
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

async function printSetupLink(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const { body } = await client.ask('POST', '/setup-link', { body: {} })
  const link = rowOf(body)
  const addresses = [textOf(link, 'url'), textOf(link, 'lan_url')].filter((url) => url !== '')
  call.out.data(body, addresses)
  call.out.note('Valid once, for 30 minutes. Setting a password signs out every browser.')
  return EXIT.ok
}

/** One request of the API: to the relay where one runs, else on the file itself. */
function request<T>(
  call: Call,
  ways: {
    readonly relay: readonly [method: Method, path: string, body?: unknown]
    readonly file: (file: OwnFile) => Promise<T> | T
  },
): Promise<T> {
  const [method, path, body] = ways.relay
  return throughRelayOrFile<T>(call, {
    // The relay's own schema has checked the answer.
    relay: async (client) => (await client.ask(method, path, { body })).body as T,
    file: ways.file,
  })
}
