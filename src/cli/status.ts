// `hookline status`, `up`, `restart` and `open`. The state of the relay comes from its control socket and
// from the lock that it holds.

import { RefusedError } from '../api/client.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { findingWords } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { isReady } from '../domain/line.ts'
import type { ServiceState } from '../hosting/service-host.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { NEVER } from '../system/clock.ts'
import { dataDirectoryAt, isOfBox, type DataDirectory } from '../system/data-directory.ts'
import { readInstanceHolder, type Holder } from '../system/instance-lock.ts'
import { isoTime } from '../system/iso-time.ts'
import { findTool } from '../system/process.ts'
import { boxStatus, bringUpBox, showBox } from './box.ts'
import { EXIT, NoRelayError, type Call, type ExitCode } from './command.ts'
import { ControlClient } from './control-client.ts'
import { askForAutomation } from './mac.ts'
import { describeState, installService, refuseForeground, type ServiceCall } from './service.ts'
import { fields, row, stateCell, timeCell, type Cell, type Line } from './table.ts'

/** `judging` is the startup check; `status --json` has always used this word. */
export type Phase = 'starting' | 'judging' | 'running' | 'stopping' | 'safe_mode'

export type RelayReport = {
  readonly phase: Phase
  /** The cause of safe mode and the next step; null in any other phase. */
  readonly reason: string | null
  readonly version: string | null
  /** Null if the relay chose its port itself. */
  readonly address: string | null
  readonly pid: number | null
  readonly since: string | null
  /** Empty until the relay serves. */
  readonly lines: readonly PhoneLine[]
  readonly findings: readonly HealthFinding[]
}

type State = Pick<RelayReport, 'phase' | 'reason'>
type Served = Pick<RelayReport, 'version' | 'lines' | 'findings'>

const NOT_SERVED: Served = { version: null, lines: [], findings: [] }
const NOT_RUNNING = { phase: null, reason: null, ...placeOf(null), ...NOT_SERVED }
const PHASES: Readonly<Record<Phase, string>> = {
  starting: 'starting',
  judging: 'checking its database',
  running: 'running',
  stopping: 'stopping',
  safe_mode: 'safe mode',
}
/** The health findings ask devices, which have five seconds to answer. */
const REQUEST_MS_MAX = 15_000

/** Returns null if no relay answers. */
export async function reportOf(
  client: ControlClient,
  directory: DataDirectory,
): Promise<RelayReport | null> {
  try {
    const served = await readServed(client)
    const state: State =
      served === null ? await readState(client) : { phase: 'running', reason: null }
    return { ...state, ...placeOf(readInstanceHolder(directory.lock)), ...(served ?? NOT_SERVED) }
  } catch (error) {
    if (error instanceof NoRelayError) return null
    throw error
  }
}

async function reportOfService(service: ServiceCall): Promise<RelayReport | null> {
  return (await reportOf(service.client, service.directory)) ?? reportAtPort(service)
}

/** A relay that waits for its data directory has no socket there; the reason that it gives names the directory. */
async function reportAtPort({ call, directory }: ServiceCall): Promise<RelayReport | null> {
  const { host, port, tlsCert } = call.loadConfig().config
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const address = urlOf(`${tlsCert === null ? '' : 'https://'}${own}:${port}`)
  const client = new ControlClient({ url: address, headers: {}, environment: {} })
  const state = await readState(client).catch(() => null)
  if (state?.phase !== 'safe_mode' || !state.reason?.includes(directory.path)) return null
  return { ...NOT_RUNNING, ...state, address }
}

function rowsOfReport(
  report: RelayReport,
  { host, directory }: Pick<ServiceCall, 'host' | 'directory'>,
  state: ServiceState,
): readonly (readonly [string, Cell])[] {
  const isRunning = report.phase === 'running'
  return [
    ['relay', stateCell(PHASES[report.phase])],
    ['version', report.version],
    ['address', report.address],
    ['since', timeCell(report.since)],
    ['data', directory.path],
    ['service', describeState(host.name, state)],
    ['lines', isRunning ? countReady(report.lines) : null],
    ['issues', isRunning ? (findingWords(report.findings) ?? 'none') : null],
  ]
}

function jsonOfReport(
  report: RelayReport | null,
  { host, directory }: Pick<ServiceCall, 'host' | 'directory'>,
  state: ServiceState,
) {
  const { isInstalled: is_installed, activity, pid } = state
  return {
    running: report !== null,
    ...(report ?? NOT_RUNNING),
    data_directory: directory.path,
    service: { kind: host.name, is_installed, activity, pid },
  }
}

