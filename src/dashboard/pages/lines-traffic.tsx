// What went over a line lately, and what waits for it.

import type { ComponentChildren } from 'preact'

import { grouped } from '../../domain/number-words.ts'
import { href, withQuery } from '../address.ts'
import type { Api, List } from '../api.ts'
import { Ago } from '../components/ago.tsx'
import { Facts } from '../components/facts.tsx'
import { ReadFailure } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { statusWords } from '../message-words.ts'
import type { Answer } from '../request.ts'
import type { Message, PhoneLine } from '../resources.ts'

type Traffic = {
  readonly received: Message | undefined
  readonly sent: Message | undefined
  readonly waiting: List<Message>
}

/** So many are counted; more are "50+". */
const WAITING_MAX = 50

export function LineTraffic({ line }: { readonly line: PhoneLine }) {
  const { api } = useDashboard()
  const traffic = useLive({
    key: `traffic of ${line.id}`,
    load: (signal) => loadTraffic(api, line.id, signal),
    on: ['message'],
  })
  const { now, value } = traffic
  if (now.state === 'failed') return <ReadFailure of={traffic} />
  return (
    <Facts
      of={[
        ['Last received', value && <LatestMessage message={value.received} />],
        [
          'Last sent',
          value && (
            <LatestMessage message={value.sent}>
              {value.sent && ` · ${statusWords(value.sent.status).text}`}
            </LatestMessage>
          ),
        ],
        ['Waiting to be sent', value && waitingWords(value.waiting)],
      ]}
    />
  )
}

type LatestProps = {
  readonly message: Message | undefined
  readonly children?: ComponentChildren
}

function LatestMessage({ message, children }: LatestProps) {
  if (message === undefined) return <>nothing yet</>
  return (
    <a href={href('conversations', [message.conversation_id])}>
      <Ago time={message.created_at} isInside />
      {children}
    </a>
  )
}

function waitingWords({ data, has_more }: List<Message>): string {
  if (data.length === 0) return 'nothing'
  return `${grouped(data.length)}${has_more ? '+' : ''} ${data.length === 1 ? 'message' : 'messages'}`
}

async function loadTraffic(api: Api, id: string, signal: AbortSignal): Promise<Answer<Traffic>> {
  const read = (filter: Readonly<Record<string, string | number>>) =>
    api.get<List<Message>>(withQuery('messages', { phone_line_id: id, ...filter }), signal)
  const [received, sent, waiting] = await Promise.all([
    read({ direction: 'inbound', limit: 1 }),
    read({ direction: 'outbound', limit: 1 }),
    read({ status: 'queued', limit: WAITING_MAX }),
  ])
  if (!received.ok) return received
  if (!sent.ok) return sent
  if (!waiting.ok) return waiting
  const latest = { received: received.value.data[0], sent: sent.value.data[0] }
  return { ok: true, value: { ...latest, waiting: waiting.value } }
}
