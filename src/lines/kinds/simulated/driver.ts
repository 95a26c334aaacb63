import type { LineDriver } from '../../driver.ts'
import { numberOfLine } from './correspondents.ts'
import { SimulatedLineRun } from './line-run.ts'
import { SimulatedNetwork, type NetworkTools } from './network.ts'

export type SimulatedOptions = {
  /** Lines that this start asks for. */
  readonly lineCount: number
  readonly delayMs: number
  /** The path of the ledger, `simulated.db`. */
  readonly ledgerPath: string
}

/** Lines that need no device, and people whose last four digits decide how they behave. */
export function createSimulatedDriver(options: SimulatedOptions, tools: NetworkTools): LineDriver {
  const { lineCount, delayMs, ledgerPath } = options
  let network: SimulatedNetwork | null = null
  // Made with the first line run: a start without simulated lines leaves no file behind.
  const open = () => (network ??= new SimulatedNetwork(ledgerPath, tools))
  return {
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
