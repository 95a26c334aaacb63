// The requests that the relay's own test inbox received of a webhook, newest first.

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
import { INBOX } from '../words/deliveries.ts'
import { WEBHOOK_TEST } from '../words/webhooks.ts'

const VERIFIED = { text: INBOX.verified, tone: 'ok', icon: 'check' } as const
const UNVERIFIED = { text: INBOX.unverified, tone: 'warn', icon: 'warning' } as const

export function InboxView({ webhook: { id } }: { readonly webhook: Webhook }) {
  const entries = useRead('listInbox', { params: { id } }, 'inbox')
  const test = <LinkButton href={href('webhooks', [id, 'test'])}>{WEBHOOK_TEST.send}</LinkButton>
  return (
    <>
      <p class="quiet">{INBOX.lead}</p>
      <WhenReady of={entries} kind="list" count={3}>
        {({ data }) => (
          <Card kind="list">
            {data.length === 0 ? (
              <EmptyState icon="webhooks" title={INBOX.empty} action={test}>
                {INBOX.emptyHint}
              </EmptyState>
            ) : (
              <ul class="deliveries" aria-label={INBOX.list}>
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

/** One line; open, with headers and body below it. */
function EntryRow({ webhookId, entry }: RowProps) {
  const isOpen = useSignal(false)
  return (
    <li class="delivery">
      <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary class="inbox-row">
          <code>{entry.event ?? INBOX.noEvent}</code>
          <Badge of={entry.is_verified ? VERIFIED : UNVERIFIED} />
          <span class="small quiet figures">{INBOX.bytes(entry.size)}</span>
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
            <CodeBlock what={INBOX.headers} text={headers} />
            <CodeBlock what={INBOX.body} text={body} />
          </>
        )}
      </WhenReady>
    </div>
  )
}
