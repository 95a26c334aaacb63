// All that an upgrade does while the old relay still runs: whatever fails here changes nothing.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { dailyBackup } from '../storage/backup.ts'
import { takeSnapshot } from '../storage/snapshot.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import type { MinisignKey } from '../system/minisign.ts'
import { hashFile } from './installation.ts'
import { toldBy, tryTool, useTool } from './system-tool.ts'
import {
  aboutExecutable,
  copyExecutable,
  publishedSum,
  signatureProblem,
  type About,
  type PublishedSum,
} from './upgrade-file.ts'
import type { Refused, UpgradeOrder, UpgradeStep, UpgradeTools } from './upgrade-order.ts'
import { clearStaged, swapPathsOf, type SwapPaths } from './upgrade-swap.ts'

export type Prepared = {
  readonly paths: SwapPaths
  /** Null where the old executable could not say. */
  readonly old: About | null
  readonly next: About
  /** Whether the new executable lies in its place already. */
  readonly isInPlace: boolean
  readonly backup: string | null
  /** How long the database took to be copied, migrated and checked; a start takes about as long. */
  readonly checkedMs: number
}

const CODESIGN = '/usr/bin/codesign'
/** For a database of a hundred gigabytes. */
const CHECK_MS_MAX = 3_600_000
/** How the copy ends on which migrations are tried. */
const TRIAL = '.trial'

const UNVERIFIED = 'If you trust where it came from: --unverified takes it as it is.'

const FOREGROUND =
  'A relay is running in the foreground, and is no service: stop it by Ctrl-C where it runs, upgrade, ' +
  'and start it again.'

/** Copies, verifies and asks the new executable, backs up, and has the migrations tried on the copy. */
export async function* prepareUpgrade(
  tools: UpgradeTools,
  order: UpgradeOrder,
): AsyncGenerator<UpgradeStep, Prepared | Refused> {
  const { run, signal, directory } = tools
  const paths = swapPathsOf(order.executable)
  clearStaged(paths)
  clearTrials(directory)
  if (tools.service === null && (await tools.relay.state()).is !== 'absent') return no(FOREGROUND)

  const sum = copyExecutable(order.file, paths.staged)
  yield 'staged'
  const doubt = doubtOf(tools, order, sum)
  if (doubt !== null) return no(doubt)
  if (tools.isSignedHere) await sign(tools, paths.staged)
  const next = await aboutExecutable(run, paths.staged, signal)
  if (next === null) return no(`${order.file} is no Hookline for this machine.`)
  yield 'verified'

  const startedAt = tools.clock.monotonic()
  const backup = backUp(tools)
  yield 'backed_up'
  const problem = backup === null ? null : await tryMigrations(tools, paths.staged, backup)
  if (problem !== null) return no(`The new version cannot use the database: ${problem}`)
  yield 'migrations_checked'

  const isInPlace = (await hashFile(paths.staged)) === (await hashFile(paths.current))
  // After an upgrade that broke off behind the exchange, the old one is the one that was kept.
  const old = await aboutExecutable(run, isInPlace ? paths.previous : paths.current, signal)
  if (signal.aborted) return no('It was interrupted.')
  return { paths, old, next, isInPlace, backup, checkedMs: tools.clock.monotonic() - startedAt }
}

/** The path of the copy on which migrations are tried. */
export function trialPath(backup: string): string {
  return `${backup}${TRIAL}`
}

function no(why: string): Refused {
  return { outcome: 'refused', why }
}

/** Explains why the file may not be what Hookline released; null where it is, or need not be proven. */
function doubtOf(
  { releaseKey }: UpgradeTools,
  { file, isUnverified }: UpgradeOrder,
  sum: string,
): string | null {
  const published = publishedSum(file)
  if (published !== null && published.sum !== sum) {
    return `${file} is not what was published: its SHA-256 is ${sum}, and should be ${published.sum}.`
  }
  if (isUnverified) return null
  const problem = releaseProblem(file, published, releaseKey)
  return problem === null ? null : `${problem} ${UNVERIFIED}`
}

function releaseProblem(
  file: string,
  published: PublishedSum | null,
  releaseKey: MinisignKey | null,
): string | null {
  if (published === null) {
    return (
      `Nothing says what ${file} should be: neither ${file}.sha256 nor a SHA256SUMS beside it has a ` +
      'line with its name.'
    )
  }
  if (releaseKey === null) {
    return 'This Hookline was built without a release key, so it cannot tell who made the file.'
  }
  return signatureProblem(published, releaseKey)
}

async function sign({ run, signal }: UpgradeTools, path: string): Promise<void> {
  const args = ['--force', '--sign', '-', path]
  await useTool(run, { path: CODESIGN, args, purpose: 'sign the new executable' }, signal)
}

/** A verified copy among the daily ones. It only reads, so a relay may run, or be in safe mode. */
function backUp({ directory, clock }: UpgradeTools): string | null {
  if (!existsSync(directory.database)) return null
  return takeSnapshot(dailyBackup(directory, clock.now())).path
}

/** What the new executable finds wrong when it migrates a copy of `backup`; null where it finds nothing. */
async function tryMigrations(
  { run, signal }: UpgradeTools,
  executable: string,
  backup: string,
): Promise<string | null> {
  const args = ['check-migrations', backup]
  const order = { path: executable, args, timeoutMs: CHECK_MS_MAX }
  const answer = await tryTool(run, order, signal)
  if (answer === null) return signal.aborted ? 'it was interrupted.' : 'it gave no answer.'
  return answer.exitCode === 0 ? null : toldBy(executable, answer)
}

/** What was left by a check that did not come to its end. */
function clearTrials({ backups }: DataDirectory): void {
  if (!existsSync(backups)) return
  const left = readdirSync(backups).filter((name) => name.includes(TRIAL))
  for (const name of left) rmSync(join(backups, name), { force: true })
}
