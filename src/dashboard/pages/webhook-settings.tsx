// The settings of a webhook: its form, its secret, and its end.

import { useSignal } from '@preact/signals'

import type { Webhook } from '../../api/webhooks.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { ConfirmButton, DeleteCard } from '../components/dialog.tsx'
import { Form } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { WEBHOOK_FORM } from '../words/webhook-form.ts'
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
          noun={WEBHOOK_FORM.deleteNoun}
          id={webhook.id}
          consequence={WEBHOOK_FORM.deleteConsequence}
        >
          {WEBHOOK_FORM.addedAt} <Ago time={webhook.created_at} />. {WEBHOOK_FORM.deleteHint}
        </DeleteCard>
      </div>
    </div>
  )
}

/** Starts over whenever the webhook is changed. */
function WebhookForm({ webhook }: Props) {
  const { api, notices } = useDashboard()
  const { url, events, description } = webhook
  const before: Draft = {
    url,
    events,
    description: description ?? '',
    attachmentLinks: webhook.attachment_links === true,
    lineIds: webhook.phone_line_ids ?? [],
  }
  const draft = useSignal(before)
  const isChanged = JSON.stringify(draft.value) !== JSON.stringify(before)
  const { isBusy, failure, start } = useAction(
    () => {
      const body = bodyOfDraft(draft.value)
      return api.call('updateWebhook', { params: { id: webhook.id }, body })
    },
    () => notices.done(WEBHOOK_FORM.saved),
  )
  return (
    <Card title={WEBHOOK_FORM.settings}>
      <Form onSubmit={start}>
        <WebhookFields draft={draft} failure={failure} />
        <FailureNote failure={failure} but={FIELDS} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!isChanged}>
            {WEBHOOK_FORM.save}
          </Button>
        </div>
      </Form>
    </Card>
  )
}

function Secret({ webhook }: Props) {
  const { api } = useDashboard()
  // Lives as long as the dialog that shows it.
  const secret = useSignal<string | null>(null)
  return (
    <Card title={WEBHOOK_FORM.secretTitle}>
      <p class="quiet">{WEBHOOK_FORM.secretHint}</p>
      <div class="actions">
        <ConfirmButton
          text={WEBHOOK_FORM.newSecret}
          title={WEBHOOK_FORM.newSecretTitle}
          confirm={WEBHOOK_FORM.createSecret}
          look="main"
          call={() => api.call('rotateWebhookSecret', { params: { id: webhook.id } })}
          onDone={(rotated) => (secret.value = rotated.secret)}
        >
          {WEBHOOK_FORM.bothValid}
        </ConfirmButton>
      </div>
      {secret.value !== null && (
        <SigningSecret
          lead={WEBHOOK_FORM.oldValid}
          secret={secret.value}
          onDone={() => (secret.value = null)}
        />
      )}
    </Card>
  )
}
