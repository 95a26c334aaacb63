// `hookline serve`: opens the data, then runs the startup check and the relay, or safe mode if it can't.

import { existsSync } from 'node:fs'
import { homedir, platform } from 'node:os'

import type { RestoreOutcome } from '../api/owner.ts'
import { type App, createApp, listenInSafeMode } from '../app.ts'
import { type Config, optionsOf } from '../config.ts'
import { assert } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import { macLogPath } from '../hosting/launchd.ts'
import {
  StartupCheck,
  isWatched,
  needsStartupCheck,
  requestStartupCheck,
} from '../hosting/startup-check.ts'
import { UNIT } from '../hosting/systemd.ts'
import { RELEASE_KEY } from '../hosting/upgrade-executable.ts'
import { BackupWorker } from '../storage/backup.ts'
import {
  NotYetError,
  addressOf,
  openData,
  requireDatabase,
  startFailure,
  type Data,
} from '../storage/data.ts'
import { LostFileError } from '../storage/guard.ts'
import { UnusableDatabaseError, isUnusableDatabase } from '../storage/migrations.ts'
import { type RestoreWish, restoreBackup, undoRestore } from '../storage/restore.ts'
import { damageFound } from '../storage/sqlite-errors.ts'
import { NEVER, systemClock, whenAborted } from '../system/clock.ts'
import { type DataDirectory, dataDirectoryAt, openDataDirectory } from '../system/data-directory.ts'
import { HeldElsewhereError, takeInstanceLock } from '../system/instance-lock.ts'
import { type Log, jsonLog } from '../system/log.ts'
import { exitOnCrash, stopSignal } from '../system/own-process.ts'
import { systemRandom } from '../system/random.ts'
import { VERSION } from '../system/version.ts'
import { logMissingSetup, showBanner } from './banner.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { ControlClient } from './control-client.ts'
import { terminalLog, writeLogLine } from './output.ts'
import { holdUnlessRunning } from './own-file.ts'
import { hostedParts } from './service.ts'

type Start = {
  readonly call: Call
  readonly config: Config
  readonly log: Log
  readonly signal: AbortSignal
  /** True if a service manager restarts the relay, so that no person sees it exit. */
  readonly isHosted: boolean
  /** True if a database existed before: if it is missing now, it was lost. */
  readonly expectsDatabase: boolean
  /** The outcome of the restore that led to this start. */
  readonly restored: RestoreOutcome | null
  /** Takes that restore back; null once the relay has started on it. */
  undo: ((error: unknown) => Promise<Start>) | null
}

/** The longest wait for a command that holds the data directory for a moment. */
const PATIENCE_MS = 10_000
const SHORT_TASKS = ['command', 'upgrade']
const LOCK_POLL_MS = 50
const SAFE_MODE_POLL_MS = 2_000

const NEXT_STEP =
  'Install a matching version with "hookline upgrade --from FILE", or restore a backup with ' +
  '"hookline down", "hookline restore FILE" and "hookline up". "hookline backups" lists them.'

export async function serve(call: Call): Promise<ExitCode> {
  const { isTerminal, environment } = call.surroundings
  const { config } = call.loadConfig()
  const createLog = isTerminal ? terminalLog : jsonLog
  const log = createLog(writeLogLine, () => systemClock.now())
  exitOnCrash((message, error) => log.error(message, { error }))
  const isHosted = environment['HOOKLINE_SERVICE'] === '1'
  const expectsDatabase = environment['HOOKLINE_EXPECTS_DATABASE'] === '1'
  const signal = stopSignal()
  const facts = { call, config, log, signal, isHosted, expectsDatabase }
  let start: Start = { ...facts, restored: null, undo: null }
  for (;;) {
    const end = await serveOnce(start)
    if (typeof end === 'number') return end
    start = end
  }
}

/** Returns a start instead of an exit code if the relay can start now, or if its data were replaced. */
async function serveOnce(start: Start): Promise<ExitCode | Start> {
  const { call, config, log, signal, isHosted } = start
  try {
    return await serveRelay(start)
  } catch (error) {
    if (start.undo !== null) return start.undo(error)
    if (error instanceof NotYetError && isHosted) {
      await waitInSafeMode(start, error)
      return signal.aborted ? EXIT.ok : start
    }
    if (isHosted && error instanceof UnusableDatabaseError) return serveSafeMode(start, error)
    if (isHosted || !call.surroundings.isTerminal) log.error('the relay ends', { error })
    if (!isHosted || !leavesDataInDoubt(error)) throw error
    return endInDoubt(config)
  }
}

