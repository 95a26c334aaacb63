// What can be said of a webhook, in the dialog that makes one and in its settings.

import type { Signal } from '@preact/signals'

import { withScheme } from '../../domain/webhook-url.ts'
import { TextField } from '../components/field.tsx'
import { fieldError } from '../field-error.ts'
import type { Failure } from '../request.ts'
import { EventChoice } from './webhooks-events.tsx'

export type Draft = {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
}

/** What tells beside it why it was refused. */
export const FIELDS = ['url', 'events', 'description'] as const

type Props = {
  readonly draft: Signal<Draft>
  readonly failure: Failure | null
  readonly isFirst?: boolean | undefined
}

export function WebhookFields({ draft, failure, isFirst }: Props) {
  const { events } = draft.value
  const error = (name: keyof Draft) => fieldError(failure, name)
  return (
    <>
      <TextField
        label="Address"
        type="url"
        isMono
        isFirst={isFirst}
        placeholder={EXAMPLE_URL}
        hint={urlHint(draft.value.url)}
        bind={part(draft, 'url')}
        error={error('url')}
      />
      <EventChoice
        chosen={events}
        error={error('events') && 'Choose at least one.'}
        onChange={(chosen) => (draft.value = { ...draft.value, events: chosen })}
      />
      <TextField
        label="Description"
        placeholder="Booking system"
        maxLength={500}
        bind={part(draft, 'description')}
        error={error('description')}
      />
    </>
  )
}

function urlHint(typed: string): string {
  const url = withScheme(typed)
  if (url !== typed.trim()) return `Events will be sent to ${url}`
  return /^http:/i.test(url)
    ? 'It is called by POST. Over http, events can be read on their way: fine on this machine and in your own network; elsewhere use https.'
    : 'It is called by POST. Addresses in your own network, and on this machine, are fine.'
}

export const EXAMPLE_URL = 'https://shop.example.com/hooks/messages'

/** One text of the draft, for the field in which it is typed. */
function part(draft: Signal<Draft>, name: 'url' | 'description') {
  return {
    get value() {
      return draft.value[name]
    },
    set value(text) {
      draft.value = { ...draft.value, [name]: text }
    },
  }
}

/** As the API takes it. */
export function bodyOfDraft({ url, events, description }: Draft) {
  return { url: withScheme(url), events, description: description.trim() || null }
}
