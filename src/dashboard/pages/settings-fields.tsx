// The fields of a setting. Each one saves by itself, at once, says so, and tells beside it why it could
// not; what a variable of the environment decides is told and cannot be changed here.
//
//   <SwitchSetting name="open_metrics" label="…" hint="…" />
//   <ChoiceSetting name="webhook_targets" label="…" hint="…" options={[…]} />
//   <TextSetting name="backups_kept" label="…" hint="…" />

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

import { SelectField, TextField } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { Switch } from '../components/switch.tsx'
import { useSetting, type SettingSaver } from './settings-saving.ts'
import { variableOf, type Setting, type SettingName } from './settings-sources.ts'

type Words = { readonly name: SettingName; readonly label: string; readonly hint: string }

const ON = 'true'

export function SwitchSetting({ name, label, hint }: Words) {
  const saver = useSetting(name)
  const { setting, error, save } = saver
  if (setting?.is_locked === true) {
    return (
      <LockedSetting label={label} setting={setting} shown={setting.value === ON ? 'On' : 'Off'} />
    )
  }
  return (
    <SettingFrame saver={saver}>
      <Switch
        label={label}
        hint={hint}
        isOn={setting?.value === ON}
        onChange={(isOn) => void save(String(isOn))}
      />
      {error !== null && <p class="field-error">{error}</p>}
    </SettingFrame>
  )
}

type Option = { readonly value: string; readonly text: string }

export function ChoiceSetting(props: Words & { readonly options: readonly Option[] }) {
  const { name, label, hint, options } = props
  const saver = useSetting(name)
  const { setting, error, save } = saver
  if (setting?.is_locked === true) {
    const shown = options.find(({ value }) => value === setting.value)?.text ?? setting.value
    return <LockedSetting label={label} setting={setting} shown={shown} />
  }
  return (
    <SettingFrame saver={saver}>
      <SelectField
        label={label}
        hint={hint}
        error={error}
        value={setting?.value ?? ''}
        options={options}
        onChange={(value) => void save(value)}
      />
    </SettingFrame>
  )
}

type TextProps = Words & {
  readonly type?: 'number' | 'url' | undefined
  readonly placeholder?: string | undefined
  /** What stands in the field for a value, and the other way round; the value itself where left out. */
  readonly toText?: ((value: string) => string) | undefined
  readonly toValue?: ((text: string) => string) | undefined
  /** Asks before it is saved, and resolves to whether it should be. */
  readonly ask?: ((value: string) => Promise<boolean>) | undefined
  /** Stands below the field. */
  readonly children?: ComponentChildren
}

/** Saves when the field is left, or by Enter. */
export function TextSetting(props: TextProps) {
  const { name, label, hint, toText = same, toValue = same } = props
  const saver = useSetting(name)
  const { setting, error, save } = saver
  /** What is typed and not saved; null where that is as the relay has it. */
  const draft = useSignal<string | null>(null)
  const isFinishing = useRef(false)
  const now = setting === null ? '' : toText(setting.value)
  if (setting?.is_locked === true) {
    return (
      <LockedSetting label={label} setting={setting} shown={now === '' ? setting.value : now} />
    )
  }
  async function finish() {
    // Enter tells it twice: that the text changed, and that the form is to be sent.
    if (isFinishing.current) return
    isFinishing.current = true
    const text = draft.value?.trim() ?? now
    const value = toValue(text)
    const isWanted = text !== now && (props.ask === undefined || (await props.ask(value)))
    // What was refused stays, so that it can be mended.
    if (!isWanted || (await save(value))) draft.value = null
    isFinishing.current = false
  }
  return (
    <SettingFrame saver={saver}>
      <form
        class="stack stack-tight"
        noValidate
        onChange={() => void finish()}
        onSubmit={(event) => {
          event.preventDefault()
          void finish()
        }}
      >
        <TextField
          label={label}
          type={props.type}
          placeholder={props.placeholder}
          hint={hint}
          error={error}
          value={draft.value ?? now}
          onInput={(text) => (draft.value = text)}
        />
        {props.children}
      </form>
    </SettingFrame>
  )
}

function same(text: string): string {
  return text
}

type FrameProps = { readonly saver: SettingSaver; readonly children: ComponentChildren }

/** The sign that it was saved has its place, so that nothing moves for it. */
function SettingFrame({ saver, children }: FrameProps) {
  return (
    <div class="setting">
      {children}
      {saver.isSaved && (
        <span class="setting-saved small">
          <Icon name="check" />
          Saved
        </span>
      )}
    </div>
  )
}

type LockedProps = {
  readonly label: string
  readonly setting: Setting
  readonly shown: string
}

function LockedSetting({ label, setting, shown }: LockedProps) {
  return (
    <div class="setting stack stack-tight">
      <p>
        <strong>{label}</strong>: {shown}
      </p>
      <p class="field-hint">
        <code>{variableOf(setting.name)}</code> decides this. Change it where the relay is started.
      </p>
    </div>
  )
}
