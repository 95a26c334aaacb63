import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

import { Card } from '../components/card.tsx'
import { Facts } from '../components/facts.tsx'

type Props = {
  readonly title: string
  /** What it is about, in a sentence. */
  readonly about: string
  readonly children: ComponentChildren
}

/** A part of the page: its name on the left, and beside it a sheet with what can be set. */
export function Section({ title, about, children }: Props) {
  const id = useId()
  return (
    <section class="settings-section" aria-labelledby={id}>
      <div class="settings-about">
        <h2 id={id}>{title}</h2>
        <p class="small quiet">{about}</p>
      </div>
      <Card>{children}</Card>
    </section>
  )
}

type Fact = readonly [name: string, value: ComponentChildren, variable?: string]

/** What a start decided, with the end of the name of the variable that does. */
export function SettingFacts({ of }: { readonly of: readonly Fact[] }) {
  const facts = of.map(([name, value, variable]) => {
    const code = variable && <code class="small quiet">HOOKLINE_{variable}</code>
    return [
      name,
      <>
        {value}
        {code}
      </>,
    ] as const
  })
  return <Facts of={facts} />
}
