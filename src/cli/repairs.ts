// `hookline doctor --fix`: repairs files and the service. No repair touches a message.

import { chmodSync, existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { readInstallation } from '../hosting/installation.ts'
import { systemClock, whenAborted } from '../system/clock.ts'
import { HeldElsewhereError, LockFileError, takeInstanceLock } from '../system/instance-lock.ts'
import { UsageError } from './command.ts'
import { typedLines } from './mac.ts'
import { writeLogLine } from './output.ts'
import type { ServiceCall } from './service.ts'
import { bringUp } from './status.ts'
import { row, stateCell, type Line } from './table.ts'

type Repair = {
  readonly problem: string
  /** Such as "delete it". */
  readonly act: string
  readonly run: () => Promise<unknown> | void
}

/** The outcome of a repair; `error` is null if it worked. */
export type Repaired = Pick<Repair, 'problem' | 'act'> & { readonly error: string | null }

/** Asks at the terminal unless `--yes` is given, then repairs. */
export async function repair(service: ServiceCall): Promise<readonly Repaired[]> {
  const done: Repaired[] = []
  // Permissions come first: a data directory that other users can read can't be examined further.
  for (const find of [permissionRepairs, leftoverRepairs, serviceRepairs]) {
    for (const { run, ...one } of await agreed(service, await find(service))) {
      const error = await Promise.try(run).then(
        () => null,
        (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
      )
      done.push({ ...one, error })
    }
  }
  return done
}

export function repairLines(repaired?: readonly Repaired[]): readonly Line[] {
  if (repaired === undefined) return []
  if (repaired.length === 0) return ['Nothing was repaired.', '']
  const lines = repaired.map(({ problem, error }) =>
    row(stateCell(error === null ? 'fixed' : 'failed'), [problem, error ?? ''].join(' ').trimEnd()),
  )
  return [...lines, '']
}

async function agreed({ call, signal }: ServiceCall, repairs: readonly Repair[]) {
  if (repairs.length === 0 || call.options.has('yes')) return repairs
  for (const { problem, act } of repairs) writeLogLine(`${problem} Repair: ${act}.\n`)
  if (!call.surroundings.isTerminal) {
    throw new UsageError('--fix asks before it repairs. Without a terminal, add --yes.')
  }
  writeLogLine('Type "yes" and Enter to repair it: ')
  const typed = await Promise.race([typedLines().next(), whenAborted(signal)])
  return typed?.value?.trim().toLowerCase() === 'yes' ? repairs : []
}

/** A relay refuses a data directory that others can read or write. */
function permissionRepairs({ directory }: ServiceCall): readonly Repair[] {
  const { path, backups } = directory
  if (!isOpenToOthers(path)) return []
  const run = () => {
    for (const one of [path, ...filesIn(path), ...filesIn(backups)].filter(isOpenToOthers)) {
      chmodSync(one, lstatSync(one).mode & 0o700)
    }
  }
  return [{ problem: `Other users can read ${path}.`, act: 'close it to them', run }]
}

function filesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

function isOpenToOthers(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0
}

/** Files left by a relay that was killed, or by another program. */
async function leftoverRepairs({ directory, client }: ServiceCall): Promise<readonly Repair[]> {
  const { path, lock, controlSocket } = directory
  if (!existsSync(path) || (await client.isThere())) return []
  const act = 'delete it'
  try {
    takeInstanceLock(lock, { since: systemClock.now(), task: 'command', address: null }).release()
  } catch (error) {
    if (error instanceof HeldElsewhereError) return []
    if (!(error instanceof LockFileError)) throw error
    return [{ problem: `${lock} is no lock file.`, act, run: () => rmSync(lock) }]
  }
  if (!existsSync(controlSocket)) return []
  const problem = `${controlSocket} was left by a relay that no longer runs.`
  return [{ problem, act, run: () => rmSync(controlSocket) }]
}

/** Repairs a service of this executable that isn't installed as this version would, or doesn't run. */
async function serviceRepairs(service: ServiceCall): Promise<readonly Repair[]> {
  const { host, directory, executable, client, signal } = service
  const source = readInstallation(directory.path)?.source.path
  if (executable === null || source !== executable) return []
  const state = await host.state(signal)
  const isCurrent = await host.isCurrent(executable, directory.path, signal)
  const isStopped = state.activity === 'stopped'
  // A relay in the foreground runs instead of the service.
  if ((isCurrent && !isStopped) || (isStopped && (await client.isThere()))) return []
  const name = `The ${host.name}`
  const run = () => bringUp(service, state)
  if (!isCurrent) {
    const problem = `${name} is not as this version installs it.`
    return [{ problem, act: 'install it again', run }]
  }
  return [{ problem: `${name} is installed, and does not run.`, act: 'start it', run }]
}
