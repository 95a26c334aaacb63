// A message with the times of its steps and its webhook deliveries.

import type { SeenDelivery } from '../../api/dashboard.ts'
import type { Message } from '../../api/messages.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Badge } from '../components/icon.tsx'
import { Dialog } from '../components/modal.tsx'
import { Ago, LongText, PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useRead } from '../dashboard.ts'
import { durationWords } from '../figure-words.ts'
import { counterpart } from '../people.ts'
import { useLines, useWebhooks } from '../sources.ts'
import { momentWords } from '../time-words.ts'
import { messageExcerpt } from '../words/attachments.ts'
import { COMMON } from '../words/common.ts'
import { deliveryState } from '../words/deliveries.ts'
import { lineName } from '../words/line-states.ts'
import { statusWords, whyNot } from '../words/message-states.ts'

type ViewProps = { readonly id: string; readonly onClose: () => void }

export function MessageView({ id, onClose }: ViewProps) {
  const call = { params: { id }, query: { contact_names: 'true' } }
  const read = useRead('getMessage', call, id, 'contact')
  // Shown together, because parts that load later would move the rest.
  const isHeld = [useTimes(id), useDeliveriesOf(id)].some(({ now }) => now.state === 'loading')
  const conversation = read.value?.conversation_id
  return (
    <Dialog
      title="Details"
      isSide
      onClose={onClose}
      actions={
        <>
          {conversation !== undefined && (
            <LinkButton href={href('conversations', [conversation], { message: id })}>
              Open conversation
            </LinkButton>
          )}
          <Button variant="main" onClick={onClose}>
            {COMMON.done}
          </Button>
        </>
      }
    >
      {read.now.state === 'failed' && read.now.failure.status === 404 ? (
        <EmptyState icon="search" title="Message not found">
          It may have been removed by your retention setting.
        </EmptyState>
      ) : (
        <WhenReady of={isHeld ? { ...read, now: { state: 'loading' } } : read} kind="row" count={4}>
          {(message) => <MessageParts message={message} />}
        </WhenReady>
      )}
    </Dialog>
  )
}

function useTimes(id: string) {
  return useRead('getMessageTimes', { params: { id } }, id)
}

function useDeliveriesOf(id: string) {
  return useRead('listMessageDeliveries', { params: { id } }, 'delivery')
}

function MessageParts({ message }: { readonly message: Message }) {
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const why = whyNot(message)
  return (
    <>
      <p class="row">
        <Badge of={statusWords(message.status, message.error)} />
        <strong>
          <PersonText>{counterpart(message)}</PersonText>
        </strong>
        <span class="quiet">
          via <PersonText>{line ? lineName(line) : message.phone_number}</PersonText> ·{' '}
          {message.service}
        </span>
      </p>
      <div>
        <LongText text={message.text || messageExcerpt(message)} />
      </div>
      {why !== null && <p class="small">{why}</p>}
      <Timeline message={message} />
      <DeliveriesOf id={message.id} />
    </>
  )
}

type Step = readonly [name: string, at: string | null]

function stepsOf(message: Message, handedOver: string | null): readonly Step[] {
  if (message.direction === 'inbound') {
    return [
      ['Sent by the sender', message.sent_at],
      ['Received by the relay', message.created_at],
    ]
  }
  const hasEnded = ['failed', 'expired', 'uncertain'].includes(message.status)
  return [
    ['Accepted', message.created_at],
    ['Handed to the device', handedOver],
    ['Sent', message.sent_at],
    ['Delivered', message.delivered_at],
    ['Read', message.read_at],
    [statusWords(message.status, message.error).text, hasEnded ? message.updated_at : null],
  ]
}

/** The steps so far, each with the time since the previous one. */
function Timeline({ message }: { readonly message: Message }) {
  const times = useTimes(message.id).value
  const steps = stepsOf(message, times?.handed_over_at ?? null).flatMap(([name, at]) =>
    at === null ? [] : [{ name, at }],
  )
  return (
    <section aria-label="Timeline">
      <ol class="timeline">
        {steps.map(({ name, at }, place) => {
          const before = steps[place - 1]?.at ?? at
          const ms = Math.max(Date.parse(at) - Date.parse(before), 0)
          return (
            <li key={name}>
              <span>{name}</span>
              <span class="small quiet figures">
                <time dateTime={at}>{momentWords(at)}</time>
                {place > 0 && ` · after ${durationWords(ms)}`}
              </span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function DeliveriesOf({ id }: { readonly id: string }) {
  const webhooks = useWebhooks().value?.data ?? []
  const read = useDeliveriesOf(id)
  return (
    <section class="stack-tight">
      <h3>Webhook deliveries</h3>
      <WhenReady of={read} kind="row" count={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="small quiet">No webhook was notified about this message.</p>
          ) : (
            <ul class="stack-tight">
              {data.map((delivery) => (
                <li key={delivery.id} class="row">
                  <Badge of={deliveryState(delivery)} />
                  <a href={href('webhooks', [delivery.webhook_id, 'deliveries', delivery.id])}>
                    <code>{delivery.event}</code>
                  </a>
                  <Ago time={delivery.created_at} />
                  <PersonText in="small quiet">{nameIn(webhooks, delivery)}</PersonText>
                </li>
              ))}
            </ul>
          )
        }
      </WhenReady>
    </section>
  )
}

/** The name of a delivery's webhook; empty if the webhook was deleted. */
function nameIn(webhooks: readonly Webhook[], { webhook_id }: SeenDelivery): string {
  const webhook = webhooks.find(({ id }) => id === webhook_id)
  return webhook === undefined ? '' : webhookName(webhook)
}
