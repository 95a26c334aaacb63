// Inputs with their label, hint and error.
//
//   <TextField label="Name" bind={name} hint="…" />          `name` is a signal
//   <SelectField label="Line" value={id} options={[{ value: '', text: 'Auto' }]} onChange={…} />
//   <TextArea label="Text" bind={text} />
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

/** Where a text is kept that somebody types: a signal does. */
type Kept = { value: string }

type TextProps = Words & {
  readonly bind: Kept
  readonly type?: 'text' | 'password' | 'tel' | 'url' | 'number' | undefined
  readonly placeholder?: string | undefined
  readonly autoComplete?: string | undefined
  readonly isFirst?: boolean | undefined
  readonly isMono?: boolean | undefined
  readonly maxLength?: number | undefined
}

/** `isFirst`: it has the focus when a dialog opens with it. */
export function TextField(props: TextProps) {
  const { bind, placeholder, autoComplete = 'off' } = props
  // Preact's type tells the kinds of input apart; what is set here fits all of them.
  const type = (props.type ?? 'text') as 'text'
  return (
    <Field {...props}>
      {(box) => (
        <input
          {...box}
          class={props.isMono === true ? 'input mono' : 'input'}
          type={type}
          value={bind.value}
          placeholder={placeholder}
          autoComplete={autoComplete}
          autoFocus={props.isFirst}
          maxLength={props.maxLength}
          onInput={(event) => (bind.value = event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

type PasswordProps = Partial<TextProps> & Pick<TextProps, 'bind'>

/** The password that there is; that of another label and purpose where those are given. */
export function PasswordField(props: PasswordProps) {
  return <TextField label="Password" type="password" autoComplete="current-password" {...props} />
}

/** The name of the one account, which password managers store a password under. Nobody types it. */
export function AccountName() {
  return <input type="text" name="username" autoComplete="username" value="owner" readOnly hidden />
}

/** Some lines of text, as long as needed. */
export function TextArea(props: Words & { readonly bind: Kept }) {
  const { bind } = props
  return (
    <Field {...props}>
      {(box) => (
        <textarea
          {...box}
          class="input"
          dir="auto"
          rows={3}
          value={bind.value}
          onInput={(event) => (bind.value = event.currentTarget.value)}
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
