import { option } from '../../../domain/option.ts'
import { integerKind } from '../../../domain/value-kind.ts'
import { FULL_CAPABILITIES, type LineDriver } from '../../driver.ts'
import type { LineKind } from '../../line-kind.ts'
import { SimulatedLineRun } from './line-run.ts'
import { type NetworkTools, SimulatedNetwork } from './network.ts'
import { numberOfLine } from './people.ts'
import { scriptAction } from './script.ts'

const OPTIONS = {
  simulatedLines: option('simulated-lines', integerKind('N', 0, 99), {
    isHarmless: true,
    default: 0,
    sentence: 'Number of simulated lines.',
  }),
  simulatedDelayMs: option('simulated-delay-ms', integerKind('MS', 0, 3_600_000), {
    isHarmless: true,
    default: 400,
    sentence:
      'Milliseconds until a simulated person receives a message, and again until they read it.',
  }),
} as const

const NOT_CONFIGURED = {
  code: 'not_configured',
  title: 'The relay was started without this line',
  hint: 'This start did not ask for the line: start with more simulated lines, or delete it.',
}

/** Lines for practice, without a device. */
export const SIMULATED_KIND: LineKind<typeof OPTIONS> = {
  name: 'simulated',
  title: 'Simulated: nothing leaves this machine',
  isReal: false,
  sharesNumber: false,
  abilities: FULL_CAPABILITIES,
  trialCommand: 'hookline serve --simulated-lines 2',
  practiceNumbers: { reader: '+12025550123', echo: '+12025550196' },
  options: OPTIONS,
  reasons: { absent: NOT_CONFIGURED },
  failures: {
    not_carried:
      'The message had not been sent when the relay ended; it is not resent automatically.',
    no_sms: 'The recipient takes no SMS.',
  },
  deletable: 'simulated lines that this start did not ask for',
  checklist: [{ title: 'The relay was started with this line', codes: [NOT_CONFIGURED.code] }],
  // Made without lines too: those of earlier starts are then known as not configured.
  create: (options, { relayClock: clock, random, pathOf }) => {
    const { simulatedLines: lineCount, simulatedDelayMs: delayMs } = options
    const ledgerPath = pathOf('simulated.db')
    const driver = createSimulatedDriver({ lineCount, delayMs, ledgerPath }, { clock, random })
    return { driver, actions: [scriptAction(driver.network)] }
  },
}

export type SimulatedOptions = {
  /** Lines that this start asks for. */
  readonly lineCount: number
  readonly delayMs: number
  /** The path of the ledger, `simulated.db`. */
  readonly ledgerPath: string
}

type SimulatedDriver = LineDriver & {
  /** Made with the first line run: a start without simulated lines leaves no file behind. */
  readonly network: () => SimulatedNetwork
}

/** Lines that need no device, and people whose last four digits decide how they behave. */
export function createSimulatedDriver(
  options: SimulatedOptions,
  tools: NetworkTools,
): SimulatedDriver {
  const { lineCount, delayMs, ledgerPath } = options
  let network: SimulatedNetwork | null = null
  const open = () => (network ??= new SimulatedNetwork(ledgerPath, tools))
  return {
    network: open,
    kind: 'simulated',
    discover: async () =>
      Array.from({ length: lineCount }, (_, index) => ({
        key: String(index + 1),
        number: numberOfLine(index + 1),
      })),
    checkup: async () => [],
    run: async (line, listener, signal) => {
      const lineTools = { network: open(), clock: tools.clock, lineCount, delayMs }
      await new SimulatedLineRun(lineTools, line, listener, signal).run()
    },
  }
}
