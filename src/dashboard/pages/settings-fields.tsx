// Fields for settings. Each saves by itself and shows its own error. A setting that an environment variable decides
// is read-only.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import type { Setting } from '../../api/owner.ts'
import { fieldError, isDeclined } from '../api.ts'
import { Button } from '../components/button.tsx'
import { CheckList } from '../components/checks.tsx'
import { bindTo, Form, SelectField, Switch, TextField, type Option } from '../components/form.tsx'
import { Dialog } from '../components/modal.tsx'
import { Card } from '../components/page.tsx'
import { useDashboard } from '../dashboard.ts'
import { useSettings } from '../sources.ts'
import { browsersZone } from '../time-words.ts'
import { COMMON } from '../words/common.ts'
import { SECTIONS, variableOf } from '../words/settings.ts'

type SectionProps = { readonly name: keyof typeof SECTIONS; readonly children: ComponentChildren }

/** Its address, `#/settings/backups`, scrolls here, also if it is followed again. */
export function Section({ name, children }: SectionProps) {
  const { router } = useDashboard()
  const section = useRef<HTMLElement>(null)
  const id = useId()
  const isWanted = router.route.value.path[0] === name
  useEffect(() => {
    if (isWanted) section.current?.scrollIntoView()
  }, [isWanted])
  const [title, about] = SECTIONS[name]
  return (
    <section class="settings-section" id={`/settings/${name}`} aria-labelledby={id} ref={section}>
      <div>
        <h2 id={id}>{title}</h2>
        <p class="small quiet">{about}</p>
      </div>
      <Card>{children}</Card>
    </section>
  )
}

export function useSetting(name: Setting['name']) {
  const { api, notices } = useDashboard()
  const settings = useSettings()
  const read = settings.value?.data
  /** The relay's answer to the latest save, until the settings are read again. */
  const answered = useSignal<{ readonly setting: Setting; readonly over: typeof read } | null>(null)
  const isBusy = useSignal(false)
  const error = useSignal<string | null>(null)
  const isNewer = answered.value !== null && answered.value.over === read
  const setting = isNewer ? answered.value?.setting : read?.find((each) => each.name === name)

  /** Resolves to whether the value was saved. */
  async function save(value: string): Promise<boolean> {
    if (isBusy.value) return false
    isBusy.value = true
    const answer = await api.call('putSetting', { params: { name }, body: { value } })
    isBusy.value = false
    if (!answer.ok) {
      const { failure } = answer
      error.value = isDeclined(failure) ? null : (fieldError(failure, 'value') ?? failure.message)
      if (error.value !== null) notices.announce(error.value)
      return false
    }
    error.value = null
    answered.value = { setting: answer.value, over: read }
    settings.refresh()
    notices.done('Saved.')
    return true
  }
  return { setting: setting ?? null, error: error.value, save }
}

/** Each setting's label, and the hint below its field. */
const FIELDS = {
  time_zone: 'Time zone',
  time_zone_hint: 'The days of limits and figures begin at midnight there.',
  webhook_targets: 'Webhook destinations',
  webhook_targets_hint:
    'Apps on your own network, such as n8n or Home Assistant, have private addresses.',
  open_metrics: 'Public metrics',
  open_metrics_hint:
    'When off, only this computer and keys that may read the health of all lines can read /metrics.',
  announce_device_messages: 'Include messages sent from the device',
  announce_device_messages_hint: 'Webhooks also fire for these.',
  enforce_automation_pause: 'Block API sends during human takeover',
  enforce_automation_pause_hint: 'If off, apps only see the flag.',
  opt_out: 'When someone texts STOP',
  opt_out_hint:
    'Also UNSUBSCRIBE and the like, in English, German, Spanish and French. See People.',
  message_retention_days: 'Keep messages for (days)',
  message_retention_days_hint: 'Older messages are deleted. Leave empty to keep forever.',
  attachment_max_mb: 'Largest file (MB)',
  attachment_max_mb_hint: 'Larger uploads are refused.',
  attachment_quota_gb: 'Storage for files (GB)',
  attachment_quota_gb_hint: "Once it's full, new files aren't kept.",
  attachment_retention_days: 'Keep files for (days)',
  attachment_retention_days_hint:
    'Older files are deleted; their messages stay. Leave empty to keep both as long.',
  heartbeat_url: 'Heartbeat URL',
  heartbeat_url_hint:
    'Called every 5 minutes while the relay works. It stops only if the relay, its computer or its network does, or if the disk is almost full: not for a line that is offline or a webhook that fails, unless you choose their alerts in Alerts.',
  heartbeat_stops_for: 'The heartbeat also stops while an alert lasts',
  heartbeat_stops_for_hint: 'Its URL is in Health. Choose none for one that goes on.',
  release_source: 'Release source',
  release_source_hint:
    'A folder on that computer or an https URL with SHA256SUMS and its signature. Checked once a day. Leave empty to turn this off.',
  backups_kept: 'Daily backups to keep',
  backups_kept_hint: 'From 1 to 365. Older ones are deleted.',
} as const

type Field = Setting['name'] & keyof typeof FIELDS

/** `hint` replaces the usual one. */
type FieldProps = { readonly name: Field; readonly hint?: string | undefined }

function fieldWords({ name, hint = FIELDS[`${name}_hint`] }: FieldProps) {
  return { label: FIELDS[name], hint }
}

