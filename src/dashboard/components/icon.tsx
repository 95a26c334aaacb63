// <Icon name="check" />: a line drawing on a grid of 24, in the colour of the text. It says nothing to
// a screen reader: the words beside it do.

import { DRAWINGS, type IconName } from './drawings.ts'

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={DRAWINGS[name]} />
    </svg>
  )
}