/** Exits so that the next process checks the database: this one's state is unknown. Exit code 78 prevents restarts. */
function endInDoubt({ dataDir }: Config): ExitCode {
  const directory = dataDirectoryAt(dataDir)
  if (existsSync(directory.database)) requestStartupCheck(directory)
  return EXIT.failed
}

function leavesDataInDoubt(error: unknown): boolean {
  return isUnusableDatabase(error) || error instanceof LostFileError
}

/** Throws an UnusableDatabaseError only if nothing runs and the data are closed. */
async function serveRelay(start: Start): Promise<ExitCode | Start> {
  const { call, config, log, signal, isHosted } = start
  const data = await openDataPatiently(start)
  const check =
    isHosted && needsStartupCheck(data)
      ? new StartupCheck(data, {
          clock: systemClock,
          log,
          assertIntact: () => new BackupWorker().assertIntact(data.directory.database),
          isWatched: () => isWatched(data.directory, systemClock.now()),
        })
      : null
  const restart = Promise.withResolvers<string>()
  const wanted = Promise.withResolvers<RestoreWish>()
  const parts = {
    log,
    data,
    options: call.loadConfig().rows,
    confirmHealthy: () => check?.confirmHealthy(),
    restore: wanted.resolve,
    releaseKey: RELEASE_KEY,
    logPlace: logPlace(start),
    ...(start.restored === null ? {} : { restored: start.restored }),
    ...(isHosted ? hostedParts(call, { log, restart: restart.resolve }) : {}),
  }
  const app = createAppFrom(data, () => createApp(config, parts))
  const url = await startApp(app, data, check?.run(signal)).catch(async (error: unknown) => {
    if (start.undo !== null) await app.stop().catch(() => {})
    throw error
  })
  start.undo = null
  if (!signal.aborted) {
    if (call.surroundings.isTerminal) await showBanner(call, app, { config, url })
    else logMissingSetup(app, log)
    call.out.data({ url }, [`hookline listening on ${url}`])
  }
  const end = await Promise.race([
    whenAborted(signal),
    wanted.promise,
    app.fatal.then((error) => ({ error })),
    restart.promise.then((why) => {
      log.warn('the relay restarts', { why })
      return null
    }),
  ])
  // A relay whose disk fails is in an unknown state, so it writes nothing more, not even to stop.
  if (end !== null && 'error' in end) {
    await app.abandon()
    throw end.error
  }
  await app.stop()
  return end === null
    ? EXIT.ok
    : restoreUploaded({ ...start, port: Number(new URL(url).port) }, end)
}

/** Replaces the data of the stopped relay. If anything fails, the next start uses the previous data. */
async function restoreUploaded(
  { port, ...start }: Start & { readonly port: number },
  { file, name, origin }: RestoreWish,
): Promise<Start> {
  const { call, log } = start
  const failed = (error: unknown): Start => {
    log.error('a backup could not be restored', { error })
    const problem = error instanceof Error ? error.message : String(error)
    return { ...start, config: { ...start.config, port }, restored: { name, problem }, undo: null }
  }
  const alone = async (work: (directory: DataDirectory) => Start): Promise<Start> => {
    const held = await holdUnlessRunning(call)
    assert(held !== null, 'the relay has stopped')
    try {
      return work(held.directory)
    } catch (error) {
      return failed(error)
    } finally {
      held.lock.release()
    }
  }
  return alone((directory) => {
    const order = { directory, file, name, origin, version: VERSION, options: optionsOf() }
    const restored = restoreBackup({ ...order, now: timestamp(systemClock.now()) })
    const undo = (error: unknown) =>
      alone(() => {
        undoRestore(directory, restored, systemClock.now())
        call.loadConfig(true)
        return failed(error)
      })
    log.info('a backup was restored', { name, aside: restored.aside })
    const count = restored.cameBack.length
    if (count > 0) log.warn('what was revoked since the backup may be valid again', { count })
    const config = { ...call.loadConfig(true).config, port }
    return { ...start, config, restored: { name, problem: null }, undo }
  })
}

