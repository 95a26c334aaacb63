// A relay to measure: the built executable, on the core that serves, with simulated lines.

import type { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { openDatabase, type Db } from '../../src/storage/database.ts'
import { VERSION } from '../../src/system/version.ts'
import { eventually } from '../../test/support/eventually.ts'
import { hookline } from '../../test/support/executable.ts'
import { ApiClient, RelayProcess, type ApiKey } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { httpRequest } from './load.ts'

export type Line = { readonly id: string; readonly status: string }

export type BenchRelay = {
  readonly relay: RelayProcess
  readonly api: ApiClient
  readonly key: ApiKey
  readonly lines: readonly Line[]
}

/** What every measured relay is started with: two lines, whose people answer at once. */
const ENVIRONMENT = { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_SIMULATED_DELAY_MS: '0' }

export async function startBenchRelay(dataDir: string): Promise<BenchRelay> {
  const key = await createKey(dataDir)
  const relay = await RelayProcess.start({ dataDir, under: UNDER, environment: ENVIRONMENT })
  const api = new ApiClient(() => relay.url, key)
  const lines = await eventually('both lines are online', async () => {
    const { data } = await api.ask<{ data: readonly Line[] }>('GET', '/api/v1/phone-lines')
    const online = data.filter((line) => line.status === 'online')
    return online.length === 2 ? online : null
  })
  for (const { id } of lines) {
    await api.ask('PATCH', `/api/v1/phone-lines/${id}`, { daily_contact_limit: 100_000 })
  }
  return { relay, api, key, lines }
}

/** By the executable: an older one can't open a database that these sources made. */
async function createKey(dataDir: string): Promise<ApiKey> {
  const create = ['keys', 'create', '--name', 'bench', '--json', '--data-dir', dataDir]
  const { exitCode, stdout } = await hookline(create)
  if (exitCode !== 0) throw new Error(`No key could be made: ${stdout}`)
  return JSON.parse(stdout) as ApiKey // What `POST /keys` answers.
}

/**
 * A send with its own text and idempotency key, to one of a thousand people, over both lines. Numbers
 * that end in 0190 to 0197 behave specially, so these end in 1000 and up.
 */
export function sendRequest({ key, lines }: BenchRelay, number: number): string {
  const to = `+1202558${1_000 + (number % 1_000)}`
  const line = lines[number % lines.length]?.id
  const body = JSON.stringify({ to, text: `Your table ${number} is ready.`, phone_line_id: line })
  return httpRequest(
    'POST',
    '/api/v1/messages/send',
    {
      'X-API-Key': key.key,
      'X-API-Secret': key.secret,
      'Idempotency-Key': `bench-${process.pid}-${number}`,
      'Content-Type': 'application/json',
    },
    body,
  )
}

/** Resident memory of a process in megabytes. */
export async function residentMb(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1_024
}

/** Lets `work` write into the database of a relay that does not run. */
export function withDatabase<T>(dataDir: string, work: (sqlite: Database, db: Db) => T): T {
  const { db } = openDatabase(join(dataDir, 'hookline.db'), { version: VERSION })
  try {
    return work(db.sqlite, db)
  } finally {
    db.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    db.sqlite.close()
  }
}
