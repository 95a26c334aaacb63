// All that the dashboard can show: each page, and each part of one that has an address of its own.

import type { Furniture } from './furnished.ts'
import type { WatchedPage } from './watched-page.ts'

export type Place = {
  readonly name: string
  /** What stands behind `#/`. */
  readonly hash: string
  /** The step of setup there; null where it does not matter. */
  readonly step: string | null
}

/** Those that a relay has in which nothing happened yet. */
export const EMPTY_PLACES = places({
  home: 'home',
  conversations: 'conversations',
  lines: 'lines',
  messages: 'messages',
  'unknown-message': 'messages/msg_unknown',
  webhooks: 'webhooks',
  keys: 'keys',
  activity: 'activity',
  settings: 'settings',
  'unknown-conversation': 'conversations/conv_unknown',
  'unknown-line': 'lines/line_unknown',
  'unknown-webhook': 'webhooks/wh_unknown',
  'unknown-page': 'nope',
  'setup-done': 'setup',
})

/** Without the permissions, which only a Mac has. */
const SETUP_STEPS = ['line', 'message', 'key']

export function furnishedPlaces(furniture: Furniture): readonly Place[] {
  const { conversationId, messageId, lineId, failingWebhookId, deliveryId } = furniture
  return [
    ...places({
      home: 'home',
      conversations: 'conversations',
      thread: `conversations/${conversationId}`,
      lines: 'lines',
      line: `lines/${lineId}`,
      messages: 'messages?status=failed',
      message: `messages/${messageId}`,
      webhooks: 'webhooks',
      'webhook-deliveries': `webhooks/${failingWebhookId}`,
      'webhook-delivery': `webhooks/${failingWebhookId}/deliveries/${deliveryId}`,
      'webhook-settings': `webhooks/${failingWebhookId}/settings`,
      'webhook-test': `webhooks/${failingWebhookId}/test`,
      keys: 'keys',
      activity: 'activity',
      settings: 'settings',
    }),
    ...SETUP_STEPS.map((step) => ({ name: `setup-${step}`, hash: 'setup', step })),
  ]
}

/** Goes there, and waits until all of it is shown. */
export async function visit(watched: WatchedPage, { hash, step }: Place): Promise<void> {
  if (step !== null) {
    await watched.page.request.put('/dashboard/setup-step', {
      data: { step },
      headers: {
        'sec-fetch-site': 'same-origin',
        'x-hookline-page-key': await pageKeyOf(watched),
      },
    })
    // The page asks for the step when it is loaded.
    await watched.page.goto('about:blank')
  }
  await watched.show(hash)
}

async function pageKeyOf({ page }: WatchedPage): Promise<string> {
  const { origins } = await page.context().storageState()
  const kept = origins.flatMap(({ localStorage }) => localStorage)
  return kept.find(({ name }) => name === 'hookline-page-key')?.value ?? ''
}

function places(hashes: Readonly<Record<string, string>>): readonly Place[] {
  return Object.entries(hashes).map(([name, hash]) => ({ name, hash, step: null }))
}
