import type { HealthFinding } from '../api/health.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { EXIT, type Command, type ExitCode } from './command.ts'
import { askForAutomation } from './mac.ts'
import {
  INSTALL_OPTIONS,
  installService,
  openServiceCall,
  refuseForeground,
  type FindPlace,
  type ServiceCall,
} from './service.ts'
import { jsonOfReport, reportOf, rowsOfReport, type RelayReport } from './status.ts'
import { fields } from './table.ts'

const READY_MS_MAX = 30_000
const POLL_MS = 200
const NOT_READY: readonly RelayReport['phase'][] = ['starting', 'stopping']

export function upCommand(findPlace: FindPlace): Command {
  return {
    name: 'up',
    options: INSTALL_OPTIONS,
    sentence: 'Install or update the service, start it, and show its status.',
    run: (call) => up(openServiceCall(call, findPlace)),
  }
}

async function up(service: ServiceCall): Promise<ExitCode> {
  const { host, signal } = service
  const before = await host.state(signal)
  const refused = await refuseForeground(service, before)
  if (refused !== null) return refused
  const { isChanged } = await installService(service)
  if (isChanged && before.activity !== 'stopped') await host.stop(signal)
  await host.start(signal)
  const report = await waitUntilReady(service)
  await askForAutomation(service, report.findings)
  return printReport(service, report)
}

/** Report of the relay once it is ready; throws where that takes too long. */
async function waitUntilReady(service: ServiceCall): Promise<RelayReport> {
  const { client, directory, machine, signal } = service
  const until = machine.clock.monotonic() + READY_MS_MAX
  while (machine.clock.monotonic() < until && !signal.aborted) {
    const report = await reportOf(client, directory)
    if (report !== null && !NOT_READY.includes(report.phase)) return report
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
    ...fields(rowsOfReport(report, service, state)),
    ...report.findings.flatMap(describeFinding),
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

function describeFinding({ severity, title, fix }: HealthFinding): readonly string[] {
  return ['', `${severity}: ${title}`, `  ${fix}`]
}

async function nextSteps(
  { client, directory }: ServiceCall,
  { lines }: RelayReport,
): Promise<readonly string[]> {
  const { data: keys } = await client.ask('GET /keys', { query: { limit: '1' } })
  const { is_claimed: isClaimed } = await client.ask('GET /about')
  return [
    ...(isClaimed ? [] : await setupSteps(client)),
    ...(keys.length === 0 ? ['Next, create an API key: hookline keys create'] : []),
    ...(lines.length === 0
      ? [
          `To try it without a device, add HOOKLINE_SIMULATED_LINES=2 to ${directory.environmentFile}, ` +
            'then run: hookline down, hookline up',
        ]
      : []),
  ]
}

/** Printed to this terminal only: the link sets the password. */
async function setupSteps(client: ServiceCall['client']): Promise<readonly string[]> {
  const { url, lan_url: lanUrl } = await client.ask('POST /setup-link', { body: {} })
  const urls = lanUrl === null ? [url] : [url, lanUrl]
  return ['Open the dashboard (link valid once, for 30 minutes):', ...urls]
}
