// Alerts: their channels, their rules, and the latest ones with the outcome of each notice.

import { useSignal } from '@preact/signals'

import type { AlertRule, ListedAlert } from '../../api/alerts.ts'
import { AFTER_MINUTES_MAX, ALERT_CAUSES, ALERT_CAUSE_NAMES } from '../../domain/alert.ts'
import { durationWords } from '../../domain/number-words.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { Switch, TextField } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useAction, useQuickAction } from '../dashboard.ts'
import { useAlertChannels } from '../sources.ts'
import { channelName, noticeOutcome } from '../words/alerts.ts'
import { grouped } from '../words/common.ts'
import { AlertChannels } from './alert-channels.tsx'
import { LimitChoices, limitIn, type Limit } from './limit-choice.tsx'
import { ListSetting, Section } from './settings-fields.tsx'

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
  const isChanging = useSignal(false)
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
      <Button onClick={() => (isChanging.value = true)}>
        Change…
        <span class="visually-hidden">{` ${sentence}`}</span>
      </Button>
      {isChanging.value && <ChangeRule rule={rule} onClose={() => (isChanging.value = false)} />}
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
