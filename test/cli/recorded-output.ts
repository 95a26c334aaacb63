import type { Output } from '../../src/cli/output.ts'
import { laidOut, type Look } from '../../src/cli/table.ts'
import { TEST_START } from '../support/test-clock.ts'

export type Recorded = Readonly<Record<'lines' | 'notes' | 'problems', string[]>> & {
  readonly json: unknown[]
}

/** What a program at the end of a pipe would get. */
export const IN_PIPE: Look = { columns: null, hasColour: false, now: () => TEST_START }

/** An output that keeps what is printed, as in a pipe or with the `look` of a terminal. */
export function recordedOutput(look: Look = IN_PIPE): { out: Output; printed: Recorded } {
  const printed: Recorded = { json: [], lines: [], notes: [], problems: [] }
  const out: Output = {
    data: (json, lines) => {
      printed.json.push(json)
      printed.lines.push(...laidOut(lines, look))
    },
    note: (line) => void printed.notes.push(...laidOut([line], look)),
    problem: (text) => void printed.problems.push(text),
    bar: () => ({ add: () => {}, end: () => {} }),
    during: (_title, work) => work,
  }
  return { out, printed }
}
