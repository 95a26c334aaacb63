import { createApp, type App } from '../app.ts'
import { OPTION_NAMES, OPTIONS, type Config } from '../config.ts'
import { systemClock } from '../system/clock.ts'
import { HeldElsewhereError } from '../system/instance-lock.ts'
import { jsonLog, type Log } from '../system/log.ts'
import { exitOnCrash, stopSignal } from '../system/own-process.ts'
import { VERSION } from '../system/version.ts'
import { rowsOf } from './answers.ts'
import { EXIT, type Call, type Command, type CommandOption, type ExitCode } from './command.ts'
import { describeNewKey } from './keys.ts'
import { writeLogLine } from './output.ts'
import { fields } from './table.ts'
import { terminalLog } from './terminal-log.ts'

export const SERVE_COMMAND: Command = {
  name: 'serve',
  args: [],
  options: OPTION_NAMES.filter((name) => name !== 'dataDir').map((name): CommandOption => ({
    name: OPTIONS[name].name,
    value: OPTIONS[name].kind.placeholder,
    sentence: OPTIONS[name].sentence,
  })),
  sentence: 'Run the relay in the foreground.',
  run: serve,
}

/** How long a command that reads or writes the file itself may keep a relay from starting. */
const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 50

async function serve(call: Call): Promise<ExitCode> {
  const { isTerminal } = call.surroundings
  const { config } = call.loadConfig()
  const createLog = isTerminal ? terminalLog : jsonLog
  const log = createLog(writeLogLine, () => systemClock.now())
  exitOnCrash((message, error) => log.error(message, { error }))
  const signal = stopSignal()

  const app = await createAppPatiently(config, log)
  const url = await app.start()
  if (isTerminal) await showBanner(call, app, { config, url })
  else await sayWhatIsMissing(app, log)
  call.out.data({ url }, [`hookline listening on ${url}`])

  const failure = await Promise.race([aborted(signal), app.fatal.then((error) => ({ error }))])
  // A relay whose disk fails is in an unknown state: it writes nothing any more, not even to stop.
  if (failure !== null) throw failure.error
  await app.stop()
  return EXIT.ok
}

/** A command may have the data directory for a moment; another relay has it for good. */
async function createAppPatiently(config: Config, log: Log): Promise<App> {
  const never = new AbortController().signal
  const until = systemClock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      return createApp(config, { log })
    } catch (error) {
      const isCommand = error instanceof HeldElsewhereError && error.holder?.task === 'command'
      if (!isCommand || systemClock.monotonic() > until) throw error
    }
    await systemClock.sleep(LOOK_AGAIN_MS, never)
  }
}

/** At most 8 lines of what the owner wants to know, and at the first start the first key. */
async function showBanner(
  call: Call,
  app: App,
  { config, url }: { readonly config: Config; readonly url: string },
): Promise<void> {
  const lines = rowsOf(await ask(app, '/phone-lines'))
  const key = await app.createFirstKey()
  const pairs: [string, string][] = [
    ['Hookline', VERSION],
    ['address', url],
    ['documentation', `${url}/swagger`],
    ['data', config.dataDir],
    ['lines', lines.length === 0 ? 'none yet' : String(lines.length)],
  ]
  if (lines.length === 0) pairs.push(['to try it', 'hookline serve --simulated-lines 2'])
  pairs.push(['next', 'hookline send TO TEXT, in another terminal'])
  for (const line of fields(pairs)) call.out.note(line)
  if (key === null) return
  // With --quiet too: nobody could ever read the secret again.
  call.out.data(key, ['', 'Your first API key:', ...describeNewKey(key), ''])
}

/** Secrets never reach a log, so a relay without a terminal makes no key of its own. */
async function sayWhatIsMissing(app: App, log: Log): Promise<void> {
  const keys = rowsOf(await ask(app, '/keys?limit=1'))
  if (keys.length === 0) log.warn('there is no API key yet: make one by "hookline keys create"')
}

/** Asks the relay in this process, as the control socket does. */
async function ask(app: App, path: string): Promise<unknown> {
  const request = new Request(`http://localhost/api/v1${path}`)
  const peer = { address: null, isControl: true, liftTimeout: () => {} }
  return (await app.http.fetch(request, peer)).json()
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null))
  })
}
