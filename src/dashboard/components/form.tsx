// <Form onSubmit={save.start}>…</Form>: fields under each other, with a `type="submit"` button. One that
// takes the place of a page has `isFirst`: its first field gets the focus, which `autofocus` would do
// only while the page is loaded.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type Props = {
  readonly onSubmit: () => unknown
  readonly onChange?: (() => void) | undefined
  readonly isFirst?: boolean | undefined
  readonly class?: string | undefined
  readonly children: ComponentChildren
}

export function Form({ onSubmit, onChange, isFirst, class: name = 'stack', children }: Props) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (isFirst === true) form.current?.querySelector<HTMLElement>('input:not([hidden])')?.focus()
  }, [])
  return (
    <form
      class={name}
      ref={form}
      noValidate
      onChange={onChange}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
