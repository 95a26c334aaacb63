import { HostingError } from '../hosting/system-tool.ts'
import { rowOf, rowsOf, textOf, type Row } from './answers.ts'
import { EXIT, type Command, type ExitCode } from './command.ts'
import { askForAutomation } from './mac-permit.ts'
import { reportOf, type RelayReport } from './relay-report.ts'
import { openServiceCall, type FindPlace, type ServiceCall } from './service-place.ts'
import { INSTALL_OPTIONS, foreignRelay, installService } from './service.ts'
import { jsonOfReport, rowsOfReport } from './status.ts'
import { fields } from './table.ts'

export function upCommand(findPlace: FindPlace): Command {
  return {
    name: 'up',
    args: [],
    options: INSTALL_OPTIONS,
    sentence:
      'Run the relay as a service: install it or bring it up to date, start it, say how it is.',
    run: (call) => up(openServiceCall(call, findPlace)),
  }
}

const READY_MS_MAX = 30_000
const LOOK_AGAIN_MS = 200
const NOT_READY: readonly RelayReport['phase'][] = ['starting', 'stopping']

async function up(service: ServiceCall): Promise<ExitCode> {
  const { call, host, signal } = service
  const before = await host.state(signal)
  const foreign = await foreignRelay(service, before)
  if (foreign !== null) {
    call.out.problem(
      `A relay runs in the foreground already (process ${foreign}): press Ctrl-C there first.`,
    )
    return EXIT.failed
  }
  const { isChanged } = await installService(service)
  if (isChanged && before.activity !== 'stopped') await host.stop(signal)
  await host.start(signal)
  const report = await waitUntilReady(service)
  await askForAutomation(service, report.findings)
  return tell(service, report)
}

/** The relay once it is ready; throws where it is not in time. */
async function waitUntilReady(service: ServiceCall): Promise<RelayReport> {
  const { client, directory, machine, signal } = service
  const until = machine.clock.monotonic() + READY_MS_MAX
  while (machine.clock.monotonic() < until && !signal.aborted) {
    const report = await reportOf(client, directory)
    if (report !== null && !NOT_READY.includes(report.phase)) return report
    await machine.clock.sleep(LOOK_AGAIN_MS, signal)
  }
  throw new HostingError(
    `The service does not answer after ${READY_MS_MAX / 1_000} s. Its log says why: hookline logs ` +
      `(data directory ${directory.path})`,
  )
}

async function tell(service: ServiceCall, report: RelayReport): Promise<ExitCode> {
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
  if (report.phase === 'judging')
    call.out.note('It checks its database first. How far it is: hookline status')
  else for (const step of await nextSteps(service, report)) call.out.note(step)
  return EXIT.ok
}

function describeFinding(finding: Row): readonly string[] {
  const [severity, title] = [textOf(finding, 'severity'), textOf(finding, 'title')]
  return ['', `${severity}: ${title}`, `  ${textOf(finding, 'fix')}`]
}

async function nextSteps(
  { client, directory }: ServiceCall,
  { lines }: RelayReport,
): Promise<readonly string[]> {
  const keys = rowsOf((await client.ask('GET', '/keys?limit=1')).body)
  const isClaimed = rowOf((await client.ask('GET', '/about')).body)['is_claimed'] !== false
  return [
    ...(isClaimed ? [] : await setupSteps(client)),
    ...(keys.length === 0 ? ['Next, make an API key: hookline keys create'] : []),
    ...(lines.length === 0 ? [trialOf(directory.environmentFile)] : []),
  ]
}

/** Only to whoever sits at this terminal: the link sets the password. */
async function setupSteps(client: ServiceCall['client']): Promise<readonly string[]> {
  const link = rowOf((await client.ask('POST', '/setup-link', { body: {} })).body)
  const urls = [textOf(link, 'url'), textOf(link, 'lan_url')].filter((url) => url !== '')
  return ['The dashboard, by a link that is good once, for 30 minutes:', ...urls]
}

function trialOf(file: string): string {
  return (
    `To try it without a device, write HOOKLINE_SIMULATED_LINES=2 into ${file}; ` +
    'then: hookline down, hookline up'
  )
}
