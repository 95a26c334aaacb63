import { DRAWINGS, type IconName, type StateWords } from './drawings.ts'

/** A line drawing in the color of the text, hidden from screen readers: the words beside it speak. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={DRAWINGS[name]} />
    </svg>
  )
}

/** A state in a word, with its icon: color alone never carries a meaning. */
export function Badge({ of }: { readonly of: StateWords }) {
  return (
    <span class={`badge tone-${of.tone}`}>
      <Icon name={of.icon} />
      <span>{of.text}</span>
    </span>
  )
}

/** The logo: a text that moves on, from one bubble into the next. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 8v9a6 6 0 0 0 6 6h1a6 6 0 0 0 6-6v-1M18.5 18.5 22 15l3.5 3.5" />
    </svg>
  )
}
