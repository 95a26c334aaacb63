import { href } from '../address.ts'
import { Card } from '../components/card.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { useDashboard } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'

const UNASKED = ['simulated not_configured', 'shortcuts device_absent']

/** For a line that somebody asked for, and nobody does any more; the relay deletes no other. */
export function DeleteLine({ line }: { readonly line: PhoneLine }) {
  const { api, notices, router } = useDashboard()
  if (!UNASKED.includes(`${line.driver} ${line.status_reason}`)) return null
  return (
    <Card title="Delete">
      <p class="quiet">Nothing uses this line any more. Its messages stay.</p>
      <div class="actions">
        <ConfirmButton
          icon="trash"
          text="Delete the line…"
          title="Delete this line?"
          confirm="Delete"
          look="danger"
          call={() => api.remove(`phone-lines/${line.id}`)}
          onDone={() => {
            notices.done('The line is deleted.')
            router.replace(href('lines'))
          }}
        >
          It is no longer listed. Its messages keep its id and number, and can still be read.
        </ConfirmButton>
      </div>
    </Card>
  )
}
