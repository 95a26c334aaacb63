// Inputs with their label, hint and error.
//
//   <TextField label="Name" value={name.value} onInput={(text) => (name.value = text)} hint="…" />
//   <SelectField label="Line" value={id} options={[{ value: '', text: 'Auto' }]} onChange={…} />
//   <TextArea label="Text" value={…} onInput={…} />
//   <Field label="File" …>{(box) => <input type="file" {...box} />}</Field>     any other input

import type { ComponentChildren, VNode } from 'preact'
import { useId } from 'preact/hooks'

type Words = {
  readonly label: string
  readonly isLabelHidden?: boolean | undefined
  readonly hint?: ComponentChildren
  readonly error?: string | null | undefined
}

/** What ties an input to its words. */
export type Box = {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

export function Field(props: Words & { readonly children: (box: Box) => VNode }) {
  const { label, isLabelHidden = false, hint, error = null, children } = props
  const id = useId()
  const hasWords = hint !== undefined || error !== null
  const box = {
    id,
    'aria-describedby': hasWords ? `${id}-words` : undefined,
    'aria-invalid': error !== null,
  }
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children(box)}
      {hasWords && (
        <p id={`${id}-words`} class={error === null ? 'field-hint' : 'field-error'}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

type TextProps = Words & {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'password' | 'tel' | 'email' | 'url' | 'number' | 'search' | undefined
  readonly placeholder?: string | undefined
  readonly autoComplete?: string | undefined
  readonly isFirst?: boolean | undefined
  readonly isMono?: boolean | undefined
  readonly maxLength?: number | undefined
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** `isFirst`: it has the focus when a dialog or page opens with it. */
export function TextField(props: TextProps) {
  const { value, onInput, placeholder, autoComplete = 'off' } = props
  // Preact's type tells the kinds of input apart; what is set here fits all of them.
  const type = (props.type ?? 'text') as 'text'
  return (
    <Field {...props}>
      {(box) => (
        <input
          {...box}
          class={props.isMono === true ? 'input mono' : 'input'}
          type={type}
          value={value}
          placeholder={placeholder}
          autoComplete={autoComplete}
          autoFocus={props.isFirst}
          maxLength={props.maxLength}
          min={props.min}
          max={props.max}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

type AreaProps = Words & {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly isFirst?: boolean | undefined
}

/** Some lines of text, as long as needed. */
export function TextArea(props: AreaProps) {
  return (
    <Field {...props}>
      {(box) => (
        <textarea
          {...box}
          class="input"
          dir="auto"
          rows={3}
          value={props.value}
          autoFocus={props.isFirst}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

type SelectProps = Words & {
  readonly value: string
  readonly options: readonly { readonly value: string; readonly text: string }[]
  readonly onChange: (value: string) => void
}

export function SelectField(props: SelectProps) {
  return (
    <Field {...props}>
      {(box) => (
        <select
          {...box}
          class="input"
          value={props.value}
          onChange={(event) => props.onChange(event.currentTarget.value)}
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
