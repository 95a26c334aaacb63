// Report on a running relay, from its control socket and from the lock that it holds.

import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { findingWords } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { isReady } from '../domain/line.ts'
import type { ServiceState } from '../hosting/service-host.ts'
import { requireDatabase } from '../storage/data.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { readInstanceHolder, type Holder } from '../system/instance-lock.ts'
import { isoTime } from '../system/iso-time.ts'
import { EXIT, NoRelayError, type Command, type ExitCode } from './command.ts'
import { RefusedError, type ControlClient } from './control-client.ts'
import { openServiceCall, type FindPlace, type ServiceCall } from './service.ts'
import { fields } from './table.ts'

/** `judging` is a startup check, in the word that `status --json` has always used. */
export type Phase = 'starting' | 'judging' | 'running' | 'stopping' | 'safe_mode'

export type RelayReport = {
  readonly phase: Phase
  /** Cause of safe mode and the next step; null otherwise. */
  readonly reason: string | null
  readonly version: string | null
  /** Null where it listens on a port that it chose itself. */
  readonly address: string | null
  readonly pid: number | null
  readonly since: string | null
  /** Empty until the relay serves. */
  readonly lines: readonly PhoneLine[]
  readonly findings: readonly HealthFinding[]
}

type State = Pick<RelayReport, 'phase' | 'reason'>
type Served = Pick<RelayReport, 'version' | 'lines' | 'findings'>

const RUNNING: State = { phase: 'running', reason: null }
const NOT_SERVED: Served = { version: null, lines: [], findings: [] }
const NOT_RUNNING = {
  phase: null,
  reason: null,
  address: null,
  pid: null,
  since: null,
  ...NOT_SERVED,
} as const
const PHASES: Readonly<Record<Phase, string>> = {
  starting: 'starting',
  judging: 'checking its database',
  running: 'running',
  stopping: 'stopping',
  safe_mode: 'safe mode',
}
/** Health asks devices, which have five seconds to answer. */
const REQUEST_MS_MAX = 15_000

export function statusCommand(findPlace: FindPlace): Command {
  return {
    name: 'status',
    sentence: 'Show whether the relay is running, and its lines. Exit code 3 if it is not.',
    run: (call) => printStatus(openServiceCall(call, findPlace)),
  }
}

/** Report of the relay at `client`; null where none answers. */
export async function reportOf(
  client: ControlClient,
  directory: DataDirectory,
): Promise<RelayReport | null> {
  try {
    const served = await readServed(client)
    const state = served === null ? await readState(client) : RUNNING
    return { ...state, ...placeOf(readInstanceHolder(directory.lock)), ...(served ?? NOT_SERVED) }
  } catch (error) {
    if (error instanceof NoRelayError) return null
    throw error
  }
}

/** Running relay and its service, as rows of a name and a value. */
export function rowsOfReport(
  report: RelayReport,
  { host, directory }: Pick<ServiceCall, 'host' | 'directory'>,
  state: ServiceState,
): readonly (readonly [string, string | null])[] {
  const isRunning = report.phase === 'running'
  return [
    ['relay', PHASES[report.phase]],
    ['version', report.version],
    ['address', report.address],
    ['since', report.since],
    ['data', directory.path],
    ['service', describeState(host.name, state)],
    ['lines', isRunning ? countReady(report.lines) : null],
    ['issues', isRunning ? (findingWords(report.findings) ?? 'none') : null],
  ]
}

export function jsonOfReport(
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

async function printStatus(service: ServiceCall): Promise<ExitCode> {
  const { call, host, directory, client, signal } = service
  const state = await host.state(signal)
  const report = await reportOf(client, directory)
  const json = jsonOfReport(report, service, state)
  if (report === null) {
    const rows = [
      ['relay', 'not running'],
      ['data', directory.path],
      ['service', describeState(host.name, state)],
    ] as const
    call.out.data(json, fields(rows))
    if (state.isInstalled) requireDatabase(directory)
    call.out.note(
      `Start it: ${state.isInstalled ? 'hookline up' : 'hookline up, or hookline serve'}`,
    )
    return EXIT.noRelay
  }
  call.out.data(json, fields(rowsOfReport(report, service, state)))
  if (report.reason !== null) call.out.problem(report.reason)
  if (report.findings.length > 0) call.out.note('Details: hookline doctor')
  return report.phase === 'safe_mode' ? EXIT.personNeeded : EXIT.ok
}

function describeState(name: string, { isInstalled, activity, pid }: ServiceState): string {
  if (!isInstalled && activity === 'stopped') return 'not installed'
  return pid === null ? `${name}, ${activity}` : `${name}, ${activity} (process ${pid})`
}

function placeOf(holder: Holder | null): Pick<RelayReport, 'address' | 'pid' | 'since'> {
  if (holder === null) return { address: null, pid: null, since: null }
  const { address, pid, since } = holder
  return {
    address: address === null ? null : urlOf(address),
    pid,
    since: isoTime(timestamp(since)),
  }
}

/** State of a relay that does not serve, or not yet. */
async function readState(client: ControlClient): Promise<State> {
  const alive = await client.probe('/healthz')
  if (alive.status === 'safe_mode') {
    return { phase: 'safe_mode', reason: `${alive.reason ?? ''} ${alive.next_step ?? ''}` }
  }
  const { http, error } = await client.probe('/readyz')
  if (http === 200) return { phase: 'judging', reason: null }
  return { phase: error?.code === 'stopping' ? 'stopping' : 'starting', reason: null }
}

/** Version, lines and findings; null where the relay does not serve. */
async function readServed(client: ControlClient): Promise<Served | null> {
  try {
    const limit = { timeoutMs: REQUEST_MS_MAX }
    const { data: lines } = await client.ask('GET /phone-lines', limit)
    const { data: findings } = await client.ask('GET /health', limit)
    const { version } = await client.ask('GET /about', limit)
    return { version, lines, findings }
  } catch (error) {
    if (error instanceof RefusedError && error.status === 503) return null
    throw error
  }
}

/** `2 of 3 ready`: a paused line is not ready, nor is a line without iMessage. */
function countReady(lines: readonly PhoneLine[]): string {
  const ready = lines.filter(isReady).length
  return lines.length === 0 ? 'none yet' : `${ready} of ${lines.length} ready`
}

/** The lock says `host:port`; an IPv6 address stands in brackets in a URL. */
function urlOf(address: string): string {
  const at = address.lastIndexOf(':')
  const host = address.slice(0, at)
  return `http://${host.includes(':') ? `[${host}]` : host}${address.slice(at)}`
}
