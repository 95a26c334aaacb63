// Commands for members: people who read and answer in the dashboard.

import type { InvitedMember } from '../api/owner.ts'
import { argument, idIn, type Call, type Command } from './command.ts'
import { askRelay, byId, calling } from './own-file.ts'
import { stateCell, table, timeCell } from './table.ts'

const ID = [{ name: 'ID', ids: 'members' }] as const

const SITES = {
  name: 'sites',
  value: 'LIST',
  ids: 'sites',
  sentence: 'The only sites whose lines they see.',
} as const

export const MEMBER_COMMANDS: readonly Command[] = [
  {
    name: 'members list',
    short: 'members',
    sentence: 'List the people who answer in the dashboard. Short: members.',
    run: list,
  },
  {
    name: 'members add',
    args: [{ name: 'NAME' }],
    options: [SITES],
    sentence: 'Let a person read and answer in the dashboard. Prints the link to sign in.',
    run: async (call) =>
      printLink(
        call,
        await askRelay(call, 'createMember', {
          body: { name: argument(call, 0), site_ids: sitesIn(call) },
        }),
      ),
  },
  {
    name: 'members limit',
    args: ID,
    options: [SITES],
    sentence: 'Limit a person to the lines of some sites; without --sites, lift the limit.',
    run: calling(
      'updateMember',
      (call) => [{ params: idIn(call), body: { site_ids: sitesIn(call) ?? null } }],
      ({ name, site_ids: sites }) => [`${name} sees ${sites ? sites.join(', ') : 'every line'}.`],
    ),
  },
  {
    name: 'members link',
    args: ID,
    sentence: 'Print a new one-time link with which a person chooses a new password.',
    run: async (call) =>
      printLink(call, await askRelay(call, 'renewMemberLink', { params: idIn(call), body: {} })),
  },
  {
    name: 'members remove',
    args: ID,
    sentence: 'Remove a person, who is signed out at once.',
    run: calling('deleteMember', byId, (_, call) => [`Removed ${argument(call, 0)}.`]),
  },
]

function sitesIn({ options }: Call): string[] | undefined {
  return options.get('sites')?.split(',')
}

async function list(call: Call): Promise<undefined> {
  const page = await askRelay(call, 'listMembers')
  const rows = page.data.map((member) => [
    member.id,
    member.name,
    timeCell(member.created_at),
    timeCell(member.last_seen_at),
    member.has_password ? '' : stateCell('invited'),
  ])
  const head = ['ID', 'NAME', 'CREATED', 'LAST SEEN', 'STATE']
  call.out.data(page, [table(head, rows, ['CREATED'])])
  if (rows.length === 0)
    call.out.note('Only you can sign in. Add a person: hookline members add NAME')
}

function printLink(call: Call, invited: InvitedMember): undefined {
  const { url, lan_url: lanUrl } = invited.link
  const undo = `The link was made, and nobody has it. Make another: hookline members link ${invited.id}`
  call.out.data(invited, [url, ...(lanUrl === null ? [] : [lanUrl])], undo)
  call.out.note(`For ${invited.name}: valid once, for three days.`)
}
