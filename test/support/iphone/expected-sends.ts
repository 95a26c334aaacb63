import { expect } from 'bun:test'

import type { Settlement } from '../../../src/lines/driver.ts'

/** The name of a bubble. */
export const GUID = expect.stringMatching(
  /^ui-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
) as unknown as string // Matches such a text, as bun:test has it.

export const ACCEPTED: Settlement = { outcome: 'accepted', guid: GUID }

export function notSent(reason: string, blame: 'line' | 'message' = 'line'): Settlement {
  return { outcome: 'not_sent', reason, blame }
}

export function unknown(reason: string): Settlement {
  return { outcome: 'unknown', reason }
}
