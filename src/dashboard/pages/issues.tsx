// What is wrong, as cards: one for each cause, and one for all webhooks that fail.

import { LinkButton } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Ago } from '../components/text.tsx'
import type { FindingBranch, HealthFinding } from '../resources.ts'
import { useRelayState } from '../sources.ts'
import { HOME as WORDS } from '../words/home.ts'
import { Snooze, SnoozedList } from './snooze.tsx'
import { WebhookIssues } from './webhook-issues.tsx'

const TONES = { error: 'bad', warning: 'warn', info: 'wait' } as const

const GROUPED = new Set(['webhook_failing', 'webhook_gone', 'webhook_deactivated'])

/** True for a webhook that fails: all of them share a card. */
function isGrouped({ cause, consequences }: FindingBranch): boolean {
  return GROUPED.has(cause.code) && consequences.length === 0
}

export function Issues() {
  const { findings = [], snoozed = [] } = useRelayState().value ?? {}
  return (
    <>
      <FindingList findings={findings.filter((branch) => !isGrouped(branch))} />
      <WebhookIssues findings={findings.filter(isGrouped).map(({ cause }) => cause)} />
      <SnoozedList findings={snoozed} />
    </>
  )
}

/** One card for each cause, with its consequences inside. */
function FindingList({ findings }: { readonly findings: readonly FindingBranch[] }) {
  if (findings.length === 0) return null
  return (
    <section aria-label={WORDS.issues}>
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

function FindingCard({ cause, consequences, place, guide }: FindingBranch) {
  const tone = TONES[cause.severity]
  return (
    <article class={`card finding tone-${tone}`}>
      <span class="finding-sign">
        <Icon name={tone === 'wait' ? 'info' : 'warning'} />
      </span>
      <div class="finding-words">
        <p class="finding-severity">
          {WORDS.severities[cause.severity]} · <Ago time={cause.since} />
        </p>
        <h2>{cause.title}</h2>
        <p class="quiet">{cause.why}</p>
        <p>
          {cause.fix}
          {guide !== null && (
            <>
              {' '}
              <a href={guide}>{WORDS.learnMore}</a>
            </>
          )}
        </p>
        {consequences.length > 0 && (
          <div class="consequences">
            <p class="small quiet">{WORDS.alsoCaused}</p>
            <ul>
              {consequences.map((finding) => (
                <li key={keyOf(finding)}>
                  <strong>{finding.title}</strong> <span class="quiet">{finding.why}</span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      <div class="actions">
        <LinkButton href={place.href}>{WORDS.open(place.name)}</LinkButton>
        <Snooze finding={cause} />
      </div>
    </article>
  )
}

/** The same for as long as the finding is about the same thing. */
function keyOf({ code, about }: HealthFinding): string {
  return `${code} ${about.kind} ${about.id}`
}
