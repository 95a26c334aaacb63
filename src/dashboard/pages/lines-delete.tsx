import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { Dialog } from '../components/dialog.tsx'
import { useDashboard } from '../dashboard.ts'
import type { Failure } from '../request.ts'
import type { PhoneLine } from '../resources.ts'

/** For a simulated line that this start did not ask for; the relay deletes no other. */
export function DeleteLine({ line }: { readonly line: PhoneLine }) {
  const { api, notices, router } = useDashboard()
  const isAsking = useSignal(false)
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  if (line.driver !== 'simulated' || line.status_reason !== 'not_configured') return null

  async function remove() {
    isBusy.value = true
    const answer = await api.remove(`phone-lines/${line.id}`)
    isBusy.value = false
    failure.value = answer.ok ? null : answer.failure
    if (!answer.ok) return
    notices.done('The line is deleted.')
    router.replace(href('lines'))
  }
  return (
    <Card title="Delete">
      <p class="quiet">Nothing uses this line any more. Its messages stay.</p>
      <div class="actions">
        <Button icon="trash" onClick={() => (isAsking.value = true)}>
          Delete the line
        </Button>
      </div>
      {isAsking.value && (
        <Dialog
          title="Delete this line?"
          onClose={() => (isAsking.value = false)}
          actions={
            <Button look="danger" isBusy={isBusy.value} onClick={() => void remove()}>
              Delete
            </Button>
          }
        >
          <p>It is no longer listed. Its messages keep its id and number, and can still be read.</p>
          {failure.value !== null && <FailureNote failure={failure.value} />}
        </Dialog>
      )}
    </Card>
  )
}
