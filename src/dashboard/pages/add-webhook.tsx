import { useSignal } from '@preact/signals'

import type { CreatedWebhook } from '../../api/webhooks.ts'
import { inboxToken } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { ActionDialog } from '../components/dialog.tsx'
import { SelectField, bindTo } from '../components/form.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useAbout } from '../sources.ts'
import { USUAL_EVENTS } from '../words/webhook-form.ts'
import { WEBHOOKS } from '../words/webhooks.ts'
import { bodyOfDraft, FIELDS, SigningSecret, WebhookFields, type Draft } from './webhook-fields.tsx'

type AddProps = { readonly url: string; readonly onClose: () => void }

export function AddWebhook({ url, onClose }: AddProps) {
  const { api, router } = useDashboard()
  const draft = useSignal<Draft>({
    url,
    events: USUAL_EVENTS,
    description: '',
    attachment_links: false,
    phone_line_ids: [],
    site_ids: [],
  })
  const formats = useAbout().value?.formats ?? []
  const names = ['hookline', ...formats.map(({ name }) => name)]
  const format = useSignal('hookline')
  const form = formats.find(({ name }) => name === format.value)
  const choose = (name: string) => {
    format.value = name
    const events = formats.find((each) => each.name === name)?.events ?? USUAL_EVENTS
    draft.value = { ...draft.value, events }
  }
  // Nothing else in the page ever holds the secret, which goes with the dialog.
  const created = useSignal<CreatedWebhook | null>(null)
  const action = useAction(
    () =>
      api.call('createWebhook', { body: { ...bodyOfDraft(draft.value), format: format.value } }),
    (webhook) => (created.value = webhook),
  )
  if (created.value !== null) {
    const { id, url: target, secret } = created.value
    const done = () => {
      created.value = null
      onClose()
      router.go(href('webhooks', [id, inboxToken(target) === null ? 'test' : 'inbox']))
    }
    return <SigningSecret lead="Webhook added." secret={secret} onDone={done} />
  }
  return (
    <ActionDialog
      title={WEBHOOKS.add}
      confirm={WEBHOOKS.add}
      action={action}
      but={FIELDS}
      onClose={onClose}
    >
      <WebhookFields draft={draft} failure={action.failure} isFirst />
      <SelectField
        label="Format"
        hint={form?.about ?? "Hookline's own form, with all events."}
        bind={bindTo(format.value, choose)}
        options={names.map((value) => ({ value, text: value }))}
      />
    </ActionDialog>
  )
}
