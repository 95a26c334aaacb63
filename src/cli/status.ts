import { findingWords } from '../domain/finding.ts'
import type { ServiceState } from '../hosting/service-host.ts'
import { requireDatabase } from '../storage/data.ts'
import { EXIT, type Command, type ExitCode } from './command.ts'
import { countReady, reportOf, type RelayReport } from './relay-report.ts'
import { openServiceCall, type FindPlace, type ServiceCall } from './service-place.ts'
import { fields } from './table.ts'

export function statusCommand(findPlace: FindPlace): Command {
  return {
    name: 'status',
    args: [],
    options: [],
    sentence: 'Say whether the relay runs, where, and how its lines are; 3 where it does not.',
    run: (call) => tell(openServiceCall(call, findPlace)),
  }
}

/** A relay that runs, and its service, as rows of a name and a value. */
export function rowsOfReport(
  report: RelayReport,
  { host, directory }: Pick<ServiceCall, 'host' | 'directory'>,
  state: ServiceState,
): readonly (readonly [string, string | null])[] {
  return [
    ['relay', report.phase.replace('_', ' ')],
    ['version', report.version],
    ['address', report.address],
    ['since', report.since],
    ['data', directory.path],
    ['service', describeState(host.name, state)],
    ['lines', report.phase === 'running' ? countReady(report.lines) : null],
    ['findings', report.phase === 'running' ? (findingWords(report.findings) ?? 'none') : null],
  ]
}

/** The same for programs. */
export function jsonOfReport(
  report: RelayReport | null,
  { host, directory }: Pick<ServiceCall, 'host' | 'directory'>,
  state: ServiceState,
) {
  const { isInstalled: is_installed, activity, pid } = state
  return {
    running: report !== null,
    ...(report ?? NOBODY),
    data_directory: directory.path,
    service: { kind: host.name, is_installed, activity, pid },
  }
}

const NOBODY = {
  phase: null,
  reason: null,
  version: null,
  address: null,
  pid: null,
  since: null,
  lines: [],
  findings: [],
} as const

async function tell(service: ServiceCall): Promise<ExitCode> {
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
  if (report.findings.length > 0) call.out.note('What they are: hookline doctor')
  return report.phase === 'safe_mode' ? EXIT.personNeeded : EXIT.ok
}

function describeState(name: string, { isInstalled, activity, pid }: ServiceState): string {
  if (!isInstalled && activity === 'stopped') return 'not installed'
  return pid === null ? `${name}, ${activity}` : `${name}, ${activity} (process ${pid})`
}
