import { useId } from 'preact/hooks'

import { EVENTS } from './webhooks-words.ts'

type Props = {
  readonly chosen: readonly string[]
  readonly error: string | null
  readonly onChange: (chosen: readonly string[]) => void
}

/** Which events a webhook hears of. */
export function EventChoice({ chosen, error, onChange }: Props) {
  const id = useId()
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, name] : chosen.filter((one) => one !== name))
  return (
    <fieldset class="event-choice" aria-describedby={error === null ? undefined : `${id}-error`}>
      <legend>Events</legend>
      {EVENTS.map(([name, words]) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) => toggle(name, event.currentTarget.checked)}
          />
          <span>
            <code>{name}</code>
            <span class="field-hint">{words}</span>
          </span>
        </label>
      ))}
      {error !== null && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
    </fieldset>
  )
}
