import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { ActionDialog } from '../components/action-dialog.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { bodyOfDraft, FIELDS, WebhookFields, type Draft } from './webhooks-form.tsx'
import type { CreatedWebhook } from './webhooks-resources.ts'
import { SecretShownOnce } from './webhooks-secret.tsx'
import { EVENTS } from './webhooks-words.ts'

type Props = {
  /** What the address begins with. */
  readonly url: string
  readonly onClose: () => void
}

const ALL_EVENTS = EVENTS.map(([name]) => name)

export function AddWebhook({ url, onClose }: Props) {
  const { api, router } = useDashboard()
  const draft = useSignal<Draft>({ url, events: ALL_EVENTS, description: '' })
  // Lives as long as the dialog: nothing else of the page ever holds the secret.
  const created = useSignal<CreatedWebhook | null>(null)
  const action = useAction(
    () => api.post<CreatedWebhook>('webhooks', bodyOfDraft(draft.value)),
    (webhook) => (created.value = webhook),
  )
  if (created.value !== null) {
    const { id, secret } = created.value
    const stored = () => {
      created.value = null
      onClose()
      router.go(href('webhooks', [id, 'test']))
    }
    return <SecretShownOnce lead="The webhook is added." secret={secret} onStored={stored} />
  }
  return (
    <ActionDialog
      title="Add a webhook"
      confirm="Add it"
      action={action}
      but={FIELDS}
      onClose={onClose}
    >
      <WebhookFields draft={draft} failure={action.failure} isFirst />
    </ActionDialog>
  )
}
