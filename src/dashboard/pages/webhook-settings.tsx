// The settings of a webhook: add, edit, new secret, delete.

import { useSignal, type Signal } from '@preact/signals'
import { useId } from 'preact/hooks'

import type { Webhook, CreatedWebhook } from '../../api/webhooks.ts'
import { withScheme, inboxToken } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { fieldError, type Failure } from '../api.ts'
import { CheckLine, toggled } from '../components/checks.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import {
  ActionDialog,
  ActionForm,
  ConfirmButton,
  DeleteCard,
  ShownOnce,
} from '../components/dialog.tsx'
import { bindTo, TextField, SelectField } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useAbout } from '../sources.ts'
import { EVENT_GROUPS, EVENTS, USUAL_EVENTS } from '../words/webhook-form.ts'
import { WEBHOOKS } from '../words/webhooks.ts'
import { LimitChoices, limitIn } from './limit-choice.tsx'
import { UseInbox } from './webhook-parts.tsx'

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
  const action = useAction(
    () => {
      const body = bodyOfDraft(draft.value)
      return api.call('updateWebhook', { params: { id: webhook.id }, body })
    },
    () => notices.done('Saved.'),
  )
  return (
    <Card title="Events and URL">
      <ActionForm action={action} but={FIELDS} submit="Save" isReady={isChanged}>
        {webhook.format !== undefined && (
          <p class="quiet">Its events are sent in the form of {webhook.format}.</p>
        )}
        <WebhookFields draft={draft} failure={action.failure} />
      </ActionForm>
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

/** The typed values, with the API's names. */
export type Draft = Pick<Webhook, 'url' | 'events'> & {
  readonly description: string
  readonly attachment_links: boolean
  /** Empty for all lines, and for all sites. */
  readonly phone_line_ids: readonly string[]
  readonly site_ids: readonly string[]
}

export const FIELDS = ['url', 'events', 'description'] as const

type FieldsProps = {
  readonly draft: Signal<Draft>
  readonly failure: Failure | null
  readonly isFirst?: boolean | undefined
}

export function WebhookFields({ draft, failure, isFirst }: FieldsProps) {
  const error = (name: keyof Draft) => fieldError(failure, name)
  const change = (part: Partial<Draft>) => (draft.value = { ...draft.value, ...part })
  return (
    <>
      <TextField
        label={WEBHOOKS.url}
        type="url"
        isMono
        isFirst={isFirst}
        placeholder={WEBHOOKS.urlExample}
        hint={urlHint(draft.value.url)}
        bind={bindTo(draft.value.url, (url) => change({ url }))}
        error={error('url')}
      />
      {isFirst === true && <UseInbox onUrl={(url) => change({ url })} />}
      <EventChoice
        chosen={draft.value.events}
        error={
          draft.value.events.length === 0
            ? error('events') && 'Choose at least one.'
            : error('events')
        }
        onChange={(events) => change({ events })}
      />
      <LimitChoices of="the events of " limit={draft.value} onChange={change} />
      <fieldset class="event-choice">
        <legend>Attachments</legend>
        <CheckLine
          isOn={draft.value.attachment_links}
          hint="Events have a link for each file that works for 7 days without an API key."
          onChange={(isOn) => change({ attachment_links: isOn })}
        >
          Include download links
        </CheckLine>
      </fieldset>
      <TextField
        label="Description"
        placeholder="Booking system"
        maxLength={500}
        bind={bindTo(draft.value.description, (description) => change({ description }))}
        error={error('description')}
      />
    </>
  )
}

function urlHint(typed: string): string {
  const url = withScheme(typed)
  if (url !== typed.trim()) return `Events will be sent to ${url}`
  return /^http:/i.test(url)
    ? 'Receives POST requests. With http, others can read events in transit: fine on this computer and your own network, otherwise use https.'
    : 'Receives POST requests. URLs on this computer and your own network work, too.'
}

export function bodyOfDraft({ url, description, ...draft }: Draft) {
  const words = { url: withScheme(url), description: description.trim() || null }
  return { ...draft, ...words, ...limitIn(draft) }
}

type EventsProps = {
  readonly chosen: Webhook['events']
  readonly onChange: (chosen: Webhook['events']) => void
  readonly error: string | null
}

function EventChoice({ chosen, error, onChange }: EventsProps) {
  const id = useId()
  return (
    <fieldset class="event-choice" aria-describedby={error === null ? undefined : `${id}-error`}>
      <legend>Events</legend>
      {[...EVENT_GROUPS].map(([group, names]) => (
        <div key={group} role="group" aria-label={group} class="event-group">
          <p class="small quiet" aria-hidden="true">
            {group}
          </p>
          {names.map((name) => (
            <CheckLine
              key={name}
              isOn={chosen.includes(name)}
              hint={EVENTS[name][1]}
              onChange={(isOn) => onChange(toggled(chosen, name, isOn))}
            >
              <code>{name}</code>
            </CheckLine>
          ))}
        </div>
      ))}
      {error !== null && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
    </fieldset>
  )
}

type SecretProps = { readonly secret: string; readonly lead: string; readonly onDone: () => void }

export function SigningSecret({ secret, lead, onDone }: SecretProps) {
  return (
    <ShownOnce title="Save your signing secret" onDone={onDone}>
      <p>{lead} You won't see the secret again.</p>
      <CodeBlock what="Secret" text={secret} />
      <p class="field-hint">
        Your app uses it to verify that events come from this relay, following Standard Webhooks.{' '}
        <a href="/guide/webhooks">Read the guide</a>
      </p>
    </ShownOnce>
  )
}

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
