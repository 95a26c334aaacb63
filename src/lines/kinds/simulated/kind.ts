import { option } from '../../../domain/option.ts'
import { integerKind } from '../../../domain/value-kind.ts'
import type { LineKind } from '../../line-kind.ts'
import { createSimulatedDriver } from './driver.ts'

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
  trialCommand: 'hookline serve --simulated-lines 2',
  options: OPTIONS,
  reasons: { absent: NOT_CONFIGURED },
  failures: {
    not_carried:
      'The message had not been sent when the relay ended; it is not resent automatically.',
  },
  deletable: 'simulated lines that this start did not ask for',
  checklist: [{ title: 'The relay was started with this line', codes: [NOT_CONFIGURED.code] }],
  // Made without lines too: those of earlier starts are then known as not configured.
  create: (options, { relayClock: clock, random, pathOf }) => ({
    driver: createSimulatedDriver(
      {
        lineCount: options.simulatedLines,
        delayMs: options.simulatedDelayMs,
        ledgerPath: pathOf('simulated.db'),
      },
      { clock, random },
    ),
  }),
}
