import type { Bridge, BridgeToken, CreatedBridge } from '../api/bridges.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { createBridge, listBridges, removeBridge, renewBridgeToken } from '../keys/bridges.ts'
import { EXIT, argument, type Call, type Command, type ExitCode } from './command.ts'
import { throughRelayOrFile } from './own-file.ts'
import { fields, table, timeCell } from './table.ts'

const LISTED_MAX = 200
const ID = [{ name: 'ID', ids: 'bridges' }] as const

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: 'bridges list',
    args: [],
    options: [],
    sentence: 'List the iPhones that are lines by Shortcuts, the removed ones too.',
    run: list,
  },
  {
    name: 'bridges add',
    args: [{ name: 'NUMBER' }],
    options: [{ name: 'label', value: 'NAME', sentence: 'What the iPhone is called.' }],
    sentence: 'Make an iPhone a line by Shortcuts; its token is shown this once.',
    run: add,
  },
  {
    name: 'bridges token',
    args: ID,
    options: [],
    sentence: 'Make a new token for an iPhone; the one before is dead at once.',
    run: renew,
  },
  {
    name: 'bridges remove',
    args: ID,
    options: [],
    sentence: 'Let an iPhone be a line by Shortcuts no more, at once and for good.',
    run: remove,
  },
]

async function list(call: Call): Promise<ExitCode> {
  const page = await throughRelayOrFile(call, {
    relay: async (client) => {
      const answer = await client.ask('GET', `/bridges?limit=${LISTED_MAX}`)
      return answer.body as { readonly data: readonly Bridge[] } // Checked by its schema.
    },
    file: (file) => listBridges(file, { limit: LISTED_MAX, cursor: null }),
  })
  const rows = page.data.map((bridge) => [
    bridge.id,
    bridge.phone_number,
    bridge.label,
    bridge.token_hint,
    timeCell(bridge.last_heard_at),
    bridge.revoked_at === null ? '' : 'removed',
  ])
  call.out.data(page, table(['ID', 'NUMBER', 'LABEL', 'TOKEN', 'LAST HEARD', 'STATE'], rows))
  return EXIT.ok
}

async function add(call: Call): Promise<ExitCode> {
  const number = argument(call, 0)
  const label = call.options.get('label') ?? null
  const bridge = await throughRelayOrFile(call, {
    relay: async (client) => {
      const named = label === null ? {} : { label }
      const answer = await client.ask('POST', '/bridges', {
        body: { phone_number: number, ...named },
      })
      return answer.body as CreatedBridge // The relay's own schema checked it.
    },
    file: (file) => createBridge(file, { number, label, origin: COMMAND_LINE }),
  })
  call.out.data(bridge, describeToken(bridge))
  return EXIT.ok
}

async function renew(call: Call): Promise<ExitCode> {
  const id = argument(call, 0)
  const renewed = await throughRelayOrFile(call, {
    relay: async (client) => {
      const path = `/bridges/${encodeURIComponent(id)}/token`
      const { body } = await client.ask('POST', path)
      return body as BridgeToken // Checked by its schema.
    },
    file: (file) => renewBridgeToken(file, id, COMMAND_LINE),
  })
  call.out.data(renewed, describeToken(renewed))
  return EXIT.ok
}

async function remove(call: Call): Promise<ExitCode> {
  const id = argument(call, 0)
  await throughRelayOrFile(call, {
    relay: async (client) => {
      await client.ask('DELETE', `/bridges/${encodeURIComponent(id)}`)
    },
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
    'The token is not shown again.',
  ]
}
