import { href } from '../address.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useRead } from '../dashboard.ts'
import type { Delivery, SentRequest } from './webhooks-resources.ts'

/** The request as it went out in the latest attempt. */
export function DeliveryRequest({ delivery }: { readonly delivery: Delivery }) {
  const { id, event, message_id } = delivery
  const path = `/dashboard/webhook-deliveries/${id}/request`
  const sent = useRead<SentRequest>(path, id)
  return (
    <div class="stack-tight">
      <h3>The request</h3>
      <WhenReady of={sent}>
        {({ headers, body, conversation_id }) => (
          <>
            <CodeBlock what="Headers" text={headers} />
            {body !== null && <CodeBlock what="Body" text={body} />}
            <p class="small quiet">
              {message_id === null && `The body is that of a test: a sample of ${event}.`}
              {message_id !== null &&
                (body === null
                  ? 'This event is not kept any more.'
                  : 'The body is sent in one line. ')}
              {conversation_id !== null && (
                <a href={href('conversations', [conversation_id])}>Open the conversation</a>
              )}
            </p>
          </>
        )}
      </WhenReady>
    </div>
  )
}
