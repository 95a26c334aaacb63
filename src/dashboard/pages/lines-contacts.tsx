import { Meter } from '../components/meter.tsx'
import { useDashboard } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import { clockTime, isoTime } from '../time-words.ts'

const DAY_MS = 86_400_000

/** How many people the line wrote to for the first time today, and when that begins anew. */
export function LineContacts({ line }: { readonly line: PhoneLine }) {
  const { clock } = useDashboard()
  const midnight = isoTime(nextUtcDay(clock.now.value))
  return (
    <div class="stack-tight">
      <Meter
        label="New contacts today"
        value={line.new_contacts_today}
        max={line.daily_contact_limit}
      />
      <p class="small quiet">Counts anew at {clockTime(midnight)} (midnight UTC).</p>
    </div>
  )
}

/** The next midnight UTC, when contacts are counted anew; milliseconds since 1970, as `now` is. */
function nextUtcDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS
}
