import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

import { Card } from '../components/card.tsx'

type Props = {
  readonly title: string
  /** What it is about, in a sentence. */
  readonly about: string
  readonly kind?: 'sheet' | 'list' | undefined
  readonly children: ComponentChildren
}

/** A part of the page: its name on the left, and beside it a sheet with what can be set. */
export function Section({ title, about, kind, children }: Props) {
  const id = useId()
  return (
    <section class="settings-section" aria-labelledby={id}>
      <div class="settings-about">
        <h2 id={id}>{title}</h2>
        <p class="small quiet">{about}</p>
      </div>
      <Card kind={kind}>{children}</Card>
    </section>
  )
}

type FactProps = {
  readonly name: string
  /** The variable that sets it at a start. */
  readonly variable?: string | undefined
  readonly children: ComponentChildren
}

/** One fact of a `<dl class="settings-facts">`. */
export function Fact({ name, variable, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        {variable !== undefined && <code class="small quiet">{variable}</code>}
      </dd>
    </div>
  )
}
