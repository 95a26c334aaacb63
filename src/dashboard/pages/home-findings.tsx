// What is wrong, why, and what to do: one card for each cause, with what follows from it inside.

import { LinkButton } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Ago } from '../components/time.tsx'
import type { Tone } from '../components/tone.ts'
import { branchesOf, placeOf, type FindingBranch } from '../finding-tree.ts'
import type { HealthFinding } from '../resources.ts'

const TONES: Readonly<Record<string, Tone>> = { error: 'bad', warning: 'warn', info: 'wait' }
const WORDS: Readonly<Record<string, string>> = {
  error: 'Does not work',
  warning: 'Look at this',
  info: 'Good to know',
}

export function FindingList({ findings }: { readonly findings: readonly HealthFinding[] }) {
  if (findings.length === 0) return null
  return (
    <section aria-label="What needs you">
      <ul class="stack findings">
        {branchesOf(findings).map((branch) => (
          <li key={`${branch.cause.code} ${branch.cause.line_id}`}>
            <FindingCard {...branch} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function FindingCard({ cause, consequences }: FindingBranch) {
  const place = placeOf(cause)
  return (
    <article class={`card finding tone-${TONES[cause.severity] ?? 'plain'}`}>
      <span class="finding-sign">
        <Icon name={cause.severity === 'info' ? 'info' : 'warning'} />
      </span>
      <div class="finding-words">
        <p class="finding-severity">
          {WORDS[cause.severity] ?? cause.severity} · <Ago time={cause.since} />
        </p>
        <h2>{cause.title}</h2>
        <p class="quiet">{cause.why}</p>
        <p>{cause.fix}</p>
        {consequences.length > 0 && <Consequences findings={consequences} />}
      </div>
      <LinkButton href={place.href}>{`Open ${place.name}`}</LinkButton>
    </article>
  )
}

function Consequences({ findings }: { readonly findings: readonly HealthFinding[] }) {
  return (
    <div class="consequences">
      <p class="small quiet">Because of this, too:</p>
      <ul>
        {findings.map(({ code, line_id, title, why }) => (
          <li key={`${code} ${line_id}`}>
            <strong>{title}</strong> <span class="quiet">{why}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
