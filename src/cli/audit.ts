import type { AuditEntry } from '../api/audit.ts'
import { AUDIT_ACTIONS } from '../domain/audit.ts'
import { filledPage } from '../domain/pages.ts'
import { isoTime } from '../system/iso-time.ts'
import { TIME_FORMS, type Call, type Command } from './command.ts'
import { throughRelayOrFile } from './own-file.ts'
import { table, timeCell } from './table.ts'

const LIMIT_DEFAULT = 50

export const AUDIT_COMMAND: Command = {
  name: 'audit',
  options: [
    { name: 'since', value: 'TIME', sentence: `Only changes since then: ${TIME_FORMS}.` },
    {
      name: 'limit',
      value: 'N',
      sentence: `Maximum number of entries (default ${LIMIT_DEFAULT}).`,
    },
    { name: 'action', value: 'NAME', sentence: 'Only this action, for example webhook.changed.' },
    {
      name: 'actor',
      value: 'NAME',
      sentence: 'Only by this id of a key, member or session, or cli, dashboard or member.',
    },
  ],
  sentence: 'Show the audit log: who changed what, and from where. Kept for 400 days.',
  run: list,
}

async function list(call: Call): Promise<undefined> {
  const filter = {
    since: call.options.time('since'),
    action: call.options.choice('action', AUDIT_ACTIONS),
    actor: call.options.get('actor'),
  }
  const limit = call.options.number('limit', { fallback: LIMIT_DEFAULT, max: 200 })
  const since = filter.since === undefined ? undefined : isoTime(filter.since)
  const query = { limit: String(limit), ...filter, since }
  const page = await throughRelayOrFile(call, {
    relay: (client) => client.ask('listAudit', { query }),
    async file({ db }) {
      const { listAudit } = await import('../storage/audit.ts')
      const first = listAudit(db, filter, { limit, cursor: null })
      return filledPage(first, limit, async (cursor, left) =>
        listAudit(db, filter, { limit: left, cursor }),
      )
    },
  })
  const head = ['TIME', 'ACTION', 'SUBJECT', 'ACTOR', 'ADDRESS', 'CHANGE']
  call.out.data(page, [table(head, page.data.map(rowOf))])
  if (page.data.length === 0) call.out.note('No changes found.')
  if (page.has_more) call.out.note('More entries exist. Show more with --limit.')
}

function rowOf(entry: AuditEntry) {
  const { action, about, actor, address, count } = entry
  return [
    timeCell(entry.last_at),
    count === 1 ? action : `${action} (${count} times)`,
    about.id ?? about.kind,
    actor.name ?? actor.id ?? actor.kind,
    address,
    changeIn(entry),
  ]
}

/** Such as `url: https://a → https://b`. A created or deleted subject has only one value. */
function changeIn({ before, after }: AuditEntry): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const value = (fields: AuditEntry['before'], name: string) => {
    const found = fields?.[name] ?? null
    return found === null ? null : String(found)
  }
  return [...names]
    .map((name) => [name, value(before, name), value(after, name)] as const)
    .filter(([, was, is]) => was !== null || is !== null)
    .map(([name, was, is]) => {
      if (before === null || after === null) return `${name}: ${was ?? is}`
      return `${name}: ${was ?? 'none'} → ${is ?? 'none'}`
    })
    .join('; ')
}
