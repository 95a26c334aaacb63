// This machine as a box of another machine's relay: `join`, `box`, and its status.

import { existsSync } from 'node:fs'

import type { BoxFinding, BoxReport } from '../api/boxes.ts'
import type { BoxFile } from '../boxes/box-file.ts'
import type { SelfUpgrade } from '../boxes/box-upgrade.ts'
import { makeKey } from '../boxes/nkeys.ts'
import { INVITED_NAME } from '../domain/box.ts'
import { findingWords } from '../domain/finding.ts'
import { groupedNumber } from '../domain/handle.ts'
import { countWords } from '../domain/number-words.ts'
import { readInstallation } from '../hosting/installation.ts'
import type { ServiceState } from '../hosting/service-host.ts'
import { isWatched } from '../hosting/startup-check.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { NEVER, systemClock, whenAborted } from '../system/clock.ts'
import {
  DataDirectoryError,
  openDataDirectory,
  type DataDirectory,
} from '../system/data-directory.ts'
import { sha256 } from '../system/hash.ts'
import { jsonLog, silentLog } from '../system/log.ts'
import { exitOnCrash } from '../system/own-process.ts'
import { systemRandom } from '../system/random.ts'
import { PLATFORM, VERSION } from '../system/version.ts'
import { argument, type Call, type Command, EXIT, type ExitCode, NoRelayError } from './command.ts'
import { terminalLog, writeLogLine } from './output.ts'
import {
  createServiceHost,
  describeState,
  hostedParts,
  INSTALL_OPTIONS,
  installService,
  openServiceCall,
  thisPlace,
  type ServiceCall,
  type ServicePlace,
} from './service.ts'
import { fields, stateCell, timeCell, type Cell, type Line } from './table.ts'

export const BOX_COMMAND: Command = {
  name: 'box',
  sentence: 'Run as a box of another relay, in the foreground.',
  isService: true,
  run: runBox,
}

export const JOIN_COMMAND: Command = {
  name: 'join',
  args: [{ name: 'TOKEN' }],
  options: [
    { name: 'name', value: 'NAME', sentence: 'Another name than that of the invitation.' },
    { name: 'no-service', value: null, sentence: 'Do not install a service: run "hookline box".' },
    ...INSTALL_OPTIONS,
  ],
  sentence: 'Make this machine a box of another relay, with a token of "hookline boxes add".',
  run: (call) => joinHead(openServiceCall(call, thisPlace)),
}

const REACHED_MS_MAX = 60_000
const POLL_MS = 250

async function runBox(call: Call): Promise<ExitCode> {
  const { config } = call.loadConfig()
  const { isTerminal, environment } = call.surroundings
  const directory = openDataDirectory(config.dataDir)
  refuseRelay(directory)
  const { readBoxFile } = await import('../boxes/box-file.ts')
  const file = readBoxFile(directory.boxFile)
  if (file === null) {
    call.out.problem('This machine is not a box yet. Run on the head: hookline boxes add NAME')
    return EXIT.personNeeded
  }
  const log = (isTerminal ? terminalLog : jsonLog)(writeLogLine, () => systemClock.now())
  exitOnCrash((message, error) => log.error(message, { error }))
  const place = thisPlace(call)
  const { signal } = place
  const restart = Promise.withResolvers<string>()
  const isHosted = environment['HOOKLINE_SERVICE'] === '1'
  const { startBox } = await import('../box.ts')
  const box = await startBox(config, file, {
    clock: systemClock,
    random: systemRandom,
    log,
    selfUpgrade: selfUpgrade(place, directory, isHosted, config.acceptUnsigned),
    ...(isHosted
      ? hostedParts(call, { log, restart: restart.resolve })
      : { restart: null, checkHost: async () => [], companions: [] }),
  })
  const head = file.head_name ?? 'its head'
  call.out.data({ box: file.box_id, head: file.head_name }, [`hookline box of ${head}`])
  await Promise.race([
    whenAborted(signal),
    restart.promise.then((why) => log.warn('the box restarts', { why })),
  ])
  await box.stop()
  return EXIT.ok
}

