import { driverWords } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'

/** The number of a line that has a name, and the kind of its device. */
export function LineKind({ line }: { readonly line: PhoneLine }) {
  return (
    <>
      {line.label !== null && <span class="figures">{line.phone_number} · </span>}
      {driverWords(line)}
    </>
  )
}
