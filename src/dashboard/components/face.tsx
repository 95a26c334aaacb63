import { initials, personColor } from '../people.ts'
import { Icon } from './icon.tsx'

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
