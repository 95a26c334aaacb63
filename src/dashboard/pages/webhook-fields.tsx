// The fields of a webhook, and its signing secret.

import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'

import type { Webhook } from '../../api/webhooks.ts'
import { withScheme } from '../../domain/webhook-url.ts'
import { fieldError, type Failure } from '../api.ts'
import { CheckLine, toggled } from '../components/checks.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ShownOnce } from '../components/dialog.tsx'
import { bindTo, TextField } from '../components/form.tsx'
import { EVENT_GROUPS, EVENTS } from '../words/webhook-form.ts'
import { WEBHOOKS } from '../words/webhooks.ts'
import { LimitChoices, limitIn } from './limit-choice.tsx'
import { UseInbox } from './webhook-parts.tsx'

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

type SecretProps = {
  readonly secret: string
  readonly lead: string
  readonly onDone: () => void
}

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
