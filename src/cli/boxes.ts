// Commands for boxes, on the relay that is their head.

import type { BoxUpgrade } from '../api/boxes.ts'
import { argument, idIn, type Call, type Command } from './command.ts'
import { askRelay, calling } from './own-file.ts'
import { sizeCell, stateCell, table, timeCell } from './table.ts'

const BOX = { name: 'BOX', ids: 'boxes' } as const

/** The broker may take a while to start or to apply a change. */
const PATIENCE = { timeoutMs: 45_000 }

export const BOX_COMMANDS: readonly Command[] = [
  {
    name: 'boxes list',
    short: 'boxes',
    sentence: 'List the machines that have joined this relay. Short: boxes.',
    run: list,
  },
  {
    name: 'boxes add',
    args: [{ name: 'NAME' }],
    sentence: 'Invite a machine. Prints the command to run there.',
    run: add,
  },
  {
    name: 'boxes rename',
    args: [BOX, { name: 'NAME' }],
    sentence: 'Give a box another name.',
    run: calling(
      'renameBox',
      (call) => [{ params: idIn(call), body: { name: argument(call, 1) }, ...PATIENCE }],
      ({ name }) => [`Renamed to ${name}.`],
    ),
  },
  {
    name: 'boxes remove',
    args: [BOX],
    sentence: 'Remove a box, which is cut off at once. Its lines can continue on other machines.',
    run: remove,
  },
  {
    name: 'boxes config',
    sentence: 'Print the account of the relay and its boxes, for a NATS cluster of your own.',
    run: calling(
      'listBrokerUsers',
      () => [],
      ({ users }) => users.split('\n'),
    ),
  },
]

async function list(call: Call): Promise<undefined> {
  const boxes = await askRelay(call, 'listBoxes')
  const isUpgrading = boxes.data.some(({ upgrade }) => upgrade !== null)
  const rows = boxes.data.map((box) => [
    box.id,
    box.name,
    stateCell(box.status),
    box.status_reason,
    box.version,
    box.platform,
    box.free_bytes === null ? null : sizeCell(box.free_bytes),
    timeCell(box.last_heard_at),
    ...(isUpgrading ? [upgradeCell(box.upgrade)] : []),
  ])
  const upgrade = isUpgrading ? ['UPGRADE'] : []
  const facts = ['ID', 'NAME', 'STATUS', 'REASON', 'VERSION', 'PLATFORM', 'FREE', 'LAST HEARD']
  const head = [...facts, ...upgrade]
  call.out.data(boxes, [table(head, rows, ['PLATFORM', 'FREE'])])
  if (rows.length === 0) call.out.note('No boxes. Add a machine: hookline boxes add NAME')
}

/** Such as `installing 0.2.0` or `rolled back: …`. */
function upgradeCell(upgrade: BoxUpgrade | null): string | null {
  if (upgrade === null) return null
  const { state, to, problem } = upgrade
  const words = state.replace('_', ' ')
  return problem === null ? `${words} ${to}` : `${words}: ${problem}`
}

async function add(call: Call): Promise<undefined> {
  const name = argument(call, 0)
  const box = await askRelay(call, 'inviteBox', { body: { name }, ...PATIENCE })
  call.out.note(`Run this on ${name}:`)
  const undo = `The box was invited, and nobody has its command. Undo it: hookline boxes remove ${name}`
  call.out.data(box, [box.command], undo)
  if (box.needs_user) call.out.note('First add its user to your cluster: hookline boxes config')
  else call.out.note('It is good once, for 30 minutes.')
}

async function remove(call: Call): Promise<undefined> {
  const deleted = await askRelay(call, 'deleteBox', { params: idIn(call), ...PATIENCE })
  call.out.data(deleted, [`Removed ${argument(call, 0)}.`])
  call.out.note('On that machine: hookline service uninstall')
}
