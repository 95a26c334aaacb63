// Commands for the tokens of iPhones with Shortcuts.

import type { BridgeToken } from '../api/bridges.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { groupedNumber } from '../domain/handle.ts'
import { argument, type Call, type Command } from './command.ts'
import { FIRST_PAGE, FIRST_PAGE_QUERY } from './credentials.ts'
import { throughRelayOrFile } from './own-file.ts'
import { plainRecipient } from './recipient.ts'
import { fields, stateCell, table, timeCell, type Line } from './table.ts'

/** Loaded only if no relay runs, when the command opens the database itself. */
const stored = () => import('../keys/bridges.ts')

const BRIDGE = [{ name: 'ID', ids: 'bridges' }] as const

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: 'bridges list',
    short: 'bridges',
    sentence: 'List iPhone Shortcuts lines, including removed ones. Short: bridges.',
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

async function listIphones(call: Call): Promise<undefined> {
  const page = await throughRelayOrFile(call, {
    relay: (client) => client.ask('listBridges', FIRST_PAGE_QUERY),
    file: async (file) => (await stored()).listBridges(file.db, FIRST_PAGE),
  })
  const rows = page.data.map((bridge) => [
    bridge.id,
    groupedNumber(bridge.phone_number),
    bridge.label,
    bridge.token_hint,
    timeCell(bridge.last_heard_at),
    bridge.revoked_at === null ? '' : stateCell('removed'),
  ])
  const head = ['ID', 'NUMBER', 'LABEL', 'TOKEN', 'LAST SEEN', 'STATE']
  call.out.data(page, [table(head, rows, ['TOKEN', 'LABEL'])])
}

async function addIphone(call: Call): Promise<undefined> {
  const number = plainRecipient(argument(call, 0))
  const label = call.options.get('label') ?? null
  const bridge = await throughRelayOrFile(call, {
    relay: (client) =>
      client.ask('createBridge', { body: { phone_number: number, label: label ?? undefined } }),
    file: async (file) =>
      (await stored()).createBridge(file, { number, label, origin: COMMAND_LINE }),
  })
  call.out.data(bridge, describeToken(bridge), newTokenFor(bridge.id))
}

async function renewToken(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  const renewed = await throughRelayOrFile(call, {
    relay: (client) => client.ask('renewBridgeToken', { params: { id } }),
    file: async (file) => (await stored()).renewBridgeToken(file, id, COMMAND_LINE),
  })
  call.out.data(renewed, describeToken(renewed), newTokenFor(id))
}

function newTokenFor(id: string): string {
  return `The token was made, and nobody has it. Make another: hookline bridges token ${id}`
}

async function removeIphone(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  await throughRelayOrFile<unknown>(call, {
    relay: (client) => client.ask('deleteBridge', { params: { id } }),
    file: async (file) => (await stored()).removeBridge(file, id, COMMAND_LINE),
  })
  call.out.data({ id, deleted: true }, [`Removed ${id}.`])
}

function describeToken({ id, token }: BridgeToken): readonly Line[] {
  return [
    fields(Object.entries({ id, Authorization: `Bearer ${token}` })),
    "Save the token now. You won't see it again.",
  ]
}
