// <Facts of={[['Version', about.version], …]} />: names and what they are, a pair in each row. One that is
// `false` is left out.

import type { ComponentChildren } from 'preact'

type Props = { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }

export function Facts({ of }: Props) {
  return (
    <dl class="facts">
      {of.map(
        ([name, value]) =>
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