const BY_HAND =
  'It does not run as a service. Upgrade it by hand, on that machine: hookline upgrade --from FILE'

/** Only a service comes back by itself after its executable was exchanged. */
function selfUpgrade(
  { machine, executable }: ServicePlace,
  directory: DataDirectory,
  isHosted: boolean,
  acceptsUnsigned: boolean,
): SelfUpgrade {
  const isService = isHosted && readInstallation(directory.path) !== null
  return {
    obstacle: isService && executable !== null ? null : BY_HAND,
    acceptsUnsigned,
    isWatched: () => isWatched(directory, machine.clock.now()),
    async install({ file, isUnverified, output }) {
      const args = ['upgrade', '--from', file, '--json', '--data-dir', directory.path]
      if (isUnverified) args.push('--unverified')
      const order = { path: executable ?? '', args, output }
      await createServiceHost(machine).startDetached(order, NEVER)
    },
  }
}

/** A data directory is a relay's or a box's, never both. */
function refuseRelay({ path, database }: DataDirectory): void {
  if (!existsSync(database)) return
  throw new DataDirectoryError(
    `${path} belongs to a relay, whose messages are in it. For a box on this machine, choose another ` +
      'folder with --data-dir.',
  )
}

async function joinHead(service: ServiceCall): Promise<ExitCode> {
  const { call, client, host, signal, executable } = service
  const directory = openDataDirectory(service.directory.path)
  refuseRelay(directory)
  const hasService = !call.options.has('no-service') && executable !== null
  const before = hasService ? await host.state(signal) : null
  if ((await client.isThere()) && before?.activity !== 'running') {
    call.out.problem('A box runs here in the foreground. Stop it first, with Ctrl-C.')
    return EXIT.failed
  }
  const joined = await call.out.during('Joining', enrol(call, directory, signal))
  if (joined === null) return EXIT.failed
  const head = joined.head_name ?? 'the head'
  if (before === null) {
    call.out.data({ box: joined.box_id, head: joined.head_name }, [`Joined ${head}.`])
    call.out.note('Run it: hookline box')
    return EXIT.ok
  }
  await bringUpBox(service, before)
  const report = await showBox(service)
  if (!report.head.is_reached) return EXIT.checksFailed
  call.out.note(`${head} uses this machine now. See there: hookline boxes`)
  return EXIT.ok
}

async function enrol(
  call: Call,
  { path, boxFile }: DataDirectory,
  signal: AbortSignal,
): Promise<BoxFile | null> {
  const token = argument(call, 0)
  const hash = sha256(token.replaceAll(/\s/g, '')).toHex()
  const { keepKey, readBoxFile, writeBoxFile } = await import('../boxes/box-file.ts')
  const known = readBoxFile(boxFile)
  if (known?.token === hash) return known
  const { join } = await import('../boxes/enrolment.ts')
  const key = await keepKey(`${path}/joining.json`, hash, makeKey)
  const name = call.options.get('name') ?? INVITED_NAME
  const machine = { name, version: VERSION, platform: PLATFORM, key }
  const tools = { clock: systemClock, random: systemRandom, log: silentLog }
  const joined = await join(token, machine, tools, signal)
  if ('problem' in joined) {
    call.out.problem(joined.problem)
    return null
  }
  const file = writeBoxFile(boxFile, joined, hash)
  key.forget()
  return file
}

/** Installs the service of a box if it isn't current, and restarts it. */
export async function bringUpBox(service: ServiceCall, before: ServiceState): Promise<void> {
  const { host, signal } = service
  await installService(service)
  // A box reads the facts of its head only when it starts.
  if (before.activity !== 'stopped') await host.stop(signal)
  await host.start(signal)
}

