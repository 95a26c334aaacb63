// Checkboxes: one with its words, and a group of which any may be chosen.

import type { ComponentChildren } from 'preact'

import type { Option } from './form.tsx'

type CheckProps = {
  readonly isOn: boolean
  readonly hint?: string
  readonly onChange: (isOn: boolean) => void
  readonly children: ComponentChildren
}

export function CheckLine({ isOn, hint, onChange, children }: CheckProps) {
  return (
    <label>
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {children}
        {hint !== undefined && <span class="field-hint">{hint}</span>}
      </span>
    </label>
  )
}

export function toggled<T>(chosen: readonly T[], name: T, isOn: boolean): readonly T[] {
  return isOn ? [...chosen, name] : chosen.filter((each) => each !== name)
}

type ListProps<T extends string> = {
  readonly legend: string
  readonly hint: string
  readonly options: readonly Option<T>[]
  readonly chosen: readonly T[]
  readonly onChange: (chosen: readonly T[]) => void
}

export function CheckList<T extends string>(props: ListProps<T>) {
  const { legend, hint, options, chosen, onChange } = props
  return (
    <fieldset class="event-choice">
      <legend>{legend}</legend>
      <p class="small quiet">{hint}</p>
      {options.map(({ value, text }) => (
        <CheckLine
          key={value}
          isOn={chosen.includes(value)}
          onChange={(isOn) => onChange(toggled(chosen, value, isOn))}
        >
          {text}
        </CheckLine>
      ))}
    </fieldset>
  )
}
