// Alerts: their channels and the form of a new one, their rules, and the latest alerts with the outcome of each notice.

import { useSignal } from '@preact/signals'

import type { AlertRule, ListedAlert, AlertChannel, AlertNotice } from '../../api/alerts.ts'
import { AFTER_MINUTES_MAX, ALERT_CAUSES, ALERT_CAUSE_NAMES } from '../../domain/alert.ts'
import { durationWords } from '../../domain/number-words.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionDialog, ConfirmButton, DialogButton } from '../components/dialog.tsx'
import { Switch, TextField, SelectField, bindTo, optionsOf } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useAction, useQuickAction } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { useAlertChannels, useLines } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { lineOption } from '../words/line-states.ts'
import { LimitChoices, limitIn, type Limit } from './limit-choice.tsx'
import { ListSetting, Section, TextSetting } from './settings-fields.tsx'

const CAUSES = ALERT_CAUSE_NAMES.map((value) => ({ value, text: ALERT_CAUSES[value].sentence }))

export function AlertsSection() {
  const rules = useRead('listAlertRules', {}, 'alert').value?.data ?? []
  const last = useRead('listAlerts', { query: { limit: 20 } }, 'alert').value?.data ?? []
  return (
    <Section name="alerts">
      <h3>Channels</h3>
      <AlertChannels />
      <h3>What alerts you</h3>
      <ul class="settings-browsers">
        {rules.map((rule) => (
          <RuleRow key={rule.cause} rule={rule} />
        ))}
      </ul>
      <details class="unfold">
        <summary>
          <Icon name="forward" />
          Let the heartbeat stop, too
        </summary>
        <ListSetting name="heartbeat_stops_for" options={CAUSES} />
      </details>
      <h3>Last alerts</h3>
      {last.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="settings-browsers">
        {last.map((alert) => (
          <AlertRow key={alert.id} alert={alert} />
        ))}
      </ul>
    </Section>
  )
}

type RuleProps = { readonly rule: AlertRule }

function RuleRow({ rule }: RuleProps) {
  const { api } = useDashboard()
  const { cause, after_minutes: minutes, is_enabled: isOn } = rule
  const isLimited = rule.phone_line_ids !== null || rule.site_ids !== null
  const { start } = useQuickAction((is_enabled: boolean) =>
    api.call('putAlertRule', { body: { cause, is_enabled } }),
  )
  const { sentence } = ALERT_CAUSES[cause]
  return (
    <li>
      <Switch
        label={sentence}
        isOn={isOn}
        hint={`After ${durationWords(minutes * 60_000)}${isLimited ? ', on certain lines only' : ''}.`}
        onChange={start}
      />
      <DialogButton dialog={(onClose) => <ChangeRule {...{ rule, onClose }} />}>
        Change…
        <span class="visually-hidden">{` ${sentence}`}</span>
      </DialogButton>
    </li>
  )
}

/** Causes that are about a line. For any other cause, a limit to lines would turn its alerts off. */
const OF_LINES: readonly string[] = ['line_off', 'approval_waiting']

function ChangeRule({ rule, onClose }: RuleProps & { readonly onClose: () => void }) {
  const { api } = useDashboard()
  const { cause, phone_line_ids: lines, site_ids: sites } = rule
  const after = useSignal(String(rule.after_minutes))
  const limit = useSignal<Limit>({ phone_line_ids: lines ?? [], site_ids: sites ?? [] })
  const action = useAction(() => {
    const after_minutes = Number(after.value || 'none')
    return api.call('putAlertRule', { body: { cause, after_minutes, ...limitIn(limit.value) } })
  }, onClose)
  const error = fieldError(action.failure, 'after_minutes')
  return (
    <ActionDialog
      title={ALERT_CAUSES[cause].sentence}
      confirm="Save"
      action={action}
      but={['after_minutes']}
      onClose={onClose}
    >
      <TextField
        label="Minutes until it alerts you"
        type="number"
        isFirst
        bind={after}
        error={error && `Enter a whole number from 1 to ${grouped(AFTER_MINUTES_MAX)}.`}
      />
      {OF_LINES.includes(cause) && (
        <LimitChoices
          of=""
          limit={limit.value}
          onChange={(change) => (limit.value = { ...limit.value, ...change })}
        />
      )}
    </ActionDialog>
  )
}

function AlertRow({ alert }: { readonly alert: ListedAlert }) {
  const { title, raised_at, resolved_at, lasted_seconds: seconds, notices } = alert
  const channels = useAlertChannels().value?.data
  const outcomes = notices.map((notice) => {
    if (channels === undefined) return ''
    const channel = channels.find(({ id }) => id === notice.channel_id)
    return `${channel ? channelName(channel) : 'A removed channel'}: ${noticeOutcome(notice)}.`
  })
  return (
    <li>
      <div class="stack-tight">
        <PersonText>{title}</PersonText>
        <p class="small quiet">
          <Ago time={raised_at} />
          {resolved_at === null
            ? ', still lasting'
            : `, lasted ${durationWords((seconds ?? 0) * 1_000)}`}
        </p>
        <p class="small">
          <PersonText>{outcomes.join(' ')}</PersonText>
        </p>
      </div>
    </li>
  )
}

const ADD = { text: 'Add a text', post: 'Add a POST' } as const
type Kind = keyof typeof ADD

export function AlertChannels() {
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
          <DialogButton
            key={kind}
            icon="plus"
            dialog={(onClose) => <AddChannel {...{ kind, onClose }} />}
          >
            {ADD[kind]}
          </DialogButton>
        ))}
      </div>
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

/** "My phone", "+1 202 555 0147", "https://ntfy.example.com". */
export function channelName({ name, to, url }: AlertChannel): string {
  return name ?? (to === null ? (url ?? '') : numberWords(to))
}

const NOTICE_WORDS: Readonly<Record<string, string>> = {
  waiting: 'waiting',
  handed_over: 'may have arrived',
  done: 'sent',
  failed: 'failed',
  no_line: 'no line can send',
  recipient_opted_out: 'the phone texted STOP',
  own_number: "it's the number of one of your lines",
  uncertain: 'it may have arrived',
  restored: 'it comes from a backup',
}

/** "sent", "waiting: no line can send", "failed: the URL answered 404". */
export function noticeOutcome({ status, error }: AlertNotice): string {
  return [status, error ?? []]
    .flat()
    .map(
      (code) =>
        NOTICE_WORDS[code] ?? code.replace('http_', 'the URL answered ').replaceAll('_', ' '),
    )
    .join(': ')
}