export async function printStatus(service: ServiceCall): Promise<ExitCode> {
  if (isOfBox(service.directory)) return boxStatus(service)
  const { call, host, directory, signal } = service
  const state = await host.state(signal)
  const report = await reportOfService(service)
  const json = jsonOfReport(report, service, state)
  if (report === null && (await isFakeReady(call.options.get('or-fake')))) {
    call.out.data({ ...json, running: true }, ['hookline fake is ready.'])
    return EXIT.ok
  }
  if (report === null) {
    const rows = [
      ['relay', 'not running'],
      ['data', directory.path],
      ['service', describeState(host.name, state)],
    ] as const
    call.out.data(json, [fields(rows)])
    if (state.isInstalled) (await import('../storage/data.ts')).requireDatabase(directory)
    call.out.note(
      `Start it: ${state.isInstalled ? 'hookline up' : 'hookline up, or hookline serve'}`,
    )
    return EXIT.noRelay
  }
  call.out.data(json, [fields(rowsOfReport(report, service, state))])
  if (report.reason !== null) call.out.problem(report.reason)
  if (report.findings.length > 0) call.out.note('Details: hookline doctor')
  return report.phase === 'safe_mode' ? EXIT.personNeeded : EXIT.ok
}

/** Also finds a fake: a container image has only one health check, whichever of the two it runs. */
async function isFakeReady(port: string | undefined): Promise<boolean> {
  if (port === undefined) return false
  const url = `http://127.0.0.1:${port}`
  const fake = new ControlClient({ url, headers: {}, environment: {} })
  return (await fake.probe('/readyz').catch(() => null))?.http === 200
}

function placeOf(holder: Holder | null): Pick<RelayReport, 'address' | 'pid' | 'since'> {
  if (holder === null) return { address: null, pid: null, since: null }
  const { address, pid, since } = holder
  const url = address === null ? null : urlOf(address)
  return { address: url, pid, since: isoTime(timestamp(since)) }
}

/** The relay's address as programs of this machine reach it, or its public one. */
export function relayAddress(call: Call): string {
  const { publicUrl, port, dataDir } = call.loadConfig().config
  const { address } = placeOf(readInstanceHolder(dataDirectoryAt(dataDir).lock))
  const own = address?.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1')
  return publicUrl ?? own ?? `http://127.0.0.1:${port}`
}

/** For a relay in safe mode, or one that is starting or stopping. */
async function readState(client: ControlClient): Promise<State> {
  const alive = await client.probe('/healthz')
  if (alive.status === 'safe_mode') {
    return { phase: 'safe_mode', reason: `${alive.reason ?? ''} ${alive.next_step ?? ''}`.trim() }
  }
  const { http, error } = await client.probe('/readyz')
  if (http === 200) return { phase: 'judging', reason: null }
  return { phase: error?.code === 'stopping' ? 'stopping' : 'starting', reason: null }
}

/** Returns null if the relay doesn't serve. */
async function readServed(client: ControlClient): Promise<Served | null> {
  try {
    const limit = { timeoutMs: REQUEST_MS_MAX }
    const { data: lines } = await client.ask('listPhoneLines', limit)
    const { data: findings } = await client.ask('listHealthFindings', limit)
    const { version } = await client.ask('getVersion', limit)
    return { version, lines, findings }
  } catch (error) {
    if (error instanceof RefusedError && error.status === 503) return null
    throw error
  }
}

/** `2 of 3 ready`: paused lines and lines without iMessage aren't ready. */
function countReady(lines: readonly PhoneLine[]): string {
  const ready = lines.filter(isReady).length
  return lines.length === 0 ? 'none yet' : `${ready} of ${lines.length} ready`
}

/** The lock says `host:port` or `https://host:port`, with an IPv6 host without its brackets. */
function urlOf(address: string): string {
  const [, scheme = 'http://', host = '', port = ''] =
    /^(https:\/\/)?(.*)(:[0-9]+)$/.exec(address) ?? []
  return `${scheme}${host.includes(':') ? `[${host}]` : host}${port}`
}

const READY_MS_MAX = 30_000
const POLL_MS = 200

/** Installs the service if it isn't current, starts it, and returns once the relay is ready. */
async function bringUpRelay(service: ServiceCall, before: ServiceState): Promise<RelayReport> {
  const { host, signal } = service
  const { isChanged } = await installService(service)
  if (isChanged && before.activity !== 'stopped') await host.stop(signal)
  await host.start(signal)
  return waitUntilReady(service)
}

/** Does the same for a relay or a box. */
export function bringUp(service: ServiceCall, before: ServiceState): Promise<unknown> {
  return isOfBox(service.directory) ? bringUpBox(service, before) : bringUpRelay(service, before)
}

export async function up(service: ServiceCall): Promise<ExitCode> {
  const { host, signal } = service
  const before = await host.state(signal)
  const refused = await refuseForeground(service, before)
  if (refused !== null) return refused
  if (isOfBox(service.directory)) {
    await bringUpBox(service, before)
    return endOfBox(service)
  }
  const report = await bringUpRelay(service, before)
  await askForAutomation(service, report.findings)
  return printReport(service, report)
}

export async function restart(service: ServiceCall): Promise<ExitCode> {
  const { call, host, signal } = service
  const before = await host.state(signal)
  const refused = await refuseForeground(service, before)
  if (refused !== null) return refused
  if (!before.isInstalled) {
    call.out.problem('No service is installed. Install and start it: hookline up')
    return EXIT.noRelay
  }
  await call.out.during('Stopping', host.stop(signal))
  await host.start(signal)
  if (isOfBox(service.directory)) return endOfBox(service)
  return printReport(service, await waitUntilReady(service))
}

