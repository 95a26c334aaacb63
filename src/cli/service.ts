// The relay as a service of this machine: the commands that install, uninstall and stop it and print its log,
// and the functions that `up`, `status` and `upgrade` share.

import { homedir } from 'node:os'

import { HostChecks } from '../hosting/host-checks.ts'
import { readInstallation } from '../hosting/installation.ts'
import { LaunchdHost, macLogPath } from '../hosting/launchd.ts'
import { thisMachine, type Machine } from '../hosting/machine.ts'
import type { Installed, ServiceHost, ServiceState } from '../hosting/service-host.ts'
import { logRotation, type ServiceLog } from '../hosting/service-log.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { SystemdHost } from '../hosting/systemd.ts'
import { systemClock } from '../system/clock.ts'
import { dataDirectoryAt, isOfBox, type DataDirectory } from '../system/data-directory.ts'
import { readInstanceHolder } from '../system/instance-lock.ts'
import type { Log } from '../system/log.ts'
import { ownExecutable, stopSignal } from '../system/own-process.ts'
import { VERSION } from '../system/version.ts'
import { EXIT, UsageError, type Call, type CommandOption, type ExitCode } from './command.ts'
import { ControlClient } from './control-client.ts'
import { makeDatabase } from './own-file.ts'
import { row, timeCell, type Line, type Tone } from './table.ts'

export type ServicePlace = {
  readonly machine: Machine
  /** The path of this executable; null if the sources run. */
  readonly executable: string | null
  /** Aborts on Ctrl-C; work under way then comes to an orderly end. */
  readonly signal: AbortSignal
}

export type FindPlace = (call: Call) => ServicePlace

export type ServiceCall = ServicePlace & {
  readonly call: Call
  readonly host: ServiceHost
  readonly directory: DataDirectory
  readonly client: ControlClient
}

export const INSTALL_OPTIONS: readonly CommandOption[] = [
  {
    name: 'codesign-identity',
    value: 'NAME',
    sentence: 'Mac: sign with this Developer ID, or "-" to not sign (permissions are then lost).',
  },
]

const FOLLOW_MS = 1_000

export function thisPlace({ surroundings }: Call): ServicePlace {
  const machine = thisMachine(surroundings.environment)
  return { machine, executable: ownExecutable(), signal: stopSignal() }
}

/** The parts of a relay or a box that only a service needs. */
export function hostedParts(
  call: Call,
  { log, restart }: { readonly log: Log; readonly restart: (why: string) => void },
) {
  const { dataDir } = call.loadConfig().config
  const machine = thisMachine(call.surroundings.environment)
  const checks = new HostChecks(machine, { executable: ownExecutable(), dataDir })
  const rotation = logRotation(macLogPath(homedir()), { clock: systemClock, log })
  return {
    restart,
    checkHost: (signal: AbortSignal) => checks.findings(signal),
    companions: machine.platform === 'darwin' ? [rotation] : [],
  }
}

export function openServiceCall(call: Call, findPlace: FindPlace): ServiceCall {
  const place = findPlace(call)
  const directory = dataDirectoryAt(call.loadConfig().config.dataDir)
  const client = new ControlClient(directory.controlSocket)
  return { ...place, call, host: createServiceHost(place.machine), directory, client }
}

/** Throws a HostingError if the platform has no service manager that we know. */
export function createServiceHost(machine: Machine): ServiceHost {
  if (machine.platform === 'darwin') return new LaunchdHost(machine)
  if (machine.platform === 'linux') return new SystemdHost(machine)
  throw new HostingError('Services are supported on macOS and Linux only. Run: hookline serve')
}

/** Installs this executable, and prints the warnings for the owner. */
export async function installService(service: ServiceCall): Promise<Installed> {
  const { call, host, executable, directory, signal } = service
  if (executable === null) throw new UsageError('A service needs the built executable.')
  const { isInstalled } = await host.state(signal)
  if (!isOfBox(directory)) {
    if (isInstalled) (await import('../storage/data.ts')).requireDatabase(directory)
    else await makeDatabase(call)
  }
  const fromShell = call.surroundings.environment['HOOKLINE_CODESIGN_IDENTITY'] ?? null
  const order = {
    executable,
    dataDir: directory.path,
    version: VERSION,
    codesignIdentity: call.options.get('codesign-identity') ?? (fromShell || null),
  }
  const installed = await host.install(order, signal)
  for (const sentence of [...installed.warnings, ...shellOnlyOptions(service)])
    call.out.note(sentence)
  return installed
}

export function describeState(name: string, { isInstalled, activity, pid }: ServiceState): string {
  if (!isInstalled && activity === 'stopped') return 'not installed'
  return pid === null ? `${name}, ${activity}` : `${name}, ${activity} (process ${pid})`
}

