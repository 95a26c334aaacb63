// Plays for the Messages stand-in, each a change of chat.db that was seen on a real Mac, with
// what a relay must make of it. "Told" is an event at the seam (src/lines/driver.ts),
// "live" one that is announced, "history" one that is only recorded.

import { DATABASE_TRACES } from './database-traces.ts'
import { INBOUND_TRACES } from './inbound-traces.ts'
import { OWN_TRACES } from './own-traces.ts'
import type { Trace } from './trace.ts'

export type TraceName =
  | keyof typeof OWN_TRACES
  | keyof typeof INBOUND_TRACES
  | keyof typeof DATABASE_TRACES

export const TRACES: Readonly<Record<TraceName, Trace>> = {
  ...OWN_TRACES,
  ...INBOUND_TRACES,
  ...DATABASE_TRACES,
}
