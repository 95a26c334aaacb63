import type { AuditEntry } from '../api/audit.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../domain/audit.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { listAudit } from '../storage/audit.ts'
import { systemClock } from '../system/clock.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'
import { UsageError, numberOption, type Call, type Command } from './command.ts'
import { throughRelayOrFile } from './own-file.ts'
import { table } from './table.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const AUDIT_COMMAND: Command = {
  name: 'audit',
  options: [
    {
      name: 'since',
      value: 'TIME',
      sentence: 'Only changes since then: 2026-11-21T10:00:00Z, or 30m, 12h, 7d ago.',
    },
    {
      name: 'limit',
      value: 'N',
      sentence: `Maximum number of entries (default ${LIMIT_DEFAULT}).`,
    },
    { name: 'action', value: 'NAME', sentence: 'Only this action, for example webhook.changed.' },
    {
      name: 'actor',
      value: 'NAME',
      sentence: 'Only by this key or session id, or cli, or dashboard.',
    },
  ],
  sentence: 'Show the audit log: who changed what, and from where. Kept for 400 days.',
  run: list,
}

async function list(call: Call): Promise<undefined> {
  const filter = { since: sinceOf(call), action: actionOf(call), actor: call.options.get('actor') }
  const limit = numberOption(call, 'limit', { fallback: LIMIT_DEFAULT, max: LIMIT_MAX })
  const page = await throughRelayOrFile(call, {
    relay: (client) => client.ask('GET /audit', { query: queryOf({ ...filter, limit }) }),
    file: ({ db }) => listAudit(db, filter, { limit, cursor: null }),
  })
  call.out.data(
    page,
    table(['TIME', 'ACTION', 'SUBJECT', 'ACTOR', 'ADDRESS', 'CHANGE'], page.data.map(rowOf)),
  )
  if (page.data.length === 0) call.out.note('No changes found.')
  if (page.has_more) call.out.note('More entries exist. Show more with --limit.')
}

function rowOf(entry: AuditEntry): readonly (string | null)[] {
  const { action, about, actor, address, count } = entry
  const times = count === 1 ? '' : ` (${count} times)`
  const what = action + times
  return [
    entry.last_at,
    what,
    about.id ?? about.kind,
    actor.id ?? actor.kind,
    address,
    changeIn(entry),
  ]
}

/** `url: https://a → https://b`; a created or deleted subject has only one value. */
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

function queryOf(values: {
  readonly since: Timestamp | undefined
  readonly action: AuditAction | undefined
  readonly actor: string | undefined
  readonly limit: number
}): Readonly<Record<string, string>> {
  const { since, action, actor, limit } = values
  return {
    limit: String(limit),
    ...(since === undefined ? {} : { since: isoTime(since) }),
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
  }
}

function sinceOf(call: Call): Timestamp | undefined {
  const text = call.options.get('since')
  if (text === undefined) return undefined
  const [, count, unit] = /^([0-9]{1,5})([mhd])$/.exec(text) ?? []
  if (count !== undefined && (unit === 'm' || unit === 'h' || unit === 'd')) {
    return timestamp(systemClock.now() - Number(count) * UNITS_MS[unit])
  }
  const time = parseIsoTime(text)
  if (time !== null) return time
  throw new UsageError(
    '--since must be a time such as 2026-11-21T10:00:00Z, or an age such as 30m, 12h or 7d.',
  )
}

function actionOf(call: Call): AuditAction | undefined {
  const text = call.options.get('action')
  const action = AUDIT_ACTIONS.find((name) => name === text)
  if (text === undefined || action !== undefined) return action
  throw new UsageError(`--action must be one of: ${AUDIT_ACTIONS.join(', ')}.`)
}
