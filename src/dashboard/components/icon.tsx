import { initials, personColor } from '../people.ts'
import { DRAWINGS, type IconName, type StateWords } from './drawings.ts'

/** Has the color of the text. Hidden from screen readers, which read the words beside it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={DRAWINGS[name]} />
    </svg>
  )
}

/** A state's text with its icon, because color alone must not carry a meaning. */
export function Badge({ of }: { readonly of: StateWords }) {
  return (
    <span class={`badge tone-${of.tone}`}>
      <Icon name={of.icon} />
      <span>{of.text}</span>
    </span>
  )
}

/** The logo. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 8v9a6 6 0 0 0 6 6h1a6 6 0 0 0 6-6v-1M18.5 18.5 22 15l3.5 3.5" />
    </svg>
  )
}

type Props = {
  readonly handle: string
  readonly name: string | null | undefined
  readonly isGroup?: boolean
  readonly isSmall?: boolean
}

/** A person's initials in their color. A bare number has the symbol of a person, and a group the symbol of people. */
export function Face({ handle, name, isGroup = false, isSmall = false }: Props) {
  const letters = isGroup ? null : initials(name ?? '')
  return (
    <span class={`face ${isSmall ? 'face-small' : ''} ${personColor(handle)}`} aria-hidden="true">
      {letters ?? <Icon name={isGroup ? 'people' : 'person'} />}
    </span>
  )
}
