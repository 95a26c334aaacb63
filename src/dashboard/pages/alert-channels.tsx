// Where the owner is alerted: a list with tests, and the form of a new channel.

import { useSignal } from '@preact/signals'

import type { AlertChannel } from '../../api/alerts.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionDialog, ConfirmButton } from '../components/dialog.tsx'
import { SelectField, TextField, bindTo, optionsOf } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useAlertChannels, useLines } from '../sources.ts'
import { channelName, noticeOutcome } from '../words/alerts.ts'
import { lineOption } from '../words/line-states.ts'
import { TextSetting } from './settings-fields.tsx'

const ADD = { text: 'Add a text', post: 'Add a POST' } as const
type Kind = keyof typeof ADD

export function AlertChannels() {
  const adding = useSignal<Kind | null>(null)
  const channels = useAlertChannels().value?.data ?? []
  const isOneLine = useLines().value?.data.length === 1
  return (
    <div class="stack-tight">
      {channels.length === 0 && <p class="quiet">Nobody is called yet.</p>}
      <ul class="settings-browsers">
        {channels.map((channel) => (
          <ChannelRow key={channel.id} channel={channel} />
        ))}
      </ul>
      {isOneLine && channels.length > 0 && channels.every(({ kind }) => kind === 'text') && (
        <Callout tone="warn" title="Add a second channel">
          With one line, no text can say that it is off. Add a POST.
        </Callout>
      )}
      <div class="actions">
        {(['text', 'post'] as const).map((kind) => (
          <Button key={kind} icon="plus" onClick={() => (adding.value = kind)}>
            {ADD[kind]}
          </Button>
        ))}
      </div>
      {adding.value !== null && (
        <AddChannel kind={adding.value} onClose={() => (adding.value = null)} />
      )}
    </div>
  )
}

/** For set-up: after the first channel it offers the heartbeat for a dead machine. */
export function FirstChannels() {
  const isDone = (useAlertChannels().value?.data.length ?? 0) > 0
  return (
    <Card title="Channels">
      <AlertChannels />
      {isDone && <TextSetting name="heartbeat_url" type="url" isHidden />}
    </Card>
  )
}

function ChannelRow({ channel }: { readonly channel: AlertChannel }) {
  const { id, kind, form, quiet_hours: quiet } = channel
  const { api, notices } = useDashboard()
  const outcome = useSignal('')
  const { isBusy, failure, start } = useAction(
    () => api.call('testAlertChannel', { params: { id } }),
    (notice) => (outcome.value = `Test: ${noticeOutcome(notice)}.`),
  )
  const name = channelName(channel)
  return (
    <li>
      <div class="stack-tight">
        <PersonText>{name}</PersonText>
        <p class="small quiet">
          {kind === 'text' ? 'Text' : `POST to ${form}`}
          {quiet !== null && `, quiet from ${quiet.from} to ${quiet.to}`}
        </p>
        <p class="small" role="status">
          {outcome.value}
        </p>
        <FailureNote failure={failure} />
      </div>
      <div class="actions">
        <Button isBusy={isBusy} onClick={start}>
          Send a test
          <span class="visually-hidden">{` to ${name}`}</span>
        </Button>
        <ConfirmButton
          text="Remove…"
          title="Remove this channel?"
          confirm="Remove"
          call={() => api.call('deleteAlertChannel', { params: { id } })}
          onDone={() => notices.done('Removed.')}
        >
          {`\u2068${name}\u2069`} gets no more alerts.
        </ConfirmButton>
      </div>
    </li>
  )
}

const FORMS = { ntfy: 'ntfy: https://HOST/TOPIC', apprise: 'Apprise: http://HOST:8000/notify/KEY' }
const EMPTY = { to: '', url: '', form: '', name: '', line: '', from: '', until: '' }

function AddChannel({ kind, onClose }: { readonly kind: Kind; readonly onClose: () => void }) {
  const { api } = useDashboard()
  const draft = useSignal({ ...EMPTY, form: 'ntfy' })
  const { to, url, form, name, line, from, until } = draft.value
  const bind: TargetProps['bind'] = (field) =>
    bindTo(draft.value[field], (text) => (draft.value = { ...draft.value, [field]: text }))
  const action = useAction(() => {
    const post = { url, form: form === 'ntfy' ? 'ntfy' : 'apprise' } as const
    const body = {
      ...(kind === 'text' ? { to } : post),
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(line !== '' && { phone_line_id: line }),
      ...(from + until !== '' && { quiet_hours: { from, to: until } }),
    }
    return api.call('createAlertChannel', { body })
  }, onClose)
  const error = (field: string) => fieldError(action.failure, field)
  const isHalf = (from === '') !== (until === '')
  const missing = (time: string) => (isHalf && time === '' ? 'Enter both times, or none.' : null)
  return (
    <ActionDialog
      title={ADD[kind]}
      confirm="Add"
      action={action}
      but={['to', 'url']}
      isReady={(to + url).trim() !== '' && !isHalf}
      onClose={onClose}
    >
      <TargetFields {...{ kind, bind, error }} />
      <TextField label="Name" placeholder="My phone" maxLength={100} bind={bind('name')} />
      <div class="row">
        <TextField type="time" label="Quiet from" bind={bind('from')} error={missing(from)} />
        <TextField type="time" label="Quiet until" bind={bind('until')} error={missing(until)} />
      </div>
      <p class="field-hint">What comes in quiet hours is sent afterwards.</p>
    </ActionDialog>
  )
}

type TargetProps = {
  readonly kind: Kind
  readonly bind: (field: keyof typeof EMPTY) => { value: string }
  readonly error: (field: string) => string | null
}

function TargetFields({ kind, bind, error }: TargetProps) {
  const lines = useLines().value?.data ?? []
  if (kind === 'post') {
    return (
      <>
        <TextField label="URL" type="url" isFirst isMono bind={bind('url')} error={error('url')} />
        <SelectField label="Format" bind={bind('form')} options={optionsOf(FORMS)} />
      </>
    )
  }
  const options = [{ value: '', text: 'Any line that can send' }, ...lines.map(lineOption)]
  return (
    <>
      <TextField
        label="Phone number"
        type="tel"
        isFirst
        hint="Your own phone, not a line of the relay."
        bind={bind('to')}
        error={error('to')}
      />
      {lines.length > 1 && <SelectField label="Sent by" bind={bind('line')} options={options} />}
    </>
  )
}
