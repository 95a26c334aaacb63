// <Switch label="A person answers" isOn={…} onChange={(isOn) => …} hint="…" />: on or off, at once.

import { useId } from 'preact/hooks'

type Props = {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly hint?: string | undefined
  readonly isDisabled?: boolean | undefined
}

export function Switch({ label, isOn, onChange, hint, isDisabled = false }: Props) {
  const id = useId()
  return (
    <div class="switch">
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          disabled={isDisabled}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={(event) => {
            const wanted = event.currentTarget.checked
            // It shows what is so; it moves when the relay has taken the change.
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
