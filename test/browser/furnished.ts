// A relay in which something has happened: messages of every status, a webhook that hears them, and one
// that fails.

import { eventually } from '../support/eventually.ts'
import { Receiver } from '../support/receiver.ts'
import { type ApiClient } from '../support/relay-process.ts'
import { PERSON, SECOND_LINE } from './stage.ts'

type Sent = {
  readonly id: string
  readonly status: string
  readonly conversation_id: string
}

/** Persons of the simulated network, by what becomes of a message to them. */
const NOT_ON_IMESSAGE = '+12025550192'
const UNCERTAIN = '+12025550194'
const ANSWERS_THE_SAME = '+12025550196'

const ALL_EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]

export type Relay = {
  readonly api: ApiClient
  /** The ids of its two simulated lines, which are online. */
  readonly lines: readonly [string, string]
}

export type Furniture = Disposable & {
  /** The conversation with messages both ways. */
  readonly conversationId: string
  /** One of its messages. */
  readonly messageId: string
  /** The first line. */
  readonly lineId: string
  readonly failingWebhookId: string
  /** Its name on the page. */
  readonly failingName: string
  /** One that it did not take. */
  readonly deliveryId: string
}

export async function furnish({ api, lines: [first, second] }: Relay): Promise<Furniture> {
  const hearing = new Receiver()
  const failing = new Receiver(() => new Response('no such table: bookings', { status: 500 }))
  await addWebhook(api, hearing.url)
  const failingWebhookId = await addWebhook(api, failing.url)

  const sent = await say(api, ANSWERS_THE_SAME, 'Is the table by the window free tonight?', first)
  await say(api, SECOND_LINE, 'Table four is ready to be cleaned.', first)
  for (const to of [NOT_ON_IMESSAGE, UNCERTAIN]) await say(api, to, 'Your table is ready.', first)
  await say(api, PERSON, 'Thank you for your visit.', second)
  await eventually('the failing webhook was tried', () => failing.received[0] ?? null)
  const deliveries = await api.ask<{ data: { id: string }[] }>(
    'GET',
    `/api/v1/webhooks/${failingWebhookId}/deliveries?limit=1`,
  )
  return {
    conversationId: sent.conversation_id,
    messageId: sent.id,
    lineId: first,
    failingWebhookId,
    failingName: failing.url.replace('http://', ''),
    deliveryId: deliveries.data[0]?.id ?? '',
    [Symbol.dispose]: () => {
      failing[Symbol.dispose]()
      hearing[Symbol.dispose]()
    },
  }
}

/** Adds a webhook for every event; gives its id. */
async function addWebhook(api: ApiClient, url: string): Promise<string> {
  const body = { url, events: ALL_EVENTS }
  const { id } = await api.ask<{ id: string }>('POST', '/api/v1/webhooks', body)
  return id
}

/** The ids of the first two lines, once both are online. */
export function lineIds(api: ApiClient): Promise<readonly [string, string]> {
  return eventually('the lines are online', async () => {
    const { data } = await api.ask<{ data: { id: string; status: string }[] }>(
      'GET',
      '/api/v1/phone-lines',
    )
    const [first, second] = data.filter(({ status }) => status === 'online')
    return first === undefined || second === undefined ? null : [first.id, second.id]
  })
}

/** Sends a text, and does not wait for what becomes of it. */
export async function say(api: ApiClient, to: string, text: string, lineId: string): Promise<Sent> {
  const answer = await api.request('POST', '/api/v1/messages/send', {
    body: { to, text, phone_line_id: lineId },
    headers: { Prefer: 'respond-async' },
  })
  if (answer.status !== 202) throw new Error(`It was not taken: ${JSON.stringify(answer.body)}`)
  return answer.body as Sent // What a send is answered with, as the tests of the API prove.
}