/** Waits for a command to release the data directory; throws if another relay holds it. */
async function openDataPatiently({ config, log, ...start }: Start): Promise<Data> {
  const directory = dataDirectoryAt(config.dataDir)
  if (start.expectsDatabase) requireDatabase(directory)
  if (!existsSync(directory.lock)) await refuseBesideAnother(directory.controlSocket)
  const until = systemClock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      return openData(config, { clock: systemClock, random: systemRandom, log, version: VERSION })
    } catch (error) {
      const task = error instanceof HeldElsewhereError ? (error.holder?.task ?? '') : ''
      if (!SHORT_TASKS.includes(task) || systemClock.monotonic() > until) throw error
    }
    await systemClock.sleep(LOCK_POLL_MS, NEVER)
  }
}

/** Throws if a relay runs whose lock file was deleted. */
async function refuseBesideAnother(socket: string): Promise<void> {
  if (!(await new ControlClient(socket).isThere())) return
  throw new Error(
    `A relay is already running on ${socket}. Stop it first: hookline down, or Ctrl-C.`,
  )
}

/** Closes the data if building the app meets damage: nothing runs yet. */
function createAppFrom(data: Data, create: () => App): App {
  try {
    return create()
  } catch (error) {
    data.close()
    if (!isUnusableDatabase(error)) throw error
    const damage = damageFound(data.directory, error)
    throw new UnusableDatabaseError(damage.message, { cause: error })
  }
}

/** Starts the relay once its startup check, if any, has passed; returns its URL. */
async function startApp(
  app: App,
  { directory, migration }: Data,
  mayServe: Promise<boolean> | undefined,
): Promise<string> {
  if (mayServe === undefined) migration?.accept()
  try {
    return await app.start(mayServe)
  } catch (error) {
    // Here the error comes from the startup check, and only the listener runs.
    if (error instanceof UnusableDatabaseError) await app.stop()
    const failure = startFailure(directory, error)
    if (failure instanceof NotYetError) await app.stop()
    throw failure
  }
}

function logPlace({ call, isHosted }: Start): string {
  if (!isHosted) {
    return call.surroundings.isTerminal
      ? 'The terminal that runs the relay shows its warnings and errors.'
      : 'The whole log is the standard error of the relay.'
  }
  const isMac = platform() === 'darwin'
  return `The whole log: hookline logs, or ${isMac ? macLogPath(homedir()) : `journalctl --user --unit=${UNIT}`}`
}

/** Serves the reason until it is stopped, because a restart wouldn't help. */
async function serveSafeMode(start: Start, error: UnusableDatabaseError): Promise<ExitCode> {
  const { call, config, log, signal } = start
  const { lock: lockPath, controlSocket: path } = openDataDirectory(config.dataDir)
  const holder = { since: systemClock.now(), task: 'relay', address: addressOf(config) }
  const lock = takeInstanceLock(lockPath, holder)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  const reason = `${error.message}${cause}`
  log.error('safe mode: the database cannot be used', { error })
  const mode = { reason, nextStep: NEXT_STEP, code: 'starting' } as const
  const listener = listenInSafeMode(mode, { config, path, random: systemRandom, log })
  call.out.data({ url: listener.url, safe_mode: reason }, [
    `hookline in safe mode on ${listener.url}`,
  ])
  await whenAborted(signal)
  await listener.stop(0)
  lock.release()
  return EXIT.ok
}

/** Takes neither lock nor socket, because the data directory may be missing or full. */
async function waitInSafeMode(start: Start, error: NotYetError): Promise<void> {
  const { config, log, signal } = start
  log.error('safe mode: the relay cannot start yet', { error })
  const mode = { reason: error.message, nextStep: '', code: error.code }
  const listener = listenInSafeMode(mode, { config, path: null, random: systemRandom, log })
  while (!signal.aborted && !error.isOver()) await systemClock.sleep(SAFE_MODE_POLL_MS, signal)
  await listener.stop(0)
  if (!signal.aborted) log.info('safe mode is over: the relay can start')
}
