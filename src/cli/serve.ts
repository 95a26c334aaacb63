import { existsSync } from 'node:fs'

import { createApp } from '../app.ts'
import { OPTION_NAMES, OPTIONS, type OptionName } from '../domain/option.ts'
import { suspectDamage } from '../hosting/judgement.ts'
import { NotYetError } from '../storage/data.ts'
import { UnusableDatabaseError, isUnusableDatabase } from '../storage/migrations.ts'
import { LostFileError } from '../storage/open-files.ts'
import { systemClock, whenAborted } from '../system/clock.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { jsonLog, type Log } from '../system/log.ts'
import { exitOnCrash, stopSignal } from '../system/own-process.ts'
import { logMissingSetup, showBanner } from './banner.ts'
import { EXIT, type Call, type Command, type CommandOption, type ExitCode } from './command.ts'
import { hostedParts } from './hosted.ts'
import {
  createAppFrom,
  judgementOf,
  openDataPatiently,
  startJudged,
  type Start,
} from './judged-start.ts'
import { writeLogLine, terminalLog } from './output.ts'
import { serveSafeMode, waitInSafeMode } from './safe-mode.ts'

export const SERVE_COMMAND: Command = {
  name: 'serve',
  args: [],
  options: OPTION_NAMES.filter(isFlag).map((name): CommandOption => ({
    name: OPTIONS[name].name,
    value: OPTIONS[name].kind.placeholder,
    sentence: OPTIONS[name].sentence,
  })),
  sentence: 'Run the relay in the foreground.',
  run: serve,
}

function isFlag(name: OptionName): boolean {
  return name !== 'dataDir' && !OPTIONS[name].isSecret
}

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
    if (!isHosted || !isSuspicious(error)) throw error
    const directory = dataDirectoryAt(config.dataDir)
    if (existsSync(directory.database)) suspectDamage(directory)
    // The state of this process is unknown, but the next one can look. After 78 nobody would start it.
    return EXIT.failed
  }
}

/** Whether an error that ended a relay leaves its database in doubt. */
function isSuspicious(error: unknown): boolean {
  return isUnusableDatabase(error) || error instanceof LostFileError
}

/** Throws an UnusableDatabaseError only where nothing runs and the data are closed. */
async function serveRelay(start: Start): Promise<ExitCode> {
  const { call, config, log, signal } = start
  const data = await openDataPatiently(start)
  const judgement = judgementOf(data, start)
  const again = Promise.withResolvers<string>()
  const parts = {
    log,
    data,
    options: call.loadConfig().rows,
    acquit: () => judgement?.acquit(),
    ...(start.isHosted ? hostedParts(config, { log, restart: again.resolve }) : {}),
  }
  const app = createAppFrom(data, () => createApp(config, parts))
  const url = await startJudged(app, judgement?.verdict(signal), data)
  if (!signal.aborted) {
    if (call.surroundings.isTerminal) await showBanner(call, app, { config, url })
    else await logMissingSetup(app, log)
    call.out.data({ url }, [`hookline listening on ${url}`])
  }
  const failure = await Promise.race([
    whenAborted(signal),
    app.fatal.then((error) => ({ error })),
    again.promise.then((why) => sayWhyAgain(log, why)),
  ])
  // A relay whose disk fails is in an unknown state: it writes nothing any more, not even to stop.
  if (failure !== null) {
    await app.abandon()
    throw failure.error
  }
  await app.stop()
  return EXIT.ok
}

/** Who hosts the relay starts it again. */
function sayWhyAgain(log: Log, why: string): null {
  log.warn('the relay starts anew', { why })
  return null
}