async function endOfBox(service: ServiceCall): Promise<ExitCode> {
  return (await showBox(service)).head.is_reached ? EXIT.ok : EXIT.checksFailed
}

export async function openDashboard(service: ServiceCall): Promise<ExitCode> {
  const { call, client, directory } = service
  const report = await reportOf(client, directory)
  if (report === null) throw new NoRelayError(directory.path)
  const about = await client.find('getVersion')
  const isNew = about?.is_claimed === false
  const address = report.address
    ?.replace('//0.0.0.0:', '//127.0.0.1:')
    .replace('//[::]:', '//[::1]:')
  const url = isNew ? (await client.ask('createSetupLink', { body: {} })).url : address
  if (url === undefined) {
    throw new Error('The relay chose its own port. Its address is the first line that it printed.')
  }
  const isOpened = await openInBrowser(service, url)
  call.out.data({ url, opened: isOpened }, [isOpened ? `Opened ${url}` : url])
  if (!isOpened && isRemote(call)) {
    const port = new URL(url).port
    call.out.note(
      `From your own computer: ssh -L ${port}:127.0.0.1:${port} HOST, then open it there.`,
    )
  }
  return EXIT.ok
}

function isRemote({ surroundings }: ServiceCall['call']): boolean {
  return ['SSH_CONNECTION', 'SSH_TTY'].some((name) => surroundings.environment[name])
}

/** Returns false if no person sits at this machine, or if it has no screen or no browser. */
async function openInBrowser({ call, machine }: ServiceCall, url: string): Promise<boolean> {
  const { platform, run } = machine
  const { environment, isTerminal } = call.surroundings
  const isMac = platform === 'darwin'
  const hasScreen = isMac || ['DISPLAY', 'WAYLAND_DISPLAY'].some((name) => environment[name])
  if (isRemote(call) || !isTerminal || !hasScreen || call.options.has('no-open')) return false
  const path = isMac ? '/usr/bin/open' : findTool('xdg-open')
  if (path === null) return false
  const end = await run({ path, args: [url], timeoutMs: 10_000, killAfterMs: 13_000 }, NEVER)
  return end.end === 'exited' && end.exitCode === 0
}

async function waitUntilReady(service: ServiceCall): Promise<RelayReport> {
  const { directory, machine, signal } = service
  const until = machine.clock.monotonic() + READY_MS_MAX
  while (machine.clock.monotonic() < until && !signal.aborted) {
    const report = await reportOfService(service)
    if (report !== null && !['starting', 'stopping'].includes(report.phase)) return report
    await machine.clock.sleep(POLL_MS, signal)
  }
  throw new HostingError(
    `The service did not respond within ${READY_MS_MAX / 1_000} seconds. See its log: hookline logs ` +
      `(data directory ${directory.path})`,
  )
}

async function printReport(service: ServiceCall, report: RelayReport): Promise<ExitCode> {
  const { call, host, signal } = service
  const state = await host.state(signal)
  call.out.data(jsonOfReport(report, service, state), [
    fields(rowsOfReport(report, service, state)),
    ...report.findings.flatMap(({ severity, title, fix }): readonly Line[] => [
      '',
      row(stateCell(`${severity}: ${title}`)),
      `  ${fix}`,
    ]),
  ])
  if (report.reason !== null) {
    call.out.problem(report.reason)
    return EXIT.personNeeded
  }
  const isChecking = report.phase === 'judging'
  const steps = isChecking
    ? ['It is checking its database first. Follow it with: hookline status']
    : await nextSteps(service, report)
  for (const step of steps) call.out.note(step)
  return EXIT.ok
}

async function nextSteps(service: ServiceCall, { lines }: RelayReport): Promise<readonly string[]> {
  const { client, directory } = service
  const { data: keys } = await client.ask('listKeys', { query: { limit: '1' } })
  const { is_claimed: isClaimed } = await client.ask('getVersion')
  return [
    ...(isClaimed ? [] : await setupSteps(service)),
    ...(keys.length === 0 ? ['Next, create an API key: hookline keys create'] : []),
    ...(lines.length === 0
      ? [
          `To try it without a device, add HOOKLINE_SIMULATED_LINES=2 to ${directory.environmentFile}, ` +
            'then run: hookline down, hookline up',
        ]
      : []),
  ]
}

/** Opens the link here and prints it to this terminal only, because it sets the password. */
async function setupSteps(service: ServiceCall): Promise<readonly string[]> {
  const { url, lan_url: lanUrl } = await service.client.ask('createSetupLink', { body: {} })
  const urls = lanUrl === null ? [url] : [url, lanUrl]
  const title = (await openInBrowser(service, url)) ? 'Opened the dashboard' : 'Open the dashboard'
  return [`${title} (link valid once, for 30 minutes):`, ...urls]
}
