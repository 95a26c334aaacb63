// The settings of a webhook: edit, new secret, delete.

import { useSignal } from '@preact/signals'

import type { Webhook } from '../../api/webhooks.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { ConfirmButton, DeleteCard } from '../components/dialog.tsx'
import { Form } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { bodyOfDraft, FIELDS, SigningSecret, WebhookFields, type Draft } from './webhook-fields.tsx'

type Props = { readonly webhook: Webhook }

export function WebhookSettings({ webhook }: Props) {
  return (
    <div class="columns">
      <WebhookForm key={webhook.updated_at} webhook={webhook} />
      <div class="stack">
        <Secret webhook={webhook} />
        <DeleteCard
          page="webhooks"
          noun="webhook"
          id={webhook.id}
          consequence="Its pending events and its secret will be deleted. This can't be undone."
        >
          Added <Ago time={webhook.created_at} />. To stop events for a while, pause it instead.
        </DeleteCard>
      </div>
    </div>
  )
}

/** The caller's `key` resets the form whenever the webhook changes. */
function WebhookForm({ webhook }: Props) {
  const { api, notices } = useDashboard()
  const { url, events, attachment_links = false, phone_line_ids = [], site_ids = [] } = webhook
  const description = webhook.description ?? ''
  const before: Draft = { url, events, description, attachment_links, phone_line_ids, site_ids }
  const draft = useSignal(before)
  const isChanged = JSON.stringify(draft.value) !== JSON.stringify(before)
  const { isBusy, failure, start } = useAction(
    () => {
      const body = bodyOfDraft(draft.value)
      return api.call('updateWebhook', { params: { id: webhook.id }, body })
    },
    () => notices.done('Saved.'),
  )
  return (
    <Card title="Events and URL">
      <Form onSubmit={start}>
        {webhook.format !== undefined && (
          <p class="quiet">Its events are sent in the form of {webhook.format}.</p>
        )}
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

function Secret({ webhook }: Props) {
  const { api } = useDashboard()
  // Kept only while its dialog is open.
  const secret = useSignal<string | null>(null)
  return (
    <Card title="Signing secret">
      <p class="quiet">
        Signs every event. If it's lost or someone else may know it, create a new one.
      </p>
      <div class="actions">
        <ConfirmButton
          text="New secret…"
          title="Create a new secret?"
          confirm="Create secret"
          variant="main"
          call={() => api.call('rotateWebhookSecret', { params: { id: webhook.id } })}
          onDone={(rotated) => (secret.value = rotated.secret)}
        >
          Both secrets are valid for 24 hours, so you can update your endpoint without losing
          events.
        </ConfirmButton>
      </div>
      {secret.value !== null && (
        <SigningSecret
          lead="The old secret stays valid for 24 hours."
          secret={secret.value}
          onDone={() => (secret.value = null)}
        />
      )}
    </Card>
  )
}
