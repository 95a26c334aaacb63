// Last night: what happened, in the relay's own sentences.

import type { TimelineEntry } from '../../api/timeline.ts'
import { Card, PageHead } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useRead } from '../dashboard.ts'
import { useSite } from '../sources.ts'
import { regionLocale } from '../time-words.ts'
import { SHELL } from '../words/shell.ts'
import { SiteFilter } from './site-filter.tsx'

const ENTRIES_MAX = 200
const CHANGES = ['line', 'message', 'webhook', 'key', 'member', 'backup', 'contact'] as const

export function NightPage() {
  const query = { limit: ENTRIES_MAX, site_id: useSite() }
  const night = useRead('getTimeline', { query }, ...CHANGES, 'site')
  return (
    <>
      <PageHead title={SHELL.names.night} actions={<SiteFilter page="night" />}>
        {night.value?.summary?.text ?? '\u00A0'}
      </PageHead>
      <Card kind="list">
        <WhenReady of={night} kind="row" count={8}>
          {({ data, has_more, time_zone }) => (
            <>
              {data.length === 0 && (
                <EmptyState icon="check" title="Nothing happened">
                  No line went off, and nothing was changed.
                </EmptyState>
              )}
              <ul class="activity" aria-label={SHELL.names.night}>
                {data.map((entry) => (
                  <Entry key={entry.id} entry={entry} zone={time_zone} />
                ))}
              </ul>
              {has_more && <p class="small quiet">Earlier entries: hookline night --limit 200.</p>}
            </>
          )}
        </WhenReady>
      </Card>
    </>
  )
}

function Entry({ entry, zone }: { readonly entry: TimelineEntry; readonly zone: string }) {
  const format = { weekday: 'long', hour: 'numeric', minute: '2-digit', timeZone: zone } as const
  const time = new Intl.DateTimeFormat(regionLocale(), format).format(Date.parse(entry.at))
  return (
    <li>
      <p>
        <PersonText>{entry.text}</PersonText>
      </p>
      <p class="small quiet">
        <time dateTime={entry.at}>{time}</time>
      </p>
    </li>
  )
}
