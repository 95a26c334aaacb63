// Commands for sites: lines in groups, such as those of one shop.

import type { SiteChanges } from '../api/sites.ts'
import { argument, idIn, requireChange, UsageError, type Call, type Command } from './command.ts'
import { askRelay, byId, calling } from './own-file.ts'
import { table } from './table.ts'

const SITE = { name: 'SITE', ids: 'sites' } as const
const ZONE = {
  name: 'time-zone',
  value: 'ZONE',
  sentence: 'Its time zone, as Europe/Berlin (default: that of the relay).',
} as const
const CHANGES = [{ name: 'name', value: 'NAME', sentence: 'Its new name.' }, ZONE] as const

export const SITE_COMMANDS: readonly Command[] = [
  {
    name: 'sites list',
    short: 'sites',
    sentence: 'List sites and their lines, in their order. Short: sites.',
    run: list,
  },
  {
    name: 'sites add',
    args: [{ name: 'NAME' }],
    options: [ZONE],
    sentence: 'Add a site: a group of lines with its own time zone.',
    run: calling(
      'createSite',
      (call) => [{ body: { name: argument(call, 0), time_zone: call.options.get('time-zone') } }],
      ({ id, name }) => [`Added ${name} (${id}). Give it lines: hookline sites assign LINE ${id}`],
    ),
  },
  {
    name: 'sites rename',
    args: [SITE],
    options: CHANGES,
    sentence: 'Change the name or the time zone of a site.',
    run: calling(
      'updateSite',
      (call) => [{ params: idIn(call), body: changesIn(call) }],
      ({ id, name, time_zone: zone }) => [`${id} is ${name}, in ${zone}.`],
    ),
  },
  {
    name: 'sites order',
    args: [SITE, { name: 'PLACE' }],
    sentence: 'Move a site to another place in the list; 1 is the first.',
    run: calling(
      'updateSite',
      (call) => [{ params: idIn(call), body: { position: placeIn(call) } }],
      ({ name, position }) => [`${name} is number ${position + 1}.`],
    ),
  },
  {
    name: 'sites remove',
    args: [SITE],
    sentence: 'Remove a site. Its lines stay, without a site.',
    run: calling('deleteSite', byId, (_, call) => [`Removed ${argument(call, 0)}.`]),
  },
  {
    name: 'sites assign',
    args: [
      { name: 'LINE', ids: 'lines' },
      { ...SITE, isOptional: true },
    ],
    sentence: 'Move a line, with its conversations, to a site; without SITE, out of its site.',
    run: calling(
      'updatePhoneLine',
      (call) => [{ params: idIn(call), body: { site_id: call.args[1] ?? null } }],
      ({ id, site_id: site }) => [`${id} is in ${site ?? 'no site'}.`],
    ),
  },
]

async function list(call: Call): Promise<undefined> {
  const page = await askRelay(call, 'listSites')
  const rows = page.data.map((site) => {
    const { id, name, time_zone: zone, phone_line_ids: lines } = site
    return [id, name, zone, String(lines.length)]
  })
  call.out.data(page, [table(['ID', 'NAME', 'TIME ZONE', 'LINES'], rows)])
  if (rows.length === 0) call.out.note('No sites yet. Add one: hookline sites add NAME')
}

function changesIn({ options }: Call): SiteChanges {
  const [name, time_zone] = [options.get('name'), options.get('time-zone')]
  const changes = { ...(name && { name }), ...(time_zone && { time_zone }) }
  requireChange(changes, CHANGES)
  return changes
}

function placeIn(call: Call): number {
  const place = Number(argument(call, 1))
  if (Number.isInteger(place) && place > 0) return place - 1
  throw new UsageError('PLACE must be a whole number from 1.')
}
