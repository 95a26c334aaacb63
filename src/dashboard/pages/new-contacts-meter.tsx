import { useId } from 'preact/hooks'

import type { PhoneLine } from '../../api/phone-lines.ts'
import { grouped } from '../words/common.ts'

/** Amber from 80 % of the limit, red once it is reached. */
export function NewContactsMeter({ line }: { readonly line: PhoneLine }) {
  const { new_contacts_today: value, daily_contact_limit: max } = line
  const id = useId()
  return (
    <div class="meter">
      <div class="meter-words" id={id}>
        <span>New contacts today</span>
        <span class="figures">{`${grouped(value)} of ${grouped(max)}`}</span>
      </div>
      <meter
        aria-labelledby={id}
        min={0}
        // A limit of 0 is always reached.
        max={max === 0 ? 1 : max}
        value={value >= max ? Math.max(max, 1) : value}
        low={max * 0.8}
        high={Math.max(max - 0.5, 0)}
        optimum={0}
      />
    </div>
  )
}
