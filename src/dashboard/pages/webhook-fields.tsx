// The fields of a webhook, and its signing secret.

import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

import { withScheme } from '../../domain/webhook-url.ts'
import { fieldError, type Failure } from '../api.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { ShownOnce } from '../components/dialog.tsx'
import { bindTo, TextField } from '../components/form.tsx'
import { EVENT_GROUPS, EVENTS, WEBHOOK_FORM } from '../words/webhook-form.ts'
import { WEBHOOKS } from '../words/webhooks.ts'
import { UseInbox } from './webhook-parts.tsx'

export type Draft = {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
  readonly attachmentLinks: boolean
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
        error={error('events') && WEBHOOK_FORM.chooseEvents}
        onChange={(events) => change({ events })}
      />
      <fieldset class="event-choice">
        <legend>{WEBHOOK_FORM.attachments}</legend>
        <CheckLine
          isOn={draft.value.attachmentLinks}
          hint={WEBHOOK_FORM.linksHint}
          onChange={(isOn) => change({ attachmentLinks: isOn })}
        >
          {WEBHOOK_FORM.links}
        </CheckLine>
      </fieldset>
      <TextField
        label={WEBHOOK_FORM.description}
        placeholder={WEBHOOK_FORM.descriptionExample}
        maxLength={500}
        bind={bindTo(draft.value.description, (description) => change({ description }))}
        error={error('description')}
      />
    </>
  )
}

function urlHint(typed: string): string {
  const url = withScheme(typed)
  if (url !== typed.trim()) return WEBHOOK_FORM.sentTo(url)
  return /^http:/i.test(url) ? WEBHOOK_FORM.overHttp : WEBHOOK_FORM.overHttps
}

export function bodyOfDraft({ url, events, description, attachmentLinks }: Draft) {
  return {
    url: withScheme(url),
    events,
    description: description.trim() || null,
    attachment_links: attachmentLinks,
  }
}

type CheckProps = {
  readonly isOn: boolean
  readonly hint: string
  readonly onChange: (isOn: boolean) => void
  readonly children: ComponentChildren
}

function CheckLine({ isOn, hint, onChange, children }: CheckProps) {
  return (
    <label>
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {children}
        <span class="field-hint">{hint}</span>
      </span>
    </label>
  )
}

type ChoiceProps = {
  readonly chosen: readonly string[]
  readonly error: string | null
  readonly onChange: (chosen: readonly string[]) => void
}

function EventChoice({ chosen, error, onChange }: ChoiceProps) {
  const id = useId()
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, name] : chosen.filter((each) => each !== name))
  return (
    <fieldset class="event-choice" aria-describedby={error === null ? undefined : `${id}-error`}>
      <legend>{WEBHOOK_FORM.events}</legend>
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
              onChange={(isOn) => toggle(name, isOn)}
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
    <ShownOnce title={WEBHOOK_FORM.saveSecret} onDone={onDone}>
      <p>
        {lead} {WEBHOOK_FORM.onlyOnce}
      </p>
      <CodeBlock what={WEBHOOK_FORM.secret} text={secret} />
      <p class="field-hint">
        {WEBHOOK_FORM.secretUse} <a href="/guide/webhooks">{WEBHOOK_FORM.readGuide}</a>
      </p>
    </ShownOnce>
  )
}
