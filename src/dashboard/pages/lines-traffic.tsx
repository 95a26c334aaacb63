// What went over a line lately, and what waits for it.

import type { ComponentChildren } from 'preact'

import { href } from '../address.ts'
import { withQuery, type Api, type List } from '../api.ts'
import { Ago } from '../components/time.tsx'
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
  const { now } = useLive({
    key: `traffic of ${line.id}`,
    load: (signal) => loadTraffic(api, line.id, signal),
    on: ['message'],
  })
  const traffic = now.state === 'ready' ? now.value : null
  return (
    <dl class="facts">
      <Fact name="Last received">
        {traffic !== null && <LatestMessage message={traffic.received} />}
      </Fact>
      <Fact name="Last sent">
        {traffic !== null && (
          <LatestMessage message={traffic.sent}>
            {traffic.sent !== undefined && ` · ${statusWords(traffic.sent.status).text}`}
          </LatestMessage>
        )}
      </Fact>
      <Fact name="Waiting to be sent">{traffic !== null && waitingWords(traffic.waiting)}</Fact>
    </dl>
  )
}

type FactProps = { readonly name: string; readonly children: ComponentChildren }

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
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
  return `${data.length}${has_more ? '+' : ''} ${data.length === 1 ? 'message' : 'messages'}`
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
