// The macOS prompt for permission to control Messages. It comes with the first Apple event of the asking
// program; public reports (of nanoclaw, on macOS 26) show no prompt for a LaunchAgent. TCC prompts for an
// app launched on the screen under the same name, so the app makes one harmless run of the script. Built
// by the manual pages of open(1) and osascript(1), and not yet tried on a Mac.

import type { HealthFinding } from '../api/health.ts'
import type { ServiceHost } from '../hosting/service-host.ts'
import { askMessages } from '../lines/kinds/mac/kind.ts'
import { systemClock } from '../system/clock.ts'
import { stopSignal } from '../system/own-process.ts'
import { processRunner } from '../system/process.ts'
import { EXIT, type Call, type Command } from './command.ts'

/** Launched on the screen only; listed neither in the help nor in the README. */
export const MAC_PERMIT_COMMAND: Command = {
  name: 'mac permit',
  sentence: 'Send Messages a harmless request, so that macOS asks for permission.',
  async run(call) {
    const { macOsascript: osascriptPath } = call.loadConfig().config
    const tools = { run: processRunner(systemClock), clock: systemClock, osascriptPath }
    if (await askMessages(tools, stopSignal())) return EXIT.ok
    call.out.problem(
      'Hookline is not allowed to control Messages, or there is no iMessage account.',
    )
    return EXIT.notAllowed
  },
}

/** Brings up the dialog where the relay's own run of the script was refused. */
export async function askForAutomation(
  { host, call, signal }: { host: ServiceHost; call: Pick<Call, 'out'>; signal: AbortSignal },
  findings: readonly Pick<HealthFinding, 'code'>[],
): Promise<void> {
  const isDenied = findings.some(({ code }) => code === 'automation_denied')
  if (!isDenied || host.launchApp === undefined) return
  call.out.note('macOS now asks whether Hookline can control Messages: click OK.')
  await host.launchApp(MAC_PERMIT_COMMAND.name.split(' '), signal)
}
