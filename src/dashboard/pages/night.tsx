// Last night: what happened, by day, in the relay's own sentences.

import type { TimelineEntry } from '../../api/timeline.ts'
import { href } from '../address.ts'
import type { IconName, Tone } from '../components/drawings.ts'
import { Icon } from '../components/icon.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useRead } from '../dashboard.ts'
import { useSite } from '../sources.ts'
import { regionLocale } from '../time-words.ts'
import { placeOf } from '../words/activity.ts'
import { SHELL } from '../words/shell.ts'
import { ActivityTabs, SentenceLink } from './activity.tsx'
import { SiteFilter } from './site-filter.tsx'

const ENTRIES_MAX = 200
const CHANGES = ['line', 'message', 'webhook', 'key', 'member', 'backup', 'contact'] as const

export function NightPage() {
  const site_id = useSite()
  const night = useRead(
    'getTimeline',
    { query: { limit: ENTRIES_MAX, site_id } },
    ...CHANGES,
    'site',
  )
  return (
    <>
      <PageHead title={SHELL.names.night} actions={<SiteFilter page="night" />}>
        {night.value?.summary?.text ?? '\u00A0'}
      </PageHead>
      <ActivityTabs current="night" />
      <WhenReady of={night} kind="card" count={1}>
        {({ data, has_more, time_zone }) => (
          <>
            {data.length === 0 && (
              <Card>
                <EmptyState icon="check" title="Nothing happened">
                  No line went off, and nothing was changed.
                </EmptyState>
              </Card>
            )}
            {byDay(data, time_zone).map(([day, entries]) => (
              <Card key={day} kind="list" title={day}>
                <ul class="night" aria-label={day}>
                  {entries.map((entry) => (
                    <NightEntry key={entry.id} entry={entry} zone={time_zone} />
                  ))}
                </ul>
              </Card>
            ))}
            {has_more && <p class="small quiet">Earlier entries: hookline night --limit 200.</p>}
          </>
        )}
      </WhenReady>
    </>
  )
}

function byDay(entries: readonly TimelineEntry[], timeZone: string) {
  const format = { weekday: 'long', month: 'long', day: 'numeric', timeZone } as const
  const days = new Intl.DateTimeFormat(regionLocale(), format)
  return [...Map.groupBy(entries, ({ at }) => days.format(Date.parse(at)))]
}

/** By the kind of an entry. Other kinds are changes and deleted entries. */
const SIGNS: Readonly<Record<string, readonly [IconName, Tone]>> = {
  'line.off': ['lines', 'warn'],
  'relay.started': ['again', 'plain'],
  'messages.unsent': ['messages', 'bad'],
  'webhook.failing': ['webhooks', 'bad'],
  'webhook.working': ['webhooks', 'ok'],
  'webhook.turned_off': ['webhooks', 'bad'],
  opt_out: ['person', 'plain'],
  opt_in: ['person', 'plain'],
  'backup.made': ['download', 'ok'],
  'backup.failed': ['download', 'bad'],
  'alert.raised': ['notification', 'warn'],
  'alert.resolved': ['notification', 'ok'],
}

const UNSENT = ['failed', 'expired', 'uncertain'] as const

function unsentOf({ phone_line_id: line }: TimelineEntry, status: (typeof UNSENT)[number]) {
  return { status, line, days: 7 }
}

/** The address of what an entry is about; null if it has none, or several. */
function targetOf(entry: TimelineEntry): string | null {
  const { kind, action, phone_line_id: line, webhook_id: webhook, handle, counts } = entry
  if (action !== null) return placeOf(action, entry.message_id ?? webhook ?? line)
  if (counts !== null) return null
  if (handle !== null) return href('people', [handle])
  if (webhook !== null) return href('webhooks', [webhook])
  if (line !== null) return href('lines', [line])
  if (kind.startsWith('alert.')) return href('settings', ['alerts'])
  return kind.startsWith('backup.') || kind === 'restored' ? href('settings', ['backups']) : null
}

function NightEntry({ entry, zone }: { readonly entry: TimelineEntry; readonly zone: string }) {
  const format = { hour: 'numeric', minute: '2-digit', timeZone: zone } as const
  const time = new Intl.DateTimeFormat(regionLocale(), format).format(Date.parse(entry.at))
  const [icon, tone] = SIGNS[entry.kind] ?? ['activity', 'plain']
  return (
    <li>
      <time class="small quiet figures" dateTime={entry.at}>
        {time}
      </time>
      <span class={`check-sign tone-${tone}`}>
        <Icon name={icon} />
      </span>
      <p>
        <SentenceLink href={targetOf(entry)}>{entry.text}</SentenceLink>
        {UNSENT.map(
          (status) =>
            (entry.counts?.[status] ?? 0) > 0 && (
              <a key={status} class="small" href={href('messages', [], unsentOf(entry, status))}>
                {`View ${status} messages`}
              </a>
            ),
        )}
      </p>
    </li>
  )
}
