// What is wrong, why, and what to do: one card for each cause, with what follows from it inside.

import type { FindingBranch } from '../../api/dashboard.ts'
import { Ago } from '../components/ago.tsx'
import { LinkButton } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import type { Tone } from '../components/tone.ts'
import type { HealthFinding } from '../resources.ts'

const SEVERITIES: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  error: ['Does not work', 'bad'],
  warning: ['Look at this', 'warn'],
  info: ['Good to know', 'wait'],
}

export function FindingList({ findings }: { readonly findings: readonly FindingBranch[] }) {
  if (findings.length === 0) return null
  return (
    <section aria-label="What needs you">
      <ul class="stack findings">
        {findings.map((branch) => (
          <li key={keyOf(branch.cause)}>
            <FindingCard {...branch} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function FindingCard({ cause, consequences, place }: FindingBranch) {
  const [word, tone] = SEVERITIES[cause.severity] ?? [cause.severity, 'plain']
  return (
    <article class={`card finding tone-${tone}`}>
      <span class="finding-sign">
        <Icon name={tone === 'wait' ? 'info' : 'warning'} />
      </span>
      <div class="finding-words">
        <p class="finding-severity">
          {word} · <Ago time={cause.since} />
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
        {findings.map((finding) => (
          <li key={keyOf(finding)}>
            <strong>{finding.title}</strong> <span class="quiet">{finding.why}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The same for as long as the finding is about the same thing. */
function keyOf({ code, about }: HealthFinding): string {
  return `${code} ${about.kind} ${about.id}`
}
