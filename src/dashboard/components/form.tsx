// Forms, and inputs with label, hint and error.

import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import { later } from '../clock.ts'
import { useDashboard } from '../dashboard.ts'
import { COMMON, grouped } from '../words/common.ts'
import { Button } from './button.tsx'

type FormProps = {
  readonly onSubmit: () => unknown
  readonly onChange?: (() => void) | undefined
  /** Focuses the first field; `autofocus` works only while the page loads. */
  readonly isFirst?: boolean | undefined
  readonly class?: string | undefined
  readonly children: ComponentChildren
}

/** Needs a `type="submit"` button inside. */
export function Form({ onSubmit, onChange, isFirst, class: name = 'stack', children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (isFirst === true) form.current?.querySelector<HTMLElement>('input:not([hidden])')?.focus()
  }, [])
  return (
    <form
      class={name}
      ref={form}
      noValidate
      onChange={onChange}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}

type Words = {
  readonly label: string
  readonly isLabelHidden?: boolean | undefined
  readonly hint?: ComponentChildren
  readonly error?: string | null | undefined
}

/** Attributes that connect an input to its label, hint and error. */
type Box = {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

/** Wraps any input: `{(box) => <input type="file" {...box} />}`. */
export function Field(props: Words & { readonly children: (box: Box) => VNode }) {
  const { label, isLabelHidden = false, hint, error = null, children } = props
  const id = useId()
  const words = error ?? hint
  const wordsId = words === undefined ? undefined : `${id}-words`
  const box = { id, 'aria-describedby': wordsId, 'aria-invalid': error !== null }
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children(box)}
      {wordsId && (
        <p id={wordsId} class={error === null ? 'field-hint' : 'field-error'}>
          {words}
        </p>
      )}
    </div>
  )
}

/** Holds the typed text, such as a signal. */
type Bound = { value: string }

export function bindTo(value: string, set: (text: string) => void): Bound {
  return {
    get value() {
      return value
    },
    set value(text) {
      set(text)
    },
  }
}

type InputType = 'text' | 'password' | 'tel' | 'url' | 'number' | 'time' | 'date' | 'datetime-local'

type TextProps = Words & {
  readonly bind: Bound
  readonly type?: InputType | undefined
  readonly placeholder?: string | undefined
  readonly autoComplete?: string | undefined
  /** Focuses the field when its dialog opens. */
  readonly isFirst?: boolean | undefined
  readonly isMono?: boolean | undefined
  readonly maxLength?: number | undefined
  readonly min?: string | undefined
}

export function TextField(props: TextProps) {
  const { bind, placeholder, autoComplete = 'off' } = props
  // Preact types each kind of input separately; these attributes fit all of them.
  const type = (props.type ?? 'text') as 'text'
  return (
    <Field {...props}>
      {(box) => (
        <input
          {...box}
          class={props.isMono === true ? 'input mono' : 'input'}
          type={type}
          dir="auto"
          value={bind.value}
          placeholder={placeholder}
          autoComplete={autoComplete}
          autoFocus={props.isFirst}
          maxLength={props.maxLength}
          min={props.min}
          onInput={(event) => (bind.value = event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** Asks for the current password by default. */
export function PasswordField(props: Partial<TextProps> & Pick<TextProps, 'bind'>) {
  return (
    <TextField label={COMMON.password} type="password" autoComplete="current-password" {...props} />
  )
}

/** The code of an authenticator app. */
export function CodeField(props: Pick<TextProps, 'bind' | 'error' | 'hint'>) {
  return (
    <TextField label="Code" autoComplete="one-time-code" isMono isFirst maxLength={50} {...props} />
  )
}

/** A hidden field with the account name, for password managers. */
export function AccountName({ name = 'owner' }: { readonly name?: string | undefined }) {
  return <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
}

type AreaProps = Words & Pick<TextProps, 'bind' | 'isFirst'>

export function TextArea(props: AreaProps) {
  const { bind } = props
  return (
    <Field {...props}>
      {(box) => (
        <textarea
          {...box}
          class="input"
          dir="auto"
          rows={3}
          autoFocus={props.isFirst}
          value={bind.value}
          onInput={(event) => (bind.value = event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

export type Option<T extends string = string> = { readonly value: T; readonly text: string }

export const optionsOf = (texts: Readonly<Record<string, string>>): readonly Option[] =>
  Object.entries(texts).map(([value, text]) => ({ value, text }))

type SelectProps = Words & { readonly bind: Bound; readonly options: readonly Option[] }

export function SelectField(props: SelectProps) {
  const { bind } = props
  return (
    <Field {...props}>
      {(box) => (
        <select
          {...box}
          class="input"
          value={bind.value}
          onChange={(event) => (bind.value = event.currentTarget.value)}
        >
          {props.options.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type FoldProps = {
  /** Values of filters; empty ones are not in use. */
  readonly of: readonly string[]
  readonly class?: string
  readonly children: ComponentChildren
}

/** Filters of a list. A phone folds them into a button with the number of those in use. */
export function FilterFold({ of, class: name = '', children }: FoldProps) {
  const isOpen = useSignal(false)
  const count = of.filter((value) => value !== '').length
  return (
    <>
      <Button
        icon="settings"
        isExpanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </Button>
      <div
        class={`${name} fold ${isOpen.value ? 'is-open' : ''}`}
        role="group"
        aria-label="Filters"
      >
        {children}
      </div>
    </>
  )
}

type Chip = {
  readonly text: string
  /** Shown behind the text unless it is 0. */
  readonly count?: number | undefined
  readonly isOn: boolean
  readonly onPress: () => void
}

/** Filters of a list in one row, each pressed or not. */
export function Chips({ label, of }: { readonly label: string; readonly of: readonly Chip[] }) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {of.map(({ text, count = 0, isOn, onPress }) => (
        <button key={text} type="button" class="chip-button" aria-pressed={isOn} onClick={onPress}>
          {text}
          {count > 0 && <span class="figures">{` ${grouped(count)}`}</span>}
        </button>
      ))}
    </div>
  )
}

type SwitchProps = {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly hint?: string | undefined
}

/** On or off, with immediate effect. */
export function Switch({ label, isOn, onChange, hint }: SwitchProps) {
  const id = useId()
  return (
    <div class="switch">
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={(event) => {
            const wanted = event.currentTarget.checked
            // The switch shows the relay's state: it moves once the relay has accepted the change.
            event.currentTarget.checked = isOn
            onChange(wanted)
          }}
        />
        <span>{label}</span>
      </label>
      {hint !== undefined && (
        <p id={id} class="field-hint">
          {hint}
        </p>
      )}
    </div>
  )
}

/** Pause in typing after which a value counts. */
const TYPING_MS = 350

/** `value` after the last pause in typing. */
export function useSettled(value: string): string {
  const { clock } = useDashboard()
  const latest = useSignal(value)
  const settled = useSignal(value)
  latest.value = value
  useSignalEffect(() => {
    const resting = latest.value
    return later(clock, TYPING_MS, () => (settled.value = resting))
  })
  return settled.value
}
