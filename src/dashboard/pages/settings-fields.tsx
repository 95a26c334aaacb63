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
import { Form } from '../components/form.tsx'
import { Switch } from '../components/switch.tsx'
import type { SettingName } from './settings-resources.ts'
import { useSetting, type SettingSaver } from './settings-saving.ts'
import { variableOf } from './settings-words.ts'

type Words = { readonly name: SettingName; readonly label: string; readonly hint: string }

const ON = 'true'

export function SwitchSetting(props: Words) {
  const saver = useSetting(props.name)
  const { setting, error, save } = saver
  const isOn = setting?.value === ON
  return (
    <SettingFrame {...props} saver={saver} shown={isOn ? 'On' : 'Off'}>
      <Switch {...props} isOn={isOn} onChange={(wanted) => void save(String(wanted))} />
      {error !== null && <p class="field-error">{error}</p>}
    </SettingFrame>
  )
}

type Option = { readonly value: string; readonly text: string }

export function ChoiceSetting(props: Words & { readonly options: readonly Option[] }) {
  const saver = useSetting(props.name)
  const { setting, error, save } = saver
  const value = setting?.value ?? ''
  const shown = props.options.find((option) => option.value === value)?.text ?? value
  return (
    <SettingFrame {...props} saver={saver} shown={shown}>
      <SelectField
        {...props}
        error={error}
        value={value}
        onChange={(wanted) => void save(wanted)}
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
  const { toText = same, toValue = same, ask } = props
  const saver = useSetting(props.name)
  const { setting, error, save } = saver
  /** What is typed and not saved; null where that is as the relay has it. */
  const draft = useSignal<string | null>(null)
  const isFinishing = useRef(false)
  const now = setting === null ? '' : toText(setting.value)
  async function finish() {
    // Enter tells it twice: that the text changed, and that the form is to be sent.
    if (isFinishing.current) return
    isFinishing.current = true
    const text = draft.value?.trim() ?? now
    const value = toValue(text)
    const isWanted = text !== now && (ask === undefined || (await ask(value)))
    // What was refused stays, so that it can be mended.
    if (!isWanted || (await save(value))) draft.value = null
    isFinishing.current = false
  }
  const bind = {
    get value() {
      return draft.value ?? now
    },
    set value(text) {
      draft.value = text
    },
  }
  const send = () => void finish()
  return (
    <SettingFrame {...props} saver={saver} shown={now || (setting?.value ?? '')}>
      <Form class="stack-tight" onChange={send} onSubmit={send}>
        <TextField {...props} error={error} bind={bind} />
        {props.children}
      </Form>
    </SettingFrame>
  )
}

function same(text: string): string {
  return text
}

type FrameProps = Pick<Words, 'name' | 'label'> & {
  readonly saver: SettingSaver
  /** What is told of it where it cannot be changed here. */
  readonly shown: string
  readonly children: ComponentChildren
}

function SettingFrame({ name, label, saver, shown, children }: FrameProps) {
  if (saver.setting?.is_locked === true) {
    return (
      <div class="setting stack-tight">
        <p>
          <strong>{label}</strong>: {shown}
        </p>
        <p class="field-hint">
          <code>{variableOf(name)}</code> decides this. Change it where the relay is started.
        </p>
      </div>
    )
  }
  return <div class="setting">{children}</div>
}