/** Prints a problem if a relay runs in the foreground; returns null if none does. */
export async function refuseForeground(
  { call, client, directory }: ServiceCall,
  state: ServiceState,
): Promise<ExitCode | null> {
  if (!(await client.isThere())) return null
  const pid = readInstanceHolder(directory.lock)?.pid ?? null
  const isService = state.pid === null ? state.activity === 'running' : state.pid === pid
  if (isService || pid === null) return null
  call.out.problem(`A relay is running in the foreground (process ${pid}). Stop it with Ctrl-C.`)
  return EXIT.failed
}

export async function install(service: ServiceCall): Promise<undefined> {
  const { call, host } = service
  const { isChanged } = await installService(service)
  call.out.data({ installed: true, changed: isChanged }, [
    isChanged ? `Installed as a ${host.name}.` : `Already installed as a ${host.name}.`,
  ])
  call.out.note('Start or update it: hookline up')
}

export async function uninstall(service: ServiceCall): Promise<undefined> {
  const { call, host, directory, signal } = service
  const { isInstalled } = await host.state(signal)
  await host.uninstall(directory.path, signal)
  call.out.data({ installed: false, changed: isInstalled }, [
    isInstalled ? 'Service removed.' : 'No service is installed.',
  ])
  call.out.note(`Your data is still in ${directory.path}.`)
}

export async function stop(service: ServiceCall): Promise<ExitCode> {
  const { call, host, signal } = service
  const state = await host.state(signal)
  const wasRunning = state.activity !== 'stopped'
  const refused = await refuseForeground(service, state)
  if (wasRunning) await host.stop(signal)
  if (refused !== null) return refused
  call.out.data({ running: false, changed: wasRunning }, [
    wasRunning ? 'Relay stopped.' : 'The service is not running.',
  ])
  if (wasRunning) {
    call.out.note('It starts again with the machine. Start it now: hookline up')
    call.out.note('To keep it off: hookline service uninstall')
  }
  return EXIT.ok
}

/** Options that are set in this shell, which the service never sees. */
function shellOnlyOptions({ call, directory }: ServiceCall): readonly string[] {
  return call
    .loadConfig()
    .rows.filter(({ name, from }) => name !== 'data-dir' && from.startsWith('HOOKLINE_'))
    .map(
      ({ from }) =>
        `${from} is set in this shell only. For the service, add it to ${directory.environmentFile}`,
    )
}

export async function logOf({ host, client, directory }: ServiceCall): Promise<ServiceLog> {
  const isForeground = readInstallation(directory.path) === null && (await client.isThere())
  return isForeground ? new RelayLog(client) : host.log
}

export async function printLog(service: ServiceCall): Promise<undefined> {
  const { call, machine, signal } = service
  const log = await logOf(service)
  const count = call.options.number('lines', { fallback: 200, max: 1_000 })
  const lines = await log.newest(count, signal)
  for (const line of lines) call.out.data(entryOf(line), [spoken(line)])
  if (lines.length === 0) call.out.note('The log is empty.')
  while (call.options.has('follow') && !signal.aborted) {
    await machine.clock.sleep(FOLLOW_MS, signal)
    if (signal.aborted) break
    for (const line of await log.more(signal)) call.out.data(entryOf(line), [spoken(line)])
  }
}

const TONES: Readonly<Record<string, Tone>> = { warn: 'warning', error: 'bad' }

/** A line for people: time, level, message, and the fields as `name=value`. */
function spoken(line: string): Line {
  const { time, level, message, ...rest } = entryOf(line)
  if (typeof time !== 'string' || typeof level !== 'string') return line
  const values = Object.entries(rest).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${name}=${/\s/.test(text) ? JSON.stringify(text) : text}`
  })
  return row(
    timeCell(time),
    { text: level.padEnd(5), tone: TONES[level] ?? null },
    String(message),
    ...(values.length === 0 ? [] : [{ text: values.join(' '), tone: 'dim' as const }]),
  )
}

/** A relay in the foreground keeps its newest lines in memory. */
class RelayLog implements ServiceLog {
  readonly #client: ControlClient
  #seq = 0

  constructor(client: ControlClient) {
    this.#client = client
  }

  async newest(count: number): Promise<readonly string[]> {
    return (await this.more()).slice(-count)
  }

  async more(): Promise<readonly string[]> {
    const { data } = await this.#client.ask('getLog')
    const lines = data.filter(({ seq }) => seq > this.#seq)
    this.#seq = data.at(-1)?.seq ?? 0
    return lines.map(({ time, level, message, fields }) =>
      JSON.stringify({ time, level, message, ...fields }),
    )
  }
}

/** The relay writes JSON; any other line becomes the message of an entry. */
export function entryOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry === 'object' && entry !== null) return { ...entry }
  } catch {
    // A crash writes plain text.
  }
  return { message: line }
}
