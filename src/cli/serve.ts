// `hookline serve`: opens the data, runs the startup check and the relay, or safe mode where it cannot.

import { existsSync, realpathSync } from 'node:fs'
import { homedir, platform, userInfo } from 'node:os'
import { relative } from 'node:path'

import type { Answers, Route } from '../api/routes.ts'
import { type App, createApp, listenInSafeMode } from '../app.ts'
import { type Config, optionsOf } from '../config.ts'
import type { OptionTable } from '../domain/option.ts'
import { HostChecks } from '../hosting/host-checks.ts'
import { macLogPath } from '../hosting/launchd.ts'
import { logRotation } from '../hosting/service-log.ts'
import { StartupCheck, needsStartupCheck, requestStartupCheck } from '../hosting/startup-check.ts'
import { NotYetError, openData, requireDatabase, startFailure, type Data } from '../storage/data.ts'
import { LostFileError } from '../storage/guard.ts'
import { UnusableDatabaseError, isUnusableDatabase } from '../storage/migrations.ts'
import { damageFound } from '../storage/sqlite-errors.ts'
import { NEVER, systemClock, whenAborted } from '../system/clock.ts'
import {
  dataDirectoryAt,
  defaultDataDirectory,
  openDataDirectory,
} from '../system/data-directory.ts'
import { HeldElsewhereError, takeInstanceLock } from '../system/instance-lock.ts'
import { type Log, jsonLog } from '../system/log.ts'
import { addressRanges } from '../system/network-address.ts'
import { exitOnCrash, ownExecutable, stopSignal } from '../system/own-process.ts'
import { processRunner } from '../system/process.ts'
import { systemRandom } from '../system/random.ts'
import { VERSION } from '../system/version.ts'
import { type Call, type Command, EXIT, type ExitCode } from './command.ts'
import { ControlClient } from './control-client.ts'
import { describeNewKey } from './credentials.ts'
import { terminalLog, writeLogLine } from './output.ts'
import { fields } from './table.ts'

export function serveCommand(table: OptionTable): Command {
  const { dataDir: _, ...flags } = table
  return {
    name: 'serve',
    options: Object.values(flags)
      .filter(({ isSecret }) => !isSecret)
      .map(({ name, kind, sentence }) => ({ name, value: kind.placeholder, sentence })),
    sentence: 'Run the relay in the foreground.',
    run: serve,
  }
}

export const SERVE_COMMAND = serveCommand(optionsOf())

type Start = {
  readonly call: Call
  readonly config: Config
  readonly log: Log
  readonly signal: AbortSignal
  /** True where a service manager restarts the relay, and its exit is seen by no person. */
  readonly isHosted: boolean
  /** True where a database existed before, so that a missing one is lost and not new. */
  readonly expectsDatabase: boolean
}

/** Wait for a command that holds the data directory for a moment. */
const PATIENCE_MS = 10_000
const SHORT_TASKS = ['command', 'upgrade']
const LOCK_POLL_MS = 50
const SAFE_MODE_POLL_MS = 2_000

const NEXT_STEP =
  'Install a matching version with "hookline upgrade --from FILE", or restore a backup with ' +
  '"hookline down", "hookline restore FILE" and "hookline up". "hookline backups" lists them.'

async function serve(call: Call): Promise<ExitCode> {
  const { isTerminal, environment } = call.surroundings
  const { config } = call.loadConfig()
  const createLog = isTerminal ? terminalLog : jsonLog
  const log = createLog(writeLogLine, () => systemClock.now())
  exitOnCrash((message, error) => log.error(message, { error }))
  const isHosted = ['HOOKLINE_SERVICE', 'HOOKLINE_JUDGED'].some((name) => environment[name] === '1')
  const expectsDatabase = environment['HOOKLINE_EXPECTS_DATABASE'] === '1'
  const start = { call, config, log, signal: stopSignal(), isHosted, expectsDatabase }
  for (;;) {
    const exitCode = await serveOnce(start)
    if (exitCode !== null) return exitCode
  }
}

/** Null where the relay could not start, and can now. */
async function serveOnce(start: Start): Promise<ExitCode | null> {
  const { call, config, log, signal, isHosted } = start
  try {
    return await serveRelay(start)
  } catch (error) {
    if (error instanceof NotYetError && isHosted) {
      await waitInSafeMode(start, error)
      return signal.aborted ? EXIT.ok : null
    }
    if (isHosted && error instanceof UnusableDatabaseError) return serveSafeMode(start, error)
    if (isHosted || !call.surroundings.isTerminal) log.error('the relay ends', { error })
    if (!isHosted || !leavesDataInDoubt(error)) throw error
    const directory = dataDirectoryAt(config.dataDir)
    if (existsSync(directory.database)) requestStartupCheck(directory)
    // This process is in an unknown state, and the next can check. After 78 nothing would restart it.
    return EXIT.failed
  }
}