export function SwitchSetting(props: FieldProps) {
  const saver = useSetting(props.name)
  const { setting, error, save } = saver
  const isOn = setting?.value === 'true'
  return (
    <SettingFrame {...props} saver={saver} shown={isOn ? 'On' : 'Off'}>
      <Switch {...fieldWords(props)} isOn={isOn} onChange={(wanted) => void save(String(wanted))} />
      {error !== null && <p class="field-error">{error}</p>}
    </SettingFrame>
  )
}

/** A list that is `none` if it is empty. */
export function ListSetting(props: FieldProps & { readonly options: readonly Option[] }) {
  const saver = useSetting(props.name)
  const value = saver.setting?.value ?? ''
  const { label, hint } = fieldWords(props)
  return (
    <SettingFrame {...props} saver={saver} shown={value}>
      <CheckList
        {...props}
        legend={label}
        hint={saver.error ?? hint}
        chosen={value.split(',')}
        onChange={(list) =>
          void saver.save(list.filter((each) => each !== 'none').join() || 'none')
        }
      />
    </SettingFrame>
  )
}

export function ChoiceSetting(props: FieldProps & { readonly options: readonly Option[] }) {
  const saver = useSetting(props.name)
  const { setting, error, save } = saver
  const value = setting?.value ?? ''
  const shown = props.options.find((option) => option.value === value)?.text ?? value
  return (
    <SettingFrame {...props} saver={saver} shown={shown}>
      <SelectField
        {...props}
        {...fieldWords(props)}
        error={error}
        bind={bindTo(value, (wanted) => void save(wanted))}
      />
    </SettingFrame>
  )
}

export function TimeZoneSetting() {
  const { setting } = useSetting('time_zone')
  const zones = new Set(['UTC', setting?.value ?? 'UTC', ...Intl.supportedValuesOf('timeZone')])
  return (
    <>
      <ChoiceSetting
        name="time_zone"
        options={[...zones].map((value) => ({ value, text: value.replaceAll('_', ' ') }))}
      />
      <UseOwnZone />
    </>
  )
}

/** Shows nothing if the relay already uses this browser's zone, or the setting is locked. */
function UseOwnZone() {
  const { setting, save } = useSetting('time_zone')
  if (setting === null || setting.is_locked || setting.value === browsersZone()) return null
  return (
    <div class="actions">
      <Button onClick={() => void save(browsersZone())}>
        {`Use this browser's: ${browsersZone().replaceAll('_', ' ')}`}
      </Button>
    </div>
  )
}

type TextProps = FieldProps & {
  readonly type?: 'number' | 'url' | undefined
  readonly placeholder?: string | undefined
  /** The value saved for an empty field. */
  readonly emptyValue?: string | undefined
  /** Never shows the saved value, which may be secret. */
  readonly isHidden?: boolean | undefined
  /** Returns the dialog to confirm before a value is saved; null if it is harmless. */
  readonly warning?: ((value: string) => Warning | null) | undefined
  readonly children?: ComponentChildren
}

type Warning = { readonly title: string; readonly confirm: string; readonly words: string }

/** Saves when the field loses the focus, or with Enter. */
export function TextSetting(props: TextProps) {
  const { emptyValue, isHidden = false, warning } = props
  const saver = useSetting(props.name)
  const { setting, error, save } = saver
  /** The typed text; null if it wasn't changed. */
  const draft = useSignal<string | null>(null)
  const asked = useSignal<Warning | null>(null)
  const isEmpty = setting === null || isHidden || setting.value === emptyValue
  const now = isEmpty ? '' : setting.value
  const text = () => draft.value?.trim() ?? now
  const value = () => text() || (emptyValue ?? '')
  async function store() {
    asked.value = null
    // A refused text stays, so that it can be corrected.
    if (await save(value())) draft.value = null
  }
  function finish() {
    if (text() === now) return drop()
    asked.value = warning?.(value()) ?? null
    if (asked.value === null) void store()
  }
  function drop() {
    asked.value = null
    draft.value = null
  }
  return (
    <SettingFrame {...props} saver={saver} shown={now || (setting?.value ?? '')}>
      <Form class="stack-tight" onChange={finish} onSubmit={finish}>
        <TextField
          {...props}
          {...fieldWords(props)}
          error={error}
          bind={bindTo(draft.value ?? now, (typed) => (draft.value = typed))}
        />
        {props.children}
      </Form>
      {asked.value !== null && (
        <Dialog
          title={asked.value.title}
          onClose={drop}
          actions={
            <>
              <Button onClick={drop}>{COMMON.cancel}</Button>
              <Button variant="danger" onClick={() => void store()}>
                {asked.value.confirm}
              </Button>
            </>
          }
        >
          <p>{asked.value.words}</p>
        </Dialog>
      )}
    </SettingFrame>
  )
}

type FrameProps = {
  readonly name: Field
  readonly saver: ReturnType<typeof useSetting>
  /** The value of a locked setting, in words. */
  readonly shown: string
  readonly children: ComponentChildren
}

function SettingFrame({ name, saver, shown, children }: FrameProps) {
  if (saver.setting?.is_locked !== true) return <div class="setting">{children}</div>
  return (
    <div class="setting stack-tight">
      <p>
        <strong>{FIELDS[name]}</strong>: {shown}
      </p>
      <p class="field-hint">
        Set by <code>{variableOf(name)}</code>. Change it there, and restart the relay.
      </p>
    </div>
  )
}
