// Parts of the webhook views: the fields of a webhook, its signing secret, and the sample receiver.

import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

import { withScheme } from '../../domain/webhook-url.ts'
import { fieldError, type Failure } from '../api.ts'
import { Callout } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ShownOnce } from '../components/dialog.tsx'
import { bindTo, TextField } from '../components/form.tsx'
import { ReadFailure } from '../components/when-ready.tsx'
import { useRelayState, useWebhookDays } from '../sources.ts'
import { EVENT_GROUPS, EVENTS } from '../words/webhooks.ts'

export type Draft = {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
  readonly attachmentLinks: boolean
}

export const EXAMPLE_URL = 'https://shop.example.com/hooks/messages'
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
        label="URL"
        type="url"
        isMono
        isFirst={isFirst}
        placeholder={EXAMPLE_URL}
        hint={urlHint(draft.value.url)}
        bind={bindTo(draft.value.url, (url) => change({ url }))}
        error={error('url')}
      />
      <EventChoice
        chosen={draft.value.events}
        error={error('events') && 'Choose at least one.'}
        onChange={(events) => change({ events })}
      />
      <fieldset class="event-choice">
        <legend>Attachments</legend>
        <CheckLine
          isOn={draft.value.attachmentLinks}
          hint="Events have a link for each file that works for 7 days without an API key."
          onChange={(isOn) => change({ attachmentLinks: isOn })}
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

export function EventChoice({ chosen, error, onChange }: ChoiceProps) {
  const id = useId()
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, name] : chosen.filter((each) => each !== name))
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

export const RECEIVER_URL = 'http://127.0.0.1:8080/'

/** In Python, which most computers have. */
const SCRIPT = `python3 - <<'END'
from http.server import *
class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers['content-length'])).decode())
        self.send_response(204); self.end_headers()
print('Waiting for events. Press Ctrl-C to stop.')
HTTPServer(('127.0.0.1', 8080), Hook).serve_forever()
END`

export function Receiver() {
  return (
    <div class="stack-tight">
      <p class="quiet">
        Tools such as n8n, Make and Zapier give you a webhook URL. To see events without one, print
        them in a terminal:
      </p>
      <ol class="receiver-steps">
        <li>
          Open a terminal on the computer that runs Hookline. On a Mac, that is the Terminal app.
        </li>
        <li>
          Copy this, paste it there, and press Enter. If Python is missing, a Mac offers to install
          it.
          <CodeBlock what="Receiver" text={SCRIPT} />
        </li>
        <li>
          Keep that window open. The URL is <code>{RECEIVER_URL}</code>
        </li>
      </ol>
    </div>
  )
}

type ReachProps = {
  /** Null for all webhooks. */
  readonly webhookId: string | null
}

/** The finding that the relay itself has no way out, which no attempt shows; or a failed read. */
export function OutOfReach({ webhookId }: ReachProps) {
  const days = useWebhookDays()
  const found = useRelayState().value?.findings.find(
    ({ cause: { code, about } }) =>
      code === 'webhook_out_of_reach' && (webhookId === null || about.id === webhookId),
  )?.cause
  if (found === undefined) return <ReadFailure of={days} />
  return (
    <Callout tone="bad" title={found.title}>
      {found.why} {found.fix}
    </Callout>
  )
}