/** Prints the state of the box once its head is reached, or after a minute. */
export async function showBox(service: ServiceCall): Promise<BoxReport> {
  const { call, host, signal } = service
  const report = await call.out.during('Waiting for the head', awaitHead(service))
  printBox(service, await host.state(signal), report)
  return report
}

async function awaitHead(service: ServiceCall): Promise<BoxReport> {
  const { machine, signal, directory } = service
  const until = machine.clock.monotonic() + REACHED_MS_MAX
  let report = await boxReport(service)
  while (report?.head.is_reached !== true && machine.clock.monotonic() < until && !signal.aborted) {
    await machine.clock.sleep(POLL_MS, signal)
    report = (await boxReport(service)) ?? report
  }
  if (report !== null) return report
  throw new HostingError(
    `The service did not respond. See its log: hookline logs (data directory ${directory.path})`,
  )
}

/** Returns null if no box runs. */
async function boxReport({ client }: Pick<ServiceCall, 'client'>): Promise<BoxReport | null> {
  try {
    return await client.ask('getBox')
  } catch (error) {
    if (error instanceof NoRelayError) return null
    throw error
  }
}

export async function boxStatus(service: ServiceCall): Promise<ExitCode> {
  const { call, host, directory, signal } = service
  const state = await host.state(signal)
  const report = await boxReport(service)
  if (report !== null) {
    printBox(service, state, report)
    return EXIT.ok
  }
  const { readBoxFile } = await import('../boxes/box-file.ts')
  call.out.data({ running: false, box: readBoxFile(directory.boxFile)?.box_id }, [
    fields([
      ['box', 'not running'],
      ['data', directory.path],
      ['service', describeState(host.name, state)],
    ]),
  ])
  call.out.note(`Start it: ${state.isInstalled ? 'hookline up' : 'hookline up, or hookline box'}`)
  return EXIT.noRelay
}

export async function boxDoctor(service: ServiceCall): Promise<ExitCode> {
  const { call, host, directory, signal } = service
  const report = await boxReport(service)
  if (report === null) throw new NoRelayError(directory.path)
  const problems = report.findings.filter(({ severity }) => severity !== 'info')
  const state = await host.state(signal)
  call.out.data({ checks_failed: problems.length > 0, ...report }, [
    fields(rowsOf(service, state, report)),
    ...report.findings.flatMap(findingLines),
    '',
    findingWords(report.findings) ?? 'No issues.',
  ])
  return problems.length > 0 ? EXIT.checksFailed : EXIT.ok
}

function printBox(service: ServiceCall, state: ServiceState, report: BoxReport): void {
  const { call } = service
  call.out.data({ running: true, ...report }, [fields(rowsOf(service, state, report))])
  if (report.findings.length > 0) call.out.note('Details: hookline doctor')
}

function rowsOf(
  { host, directory }: ServiceCall,
  state: ServiceState,
  report: BoxReport,
): readonly (readonly [string, Cell])[] {
  const { head, devices } = report
  const numbers = devices.map(({ kind, number }) =>
    number === null ? `${kind} (number unknown)` : `${kind} ${groupedNumber(number)}`,
  )
  return [
    ['box', report.id],
    ['version', report.version],
    ['head', head.name ?? 'unknown'],
    [
      'reached',
      head.is_reached ? stateCell('yes', 'good') : stateCell(`no: ${head.problem}`, 'bad'),
    ],
    ['since', timeCell(head.since)],
    ['address', head.address],
    ['certificate', head.ca_fingerprint ?? 'of a public authority'],
    ['devices', numbers.join(', ') || 'none yet'],
    ['lines', countWords(report.lines_running, 'line')],
    ['data', directory.path],
    ['service', describeState(host.name, state)],
    ['issues', findingWords(report.findings) ?? 'none'],
  ]
}

function findingLines({ severity, title, why, fix }: BoxFinding): readonly Line[] {
  const head = fields([[`${severity}:`, stateCell(title)]])
  return ['', head, fields(Object.entries({ why, fix }), '    ')]
}
