// The requests of a webhook that the relay's test inbox received, newest first.

import { useSignal } from '@preact/signals'

import type { InboxEntry } from '../../api/dashboard.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Badge } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useRead } from '../dashboard.ts'
import { grouped } from '../words/common.ts'
import { WEBHOOK_TEST } from '../words/webhooks.ts'

const VERIFIED = { text: 'Signature verified', tone: 'ok', icon: 'check' } as const
const UNVERIFIED = { text: 'Signature not valid', tone: 'warn', icon: 'warning' } as const

export function InboxView({ webhook: { id } }: { readonly webhook: Webhook }) {
  const entries = useRead('listInbox', { params: { id } }, 'inbox')
  const test = <LinkButton href={href('webhooks', [id, 'test'])}>{WEBHOOK_TEST.send}</LinkButton>
  return (
    <>
      <p class="quiet">
        The newest 100 requests of the last 24 hours. They are kept in memory: a restart of the
        relay deletes them.
      </p>
      <WhenReady of={entries} kind="list" count={3}>
        {({ data }) => (
          <Card kind="list">
            {data.length === 0 ? (
              <EmptyState icon="webhooks" title="Nothing has arrived yet" action={test}>
                Send a test event, or a message through one of your lines.
              </EmptyState>
            ) : (
              <ul aria-label="Requests">
                {data.map((entry) => (
                  <EntryRow key={entry.id} webhookId={id} entry={entry} />
                ))}
              </ul>
            )}
          </Card>
        )}
      </WhenReady>
    </>
  )
}

type RowProps = { readonly webhookId: string; readonly entry: InboxEntry }

function EntryRow({ webhookId, entry }: RowProps) {
  const isOpen = useSignal(false)
  return (
    <li class="delivery">
      <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary class="inbox-row">
          <code>{entry.event ?? 'No event'}</code>
          <Badge of={entry.is_verified ? VERIFIED : UNVERIFIED} />
          <span class="small quiet figures">{`${grouped(entry.size)} bytes`}</span>
          <Ago time={entry.received_at} isInside />
        </summary>
        {isOpen.value && <EntryDetail webhookId={webhookId} entry={entry} />}
      </details>
    </li>
  )
}

function EntryDetail({ webhookId, entry }: RowProps) {
  const params = { id: webhookId, entry: entry.id }
  return (
    <div class="delivery-detail">
      <WhenReady of={useRead('getInboxEntry', { params })}>
        {({ headers, body }) => (
          <>
            <CodeBlock what="Headers" text={headers} />
            <CodeBlock what="Body" text={body} />
          </>
        )}
      </WhenReady>
    </div>
  )
}