function leavesDataInDoubt(error: unknown): boolean {
  return isUnusableDatabase(error) || error instanceof LostFileError
}

/** Throws an UnusableDatabaseError only where nothing runs and the data are closed. */
async function serveRelay(start: Start): Promise<ExitCode> {
  const { call, config, log, signal, isHosted } = start
  const data = await openDataPatiently(start)
  const check = isHosted && needsStartupCheck(data) ? new StartupCheck(data, { log }) : null
  const restart = Promise.withResolvers<string>()
  const parts = {
    log,
    data,
    options: call.loadConfig().rows,
    confirmHealthy: () => check?.confirmHealthy(),
    ...(isHosted ? hostedParts(config, { log, restart: restart.resolve }) : {}),
  }
  const app = createAppFrom(data, () => createApp(config, parts))
  const url = await startApp(app, data, check?.run(signal))
  if (!signal.aborted) {
    if (call.surroundings.isTerminal) await showBanner(call, app, { config, url })
    else await logMissingSetup(app, log)
    call.out.data({ url }, [`hookline listening on ${url}`])
  }
  const failure = await Promise.race([
    whenAborted(signal),
    app.fatal.then((error) => ({ error })),
    restart.promise.then((why) => {
      log.warn('the relay restarts', { why })
      return null
    }),
  ])
  // A relay whose disk fails is in an unknown state: it writes nothing any more, not even to stop.
  if (failure !== null) {
    await app.abandon()
    throw failure.error
  }
  await app.stop()
  return EXIT.ok
}

/** Waits for a command to release the data directory; another relay keeps it, which throws. */
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

/** A relay whose lock file was deleted still keeps its data directory. */
async function refuseBesideAnother(socket: string): Promise<void> {
  if (!(await new ControlClient(socket).isThere())) return
  throw new Error(
    `A relay is already running on ${socket}. Stop it first: hookline down, or Ctrl-C.`,
  )
}

/** Closes the data where building the app meets damage: nothing runs yet. */
function createAppFrom(data: Data, create: () => App): App {
  try {
    return create()
  } catch (error) {
    if (!isUnusableDatabase(error)) throw error
    data.close()
    const damage = damageFound(data.directory, error)
    throw new UnusableDatabaseError(damage.message, { cause: error })
  }
}

/** Starts the relay once its startup check, if any, has passed; returns the address. */
async function startApp(
  app: App,
  { directory, migration }: Data,
  mayServe: Promise<boolean> | undefined,
): Promise<string> {
  if (mayServe === undefined) migration?.accept()
  try {
    return await app.start(mayServe)
  } catch (error) {
    // At this point it comes from the startup check, and only the listener runs.
    if (error instanceof UnusableDatabaseError) await app.stop()
    const failure = startFailure(directory, error)
    if (failure instanceof NotYetError) await app.stop()
    throw failure
  }
}

/** Parts that only a service needs: checks of the machine, log rotation, and a restart. */
function hostedParts(
  { dataDir }: Config,
  { log, restart }: { readonly log: Log; readonly restart: (why: string) => void },
) {
  const { uid, username: userName } = userInfo()
  const checks = new HostChecks({
    run: processRunner(systemClock),
    clock: systemClock,
    platform: platform(),
    uid,
    userName,
    executable: ownExecutable(),
    dataDir,
  })
  const isMac = platform() === 'darwin'
  return {
    restart,
    checkHost: (signal: AbortSignal) => checks.findings(signal),
    companions: isMac ? [logRotation(macLogPath(homedir()), { clock: systemClock, log })] : [],
  }
}

/** Serves the reason until it is stopped: a restart would not help. */
async function serveSafeMode(start: Start, error: UnusableDatabaseError): Promise<ExitCode> {
  const { call, config, log, signal } = start
  const { host, port } = config
  const { lock: lockPath, controlSocket: path } = openDataDirectory(config.dataDir)
  const address = port === 0 ? null : `${host}:${port}`
  const lock = takeInstanceLock(lockPath, { since: systemClock.now(), task: 'relay', address })
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  const reason = `${error.message}${cause}`
  log.error('safe mode: the database cannot be used', { error })
  const mode = { reason, nextStep: NEXT_STEP, code: 'starting' } as const
  const listener = listenInSafeMode(mode, { ...listeningOf(start), path })
  call.out.data({ url: listener.url, safe_mode: reason }, [
    `hookline in safe mode on ${listener.url}`,
  ])
  await whenAborted(signal)
  await listener.stop(0)
  lock.release()
  return EXIT.ok
}

