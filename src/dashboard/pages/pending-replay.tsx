import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import type { Webhook } from '../../api/webhooks.ts'
import { Callout } from '../components/callout.tsx'
import { ConfirmButton } from '../components/dialog.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { countWords } from '../words/common.ts'
import { hostAndPathOf } from '../words/deliveries.ts'

/** The pending events of a replay or retry, with a button to stop them. */
export function PendingReplay({ webhook }: { readonly webhook: Webhook }) {
  const { api, notices } = useDashboard()
  const call = { params: { id: webhook.id } }
  const state = useRead('getReplay', call, 'delivery', 'webhook')
  const waiting = state.value?.waiting ?? 0
  /** The highest count since the view opened, or since the previous replay ended. */
  const most = useSignal(0)
  useEffect(() => {
    most.value = waiting === 0 ? 0 : Math.max(most.value, waiting)
  }, [waiting])
  if (waiting === 0) return null
  const stop = (
    <ConfirmButton
      text="Stop…"
      title="Stop sending these?"
      confirm="Stop"
      call={() => api.call('stopReplay', call)}
      onDone={({ stopped }) => {
        notices.done(`Stopped ${countWords(stopped, 'event')}.`)
        state.refresh()
      }}
    >
      Pending events won't be sent. Events already sent aren't affected.
    </ConfirmButton>
  )
  return (
    <Callout tone="wait" title={`${countWords(waiting, 'past event')} pending`} actions={stop}>
      {`Sending to ${hostAndPathOf(webhook.url)}.`}
      <progress aria-label="Past events sent" max={most.value} value={most.value - waiting} />
    </Callout>
  )
}
