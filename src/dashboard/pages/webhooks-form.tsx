// What can be said of a webhook, in the dialog that makes one and in its settings.

import type { Signal } from '@preact/signals'

import { FailureNote } from '../components/callout.tsx'
import { TextField } from '../components/field.tsx'
import { fieldError, otherFailure } from '../field-error.ts'
import type { Failure } from '../request.ts'
import { EventChoice } from './webhooks-events.tsx'

export type Draft = {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
}

type Props = {
  readonly draft: Signal<Draft>
  readonly failure: Failure | null
  readonly isFirst?: boolean | undefined
}

export function WebhookFields({ draft, failure, isFirst }: Props) {
  const { url, events, description } = draft.value
  const change = (changes: Partial<Draft>) => (draft.value = { ...draft.value, ...changes })
  const rest = otherFailure(failure, ['url', 'events', 'description'])
  return (
    <>
      <TextField
        label="Address"
        type="url"
        isMono
        isFirst={isFirst}
        placeholder="https://shop.example.com/hooks/messages"
        hint="It is called by POST. Addresses in your own network, and on this machine, are fine."
        value={url}
        error={fieldError(failure, 'url')}
        onInput={(text) => change({ url: text })}
      />
      <EventChoice
        chosen={events}
        error={fieldError(failure, 'events') === null ? null : 'Choose at least one.'}
        onChange={(chosen) => change({ events: chosen })}
      />
      <TextField
        label="Description"
        placeholder="Booking system"
        maxLength={500}
        value={description}
        error={fieldError(failure, 'description')}
        onInput={(text) => change({ description: text })}
      />
      {rest !== null && <FailureNote failure={rest} />}
    </>
  )
}

/** As the API takes it. */
export function bodyOfDraft({ url, events, description }: Draft) {
  return { url: url.trim(), events, description: description.trim() || null }
}
