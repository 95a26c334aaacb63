import type { LineDriver } from '../domain/driver.ts'
import type { Clock } from '../system/clock.ts'
import type { Random } from '../system/random.ts'
import { createSimulatedDriver } from './simulated/driver.ts'

export type DriverOptions = {
  readonly simulatedLines: number
  readonly simulatedDelayMs: number
  /** Where the ledger of the simulated network lies. */
  readonly simulatedLedgerPath: string
}

export type DriverTools = { readonly clock: Clock; readonly random: Random }

/**
 * Every kind of device. The simulated one is there also when no simulated line is asked for: lines
 * of earlier starts are then known as not configured.
 */
export function createDrivers(options: DriverOptions, tools: DriverTools): readonly LineDriver[] {
  return [
    createSimulatedDriver(
      {
        lineCount: options.simulatedLines,
        delayMs: options.simulatedDelayMs,
        ledgerPath: options.simulatedLedgerPath,
      },
      tools,
    ),
  ]
}