/**
 * Serves the reason until the relay can start or is stopped. The data directory may be missing or full,
 * so neither its lock nor its socket is taken.
 */
async function waitInSafeMode(start: Start, error: NotYetError): Promise<void> {
  const { log, signal } = start
  log.error('safe mode: the relay cannot start yet', { error })
  const mode = { reason: error.message, nextStep: '', code: error.code }
  const listener = listenInSafeMode(mode, { ...listeningOf(start), path: null })
  while (!signal.aborted && !error.isOver()) await systemClock.sleep(SAFE_MODE_POLL_MS, signal)
  await listener.stop(0)
  if (!signal.aborted) log.info('safe mode is over: the relay can start')
}

function listeningOf({ config, log }: Start) {
  const { host: hostname, port, publicUrl, trustedProxies } = config
  const isTrustedProxy = addressRanges(trustedProxies)
  return { hosts: { publicUrl }, isTrustedProxy, hostname, port, random: systemRandom, log }
}

/** At most 8 lines for the owner, and the first API key at the first start. */
async function showBanner(
  call: Call,
  app: App,
  { config, url }: { readonly config: Config; readonly url: string },
): Promise<void> {
  const { data: lines } = await ask(app, 'GET /phone-lines')
  const { data: findings } = await ask(app, 'GET /health')
  const worst = findings.find(({ severity }) => severity !== 'info')
  const key = await app.createFirstKey()
  const own = invocation(call)
  const pairs: [string, string][] = [
    ['Hookline', VERSION],
    ['address', url],
    ...(await setupLinkOf(app)),
    ['documentation', `${url}/swagger`],
    ['data', config.dataDir],
    ['lines', lines.length === 0 ? 'none yet' : String(lines.length)],
  ]
  if (worst !== undefined) pairs.push(['issue', `${worst.title}. Details: ${own} doctor`])
  else if (lines.length === 0) pairs.push(['try it', `${own} serve --simulated-lines 2`])
  pairs.push(['next', `${own} send TO TEXT, in another terminal`])
  for (const line of fields(pairs)) call.out.note(line)
  if (key === null) return
  // Even with --quiet: the secret cannot be shown again.
  call.out.data(key, ['', 'Your first API key:', ...describeNewKey(key), ''])
}

/** Until a password is set, each start at a terminal shows a new link to set it. */
async function setupLinkOf({ dashboard }: App): Promise<[string, string][]> {
  if (dashboard.isClaimed()) return []
  const { url } = await dashboard.createSetupLink()
  return [['dashboard', `${url} (valid once, for 30 minutes)`]]
}

/** Without a terminal no key and no link is made: secrets never reach a log. */
async function logMissingSetup(app: App, log: Log): Promise<void> {
  const { data: keys } = await ask(app, 'GET /keys')
  if (keys.length === 0) log.warn('no API key yet: create one with "hookline keys create"')
  if (!app.dashboard.isClaimed())
    log.warn('the dashboard has no password yet: get a link with "hookline setup-link"')
}

/** Requests from the relay in this process, as over the control socket. */
async function ask<R extends Route>(app: App, route: R): Promise<Answers[R]> {
  const request = new Request(`http://localhost/api/v1${route.replace('GET ', '')}`)
  const peer = { address: null, isControl: true, liftTimeout: () => {} }
  const response = await app.http.fetch(request, peer)
  return (await response.json()) as Answers[R] // The relay checks every answer against its schema.
}

/** Shell command for this executable and data directory: `hookline` where that is on the PATH, else a path. */
function invocation(call: Call): string {
  const { environment } = call.surroundings
  const { dataDir } = call.loadConfig().config
  const isElsewhere = dataDir !== defaultDataDirectory(environment)
  return nameOf(call) + (isElsewhere ? ` --data-dir ${quoted(dataDir)}` : '')
}

function nameOf({ surroundings: { environment, folder } }: Call): string {
  const executable = ownExecutable()
  const found = Bun.which('hookline', { PATH: environment['PATH'] ?? '' })
  if (executable === null || (found !== null && realpathSync(found) === executable)) {
    return 'hookline'
  }
  const near = relative(folder, executable)
  return quoted(near.startsWith('..') ? executable : `./${near}`)
}

/** Shell word, in quotes where it needs them. */
function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
