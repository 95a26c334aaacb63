// The question of macOS whether Hookline may control Messages. It comes with the first Apple event of the
// program that asks; public reports (of nanoclaw, on macOS 26) have a LaunchAgent's stay away. An app
// that is launched at the screen is asked about by TCC in the same name, so one harmless run of the script
// goes out from there. Built by the manual pages of open(1) and osascript(1): no Mac has shown it yet.

import type { HealthFinding } from '../api/health.ts'
import type { ServiceHost } from '../hosting/service-host.ts'
import { askMessages } from '../lines/catalog.ts'
import { systemClock } from '../system/clock.ts'
import { stopSignal } from '../system/own-process.ts'
import { processRunner } from '../system/process.ts'
import { EXIT, type Call, type Command } from './command.ts'

/** What the app is launched with at the screen; neither the help nor the README tells of it. */
export const MAC_PERMIT_COMMAND: Command = {
  name: 'mac permit',
  sentence: 'Ask Messages one harmless thing, so that macOS asks whether that is allowed.',
  async run(call) {
    const { macOsascript: osascriptPath } = call.loadConfig().config
    const tools = { run: processRunner(systemClock), clock: systemClock, osascriptPath }
    if (await askMessages(tools, stopSignal())) return EXIT.ok
    call.out.problem('Messages may not be controlled, or has no iMessage account.')
    return EXIT.notAllowed
  },
}

/** Brings the question about where the relay's own run of the script was refused. */
export async function askForAutomation(
  { host, call, signal }: { host: ServiceHost; call: Pick<Call, 'out'>; signal: AbortSignal },
  findings: readonly Pick<HealthFinding, 'code'>[],
): Promise<void> {
  const isDenied = findings.some(({ code }) => code === 'automation_denied')
  if (!isDenied || host.launchApp === undefined) return
  call.out.note('macOS asks now whether Hookline may control Messages: press OK.')
  await host.launchApp(MAC_PERMIT_COMMAND.name.split(' '), signal)
}
