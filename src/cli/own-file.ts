// The ways in which commands reach the data: through the relay if one runs, else in the database file, which they lock.

import { existsSync } from 'node:fs'

import type { CallArguments } from '../api/client.ts'
import type { Answer, OperationId } from '../api/operations.ts'
import type { FileCore } from '../storage/core.ts'
import { NEVER, systemClock } from '../system/clock.ts'
import {
  dataDirectoryAt,
  openDataDirectory,
  refuseBox,
  type DataDirectory,
} from '../system/data-directory.ts'
import { HeldElsewhereError, takeInstanceLock } from '../system/instance-lock.ts'
import { silentLog } from '../system/log.ts'
import { LogicalClock } from '../system/logical-clock.ts'
import { systemRandom } from '../system/random.ts'
import { VERSION } from '../system/version.ts'
import { NoRelayError, idIn, type Call, type Command } from './command.ts'
import { ControlClient } from './control-client.ts'
import type { Line } from './table.ts'

/** The database in a data directory that this process has locked. */
export type OwnFile = FileCore & { readonly directory: DataDirectory }

/** The longest wait for a relay that is starting, or for another command. */
const PATIENCE_MS = 3_000
const POLL_MS = 50

/** Throws a NoRelayError if no relay runs. */
export async function runningRelay(call: Call): Promise<ControlClient> {
  refuseBox(dataDirectoryAt(call.loadConfig().config.dataDir))
  const client = clientOf(call)
  if (await client.isThere()) return client
  throw new NoRelayError(call.loadConfig().config.dataDir)
}

/** Throws a NoRelayError if no relay runs, and a RefusedError if it refuses. */
export async function askRelay<Id extends OperationId>(
  call: Call,
  id: Id,
  ...given: CallArguments<Id>
): Promise<Answer<Id>> {
  return (await runningRelay(call)).ask(id, ...given)
}

/** Makes the `run` of a command that makes one call and prints its answer. */
export function calling<Id extends OperationId>(
  id: Id,
  given: (call: Call) => CallArguments<Id>,
  linesOf: (answer: Answer<Id>, call: Call) => readonly Line[],
): Command['run'] {
  return async (call) => {
    const answer = await askRelay(call, id, ...given(call))
    call.out.data(answer, linesOf(answer, call))
    return undefined
  }
}

/** The arguments of a call whose only parameter is the id in the command's first argument. */
export function byId(call: Call): [{ readonly params: { readonly id: string } }] {
  return [{ params: idIn(call) }]
}

export async function throughRelayOrFile<T>(
  call: Call,
  ways: {
    readonly relay: (client: ControlClient) => Promise<T>
    readonly file: (file: OwnFile) => Promise<T> | T
  },
): Promise<T> {
  const client = clientOf(call)
  const held = await holdUnlessRunning(call, client)
  if (held === null) return ways.relay(client)
  try {
    return await withOwnFile(held.directory, ways.file)
  } finally {
    held.lock.release()
  }
}

export async function makeDatabase(call: Call): Promise<void> {
  const { database } = openDataDirectory(call.loadConfig().config.dataDir)
  if (existsSync(database)) return
  await throughRelayOrFile(call, { relay: async () => {}, file: () => {} })
}

/** Locks the data directory; returns null if a relay runs. */
export async function holdUnlessRunning(call: Call, client: ControlClient = clientOf(call)) {
  const directory = openDataDirectory(call.loadConfig().config.dataDir)
  refuseBox(directory)
  const until = systemClock.monotonic() + PATIENCE_MS
  for (;;) {
    if (await client.isThere()) return null
    const { finishExchange } = await import('../storage/restore.ts')
    try {
      const holder = { since: systemClock.now(), task: 'command', address: null }
      const lock = takeInstanceLock(directory.lock, holder)
      finishExchange(directory)
      return { directory, lock }
    } catch (error) {
      const isHeld = error instanceof HeldElsewhereError
      if (!isHeld || systemClock.monotonic() > until) throw error
    }
    await systemClock.sleep(POLL_MS, NEVER)
  }
}

async function withOwnFile<T>(directory: DataDirectory, work: (file: OwnFile) => Promise<T> | T) {
  const { createAudit } = await import('../storage/audit.ts')
  const { backUpBeforeMigration } = await import('../storage/backup.ts')
  const { closeDatabase, openDatabase } = await import('../storage/database.ts')
  const { Writer } = await import('../storage/writer.ts')
  const { db } = openDatabase(directory.database, {
    version: VERSION,
    backUp: backUpBeforeMigration(directory, systemClock.now()),
    backupsPath: directory.backups,
  })
  const writer = new Writer(db, () => {})
  try {
    const ids = new LogicalClock(systemClock, systemRandom, 0)
    // A command has no log; the audit trail records its change.
    const audit = createAudit({ writer, ids, log: silentLog })
    return await work({ directory, db, writer, ids, audit, random: systemRandom })
  } finally {
    writer.close()
    closeDatabase(db)
  }
}

/** The relay may not be running. */
export function clientOf(call: Call, headers: Readonly<Record<string, string>> = {}) {
  const { controlSocket } = dataDirectoryAt(call.loadConfig().config.dataDir)
  return new ControlClient(controlSocket, headers)
}
