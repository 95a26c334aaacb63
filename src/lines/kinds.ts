// The kinds of lines, in the order of the API's enum and of the help.

import type { OptionTable, OptionValues } from '../domain/option.ts'
import { IPHONE_KIND } from './kinds/iphone/kind.ts'
import { MAC_KIND } from './kinds/mac/kind.ts'
import { SHORTCUTS_KIND } from './kinds/shortcuts/kind.ts'
import { SIMULATED_KIND } from './kinds/simulated/kind.ts'

export const LINE_KINDS = [MAC_KIND, IPHONE_KIND, SHORTCUTS_KIND, SIMULATED_KIND] as const

type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  member: infer All,
) => void
  ? All
  : never
/** A kind without options has an empty table. */
type NamedValues<Table extends OptionTable> = string extends keyof Table
  ? never
  : OptionValues<Table>
type ValuesOf<Kind> = Kind extends { options: infer Table extends OptionTable }
  ? NamedValues<Table>
  : never

export type KindOptions = Intersection<ValuesOf<(typeof LINE_KINDS)[number]>>
