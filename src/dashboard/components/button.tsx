import type { ComponentChildren } from 'preact'

import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'

/** `main` at most once in a view, `quiet` without a border, `danger` for actions that can't be undone. */
type Variant = 'main' | 'plain' | 'quiet' | 'danger'

type Face = {
  readonly variant?: Variant | undefined
  readonly icon?: IconName | undefined
  /** Shows the words only to screen readers and in the tooltip. */
  readonly isIconOnly?: boolean | undefined
  readonly children: ComponentChildren
}

type ButtonProps = Face & {
  readonly type?: 'button' | 'submit' | undefined
  /** The button can't be pressed; CSS shows this after 200 ms. */
  readonly isBusy?: boolean | undefined
  readonly isDisabled?: boolean | undefined
  /** For a button that shows and hides what follows it. */
  readonly isExpanded?: boolean | undefined
  readonly onClick?: ((event: MouseEvent) => void) | undefined
}

export function Button(props: ButtonProps) {
  const { type = 'button', isBusy = false, isDisabled = false, onClick } = props
  return (
    <button
      type={type}
      class={classOf(props)}
      aria-busy={isBusy}
      aria-disabled={isBusy || isDisabled}
      aria-expanded={props.isExpanded}
      title={tooltipOf(props)}
      onClick={(event) => {
        // A `disabled` button would lose the focus.
        if (isBusy || isDisabled) return event.preventDefault()
        onClick?.(event)
      }}
    >
      <FaceOf {...props} />
    </button>
  )
}

export function LinkButton(props: Face & { readonly href: string }) {
  return (
    <a class={classOf(props)} href={props.href} title={tooltipOf(props)}>
      <FaceOf {...props} />
    </a>
  )
}

function FaceOf({ icon, isIconOnly = false, children }: Face) {
  return (
    <>
      {icon !== undefined && <Icon name={icon} />}
      <span class={isIconOnly ? 'visually-hidden' : undefined}>{children}</span>
    </>
  )
}

function classOf({ variant = 'plain', isIconOnly = false }: Face): string {
  return `button button-${variant}${isIconOnly ? ' button-icon' : ''}`
}

function tooltipOf({ isIconOnly, children }: Face): string | undefined {
  return isIconOnly === true && typeof children === 'string' ? children : undefined
}
