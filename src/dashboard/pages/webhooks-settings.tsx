import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Ago } from '../components/ago.tsx'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { Form } from '../components/form.tsx'
import { Switch } from '../components/switch.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { bodyOfDraft, FIELDS, WebhookFields, type Draft } from './webhooks-form.tsx'
import type { RotatedSecret } from './webhooks-resources.ts'
import { SecretShownOnce } from './webhooks-secret.tsx'

type Props = { readonly webhook: Webhook }

export function WebhookSettings({ webhook }: Props) {
  return (
    <div class="columns">
      <WebhookForm key={webhook.updated_at} webhook={webhook} />
      <div class="stack">
        <Pause webhook={webhook} />
        <Secret webhook={webhook} />
        <Delete webhook={webhook} />
      </div>
    </div>
  )
}

/** Begins anew whenever the webhook was changed. */
function WebhookForm({ webhook }: Props) {
  const { api, notices } = useDashboard()
  const { url, events, description } = webhook
  const before: Draft = { url, events, description: description ?? '' }
  const draft = useSignal(before)
  const isChanged = JSON.stringify(draft.value) !== JSON.stringify(before)
  const { isBusy, failure, start } = useAction(
    () => api.put<Webhook>(`webhooks/${webhook.id}`, bodyOfDraft(draft.value)),
    () => notices.done('Saved.'),
  )
  return (
    <Card title="Events and URL">
      <Form onSubmit={start}>
        <WebhookFields draft={draft} failure={failure} />
        <FailureNote failure={failure} but={FIELDS} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!isChanged}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  )
}

function Pause({ webhook }: Props) {
  const { api, notices } = useDashboard()
  const { failure, start } = useAction(
    (is_active: boolean) => api.put<Webhook>(`webhooks/${webhook.id}`, { is_active }),
    ({ is_active }) => notices.done(is_active ? 'Events go out again.' : 'The webhook is paused.'),
  )
  return (
    <Card title="On or off">
      <Switch
        label="Delivers events"
        isOn={webhook.is_active && webhook.disabled_reason === null}
        hint="Off, new events are not queued for it, and what waits is held."
        onChange={start}
      />
      <FailureNote failure={failure} />
    </Card>
  )
}

function Secret({ webhook }: Props) {
  const { api } = useDashboard()
  // Lives as long as the dialog that shows it.
  const secret = useSignal<string | null>(null)
  return (
    <Card title="Signing secret">
      <p class="quiet">
        Every event is signed with it. If it is lost or known to others, make a new one.
      </p>
      <div class="actions">
        <ConfirmButton
          text="Make a new secret…"
          title="Make a new secret?"
          confirm="Make a new secret"
          look="main"
          call={() => api.post<RotatedSecret>(`webhooks/${webhook.id}/rotate-secret`)}
          onDone={(rotated) => (secret.value = rotated.secret)}
        >
          Both secrets sign for 24 hours, so that you can change the receiver without losing an
          event.
        </ConfirmButton>
      </div>
      {secret.value !== null && (
        <SecretShownOnce
          lead="The old secret signs too for 24 hours."
          secret={secret.value}
          onStored={() => (secret.value = null)}
        />
      )}
    </Card>
  )
}

function Delete({ webhook }: Props) {
  const { api, notices, router } = useDashboard()
  return (
    <Card title="Delete">
      <p class="small quiet">
        It was added <Ago time={webhook.created_at} />. To stop for a while, switch it off instead.
      </p>
      <div class="actions">
        <ConfirmButton
          icon="trash"
          text="Delete the webhook…"
          title="Delete this webhook?"
          confirm="Delete"
          look="danger"
          call={() => api.remove(`webhooks/${webhook.id}`)}
          onDone={() => {
            notices.done('The webhook is deleted.')
            router.replace(href('webhooks'))
          }}
        >
          What waits for it is lost, and so is its secret. This cannot be undone.
        </ConfirmButton>
      </div>
    </Card>
  )
}
