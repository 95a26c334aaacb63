// `hookline support`: one file about this installation for people who help. It contains only what is known to be
// harmless: states, codes, ids, versions, counts and sizes. Nothing else is searched for secrets; it is left out.

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import { join, resolve } from 'node:path'

import { timestamp } from '../domain/ids.ts'
import { SECOND_MS } from '../domain/time.ts'
import { listBackups, timeForName } from '../storage/backup.ts'
import { openRaw } from '../storage/database.ts'
import { MIGRATIONS, readSchemaState } from '../storage/migrations.ts'
import { systemClock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { freeBytes } from '../system/files.ts'
import { isoTime } from '../system/iso-time.ts'
import { VERSION } from '../system/version.ts'
import type { ControlClient } from './control-client.ts'
import { entryOf, logOf, type ServiceCall } from './service.ts'
import { reportOf, type RelayReport } from './status.ts'

const REQUEST = { timeoutMs: 15 * SECOND_MS }

export async function writeBundle(service: ServiceCall): Promise<undefined> {
  const { call } = service
  const name = `hookline-support-${timeForName(systemClock.now())}.json`
  const path = resolve(call.surroundings.folder, call.options.get('to') ?? name)
  const bundle = await call.out.during('Collecting', bundleOf(service))
  writeFileSync(path, `${JSON.stringify(bundle, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
  call.out.data({ path }, [path])
  call.out.note(
    'It has no texts, names, numbers, addresses or secrets. Read it before you share it.',
  )
}

async function bundleOf(service: ServiceCall) {
  const { call, host, directory, client, signal } = service
  const state = await host.state(signal)
  const report = await reportOf(client, directory)
  const options = report === null ? null : await client.find('listOptions', REQUEST)
  const log = await (await logOf(service)).newest(300, signal).catch(() => [])
  return {
    created_at: isoTime(timestamp(systemClock.now())),
    versions: {
      hookline: VERSION,
      relay: report?.version ?? null,
      schema: MIGRATIONS.length,
      database: schemaOf(directory),
      bun: Bun.version,
      system: `${platform()} ${release()} ${arch()}`,
    },
    relay: { phase: report?.phase ?? 'not running', since: report?.since ?? null },
    service: { kind: host.name, is_installed: state.isInstalled, activity: state.activity },
    ...(report === null ? {} : await factsOf(client, report)),
    options: (options?.data ?? call.loadConfig().rows).map(({ name, value, from }) => {
      return { name, value: SHOWN_VALUE.test(value) ? value : '(not shown)', from }
    }),
    sizes: sizesOf(directory),
    log: log.map(harmlessEntry),
  }
}

const FINDING = ['code', 'severity', 'line_id', 'since', 'depends_on']
const LINE = ['id', 'driver', 'status', 'status_reason', 'imessage_active', 'daily_contact_limit']
const LINE_MORE = ['new_contacts_today', 'is_enabled', 'relay_sms', 'relay_groups', 'capabilities']
const WEBHOOK = ['id', 'events', 'is_active', 'is_failing', 'disabled_reason', 'created_at']
const DAY = ['date', 'sent', 'received', 'failed', 'uncertain']

async function factsOf(client: ControlClient, { lines, findings }: RelayReport) {
  const webhooks = await client.find('listWebhooks', REQUEST)
  const stats = await client.find('getStats', REQUEST)
  return {
    findings: findings.map((one) => ({
      ...picked(one, FINDING),
      about: picked(one.about, ['kind']),
    })),
    lines: lines.map((line) => picked(line, [...LINE, ...LINE_MORE])),
    webhooks: webhooks?.data.map((webhook) => picked(webhook, WEBHOOK)) ?? null,
    days: stats?.data.map((day) => picked(day, DAY)) ?? null,
  }
}

function picked(from: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
}

function schemaOf({ database }: DataDirectory): number | null {
  if (!existsSync(database)) return null
  using raw = openRaw(database, 'read')
  return readSchemaState(raw).version
}

function sizesOf({ path, database, attachments, backups }: DataDirectory) {
  const files = existsSync(attachments) ? readdirSync(attachments, { recursive: true }) : []
  const sizes = files.map((name) => sizeOf(join(attachments, String(name))))
  return {
    database: sizeOf(database),
    write_ahead_log: sizeOf(`${database}-wal`),
    attachments: sizes.reduce((sum, size) => sum + size, 0),
    attachment_files: files.length,
    backups: listBackups(backups).map(({ kind, createdAt, sizeBytes }) => {
      return { kind, created_at: isoTime(timestamp(createdAt)), size: sizeBytes }
    }),
    free: existsSync(path) ? freeBytes(path) : null,
  }
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.size : 0
}

/** Values that can't be a name, a place or a secret. */
const SHOWN_VALUE = /^(true|false|auto|on|off|[0-9]{1,6}|127\.0\.0\.1|0\.0\.0\.0|::1?)$/
/** Fields of log lines that hold codes or ids, and the forms of codes and ids. */
const CODE_FIELD = /^(code|reason|status|kind|event|driver|stage|service|method|why)$|(^id|Id|_id)$/
const CODE = /^([a-z][a-z_.]{0,40}|[A-Z][A-Z_]{1,40}|[a-z]{2,4}_[0-9a-z]{26})$/
/** A number above this may be a phone number. */
const NUMBER_MAX = 1_000_000

/** Keeps the constant message, codes, ids and small numbers of a log line. */
function harmlessEntry(line: string): object {
  const entry = entryOf(line)
  if (entry['time'] === undefined) return { left_out: 'a line that is not JSON' }
  const { time, level, message, ...more } = entry
  return { time, level, message, ...harmless(more) }
}

function harmless(fields: object): object {
  const kept = Object.entries(fields).filter(([name, value]: [string, unknown]) => {
    if (typeof value === 'number') return Math.abs(value) < NUMBER_MAX
    return typeof value === 'string'
      ? CODE_FIELD.test(name) && CODE.test(value)
      : typeof value === 'boolean'
  })
  const { error } = { error: null, ...fields }
  const isFailure = typeof error === 'object' && error !== null
  return {
    ...Object.fromEntries(kept),
    ...(isFailure && { error: { ...harmless(error), at: framesOf(error) } }),
  }
}

/** Such as `hookline:123:45` for each frame of a stack, without its folder. */
function framesOf(error: object): readonly string[] {
  const stack: readonly unknown[] =
    'stack' in error && Array.isArray(error.stack) ? error.stack : []
  return stack.flatMap((frame) => /[\w.-]+:\d+:\d+(?=\)?$)/.exec(String(frame))?.[0] ?? [])
}
