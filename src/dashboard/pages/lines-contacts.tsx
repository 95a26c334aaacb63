import { Meter } from '../components/meter.tsx'
import { useDashboard } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import { clockTime, isoTime } from '../time-words.ts'
import { nextUtcDay } from './lines-words.ts'

/** How many people the line wrote to for the first time today, and when that begins anew. */
export function LineContacts({ line }: { readonly line: PhoneLine }) {
  const { clock } = useDashboard()
  const midnight = isoTime(nextUtcDay(clock.now.value))
  return (
    <div class="stack stack-tight">
      <Meter
        label="New contacts today"
        value={line.new_contacts_today}
        max={line.daily_contact_limit}
      />
      <p class="small quiet">Counts anew at {clockTime(midnight)} (midnight UTC).</p>
    </div>
  )
}
