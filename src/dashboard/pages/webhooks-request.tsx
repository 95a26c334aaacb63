import { href } from '../address.ts'
import { CodeBlock } from '../components/copy-button.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import type { Message, Webhook } from '../resources.ts'
import { bodyOf, headersOf } from './webhooks-request-text.ts'
import type { Attempt, Delivery } from './webhooks-resources.ts'

type Props = {
  readonly webhook: Webhook
  readonly delivery: Delivery
  /** The latest. */
  readonly attempt: Attempt
}

/** The request as it went out in an attempt. */
export function DeliveryRequest({ webhook, delivery, attempt }: Props) {
  const { session } = useDashboard()
  const version = session.now.value?.version ?? ''
  const headers = headersOf({ delivery, attempt, url: webhook.url, version })
  return (
    <div class="stack stack-tight">
      <h3>The request</h3>
      <CodeBlock what="Headers" text={headers} />
      {delivery.message_id === null ? (
        <p class="small quiet">The body is that of a test: a sample of {delivery.event}.</p>
      ) : (
        <Body event={delivery.event} messageId={delivery.message_id} />
      )}
    </div>
  )
}

type BodyProps = { readonly event: string; readonly messageId: string }

function Body({ event, messageId }: BodyProps) {
  const { api } = useDashboard()
  const { now } = useLive({
    key: `message ${messageId}`,
    load: (signal) => api.get<Message>(`messages/${messageId}`, signal),
    on: (change) => change.id === messageId,
  })
  if (now.state === 'failed') {
    return <p class="small quiet">The message of this event is not kept any more.</p>
  }
  if (now.state === 'loading') return null
  const { conversation_id } = now.value
  return (
    <>
      <CodeBlock what="Body" text={bodyOf(event, now.value)} />
      <p class="small quiet">
        The body is sent in one line.{' '}
        <a href={href('conversations', [conversation_id])}>Open the conversation</a>
      </p>
    </>
  )
}
