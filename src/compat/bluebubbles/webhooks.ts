// Webhooks that clients register. BlueBubbles has no webhook secret: a client puts its password into the URL and
// recognizes the sender by it. The password is a key's secret, which the relay doesn't store in the clear, so the URL
// is stored without it, and each attempt inserts it from the webhook's sealed secret.

import type { Webhook } from '../../api/webhooks.ts'
import {
  FAKE_KEY_PREFIX,
  FAKE_SECRET_PREFIX,
  KEY_PREFIX,
  SECRET_PREFIX,
} from '../../domain/credential.ts'
import { RelayError, invalidRequest } from '../../domain/errors.ts'
import { isSameUrl } from '../../domain/webhook-url.ts'
import type { CompatHandler, WebhookFormat } from '../compat-api.ts'
import { textIn } from '../fields.ts'
import { timeIn } from '../numbers.ts'
import { answered } from './envelope.ts'
import { eventView } from './views.ts'

const NEW_MESSAGE = 'new-message'
/** The placeholder of the password. URLs never percent-encode its characters. */
const HIDDEN = `${SECRET_PREFIX}***`

/** BlueBubbles' webhooks, limited to `new-message`: agents would answer again on an `updated-message`. */
export const NEW_MESSAGES: WebhookFormat = {
  about: 'For programs that take new messages from BlueBubbles.',
  events: ['message.received', 'group_message.received'],
  contentType: 'application/json',
  body: (sent) => JSON.stringify({ type: NEW_MESSAGE, data: eventView(sent) }),
  headers: () => ({}),
  target: (url, secret) => (isPassword(secret) ? url.replaceAll(HIDDEN, secret) : url),
}

export const listWebhooks: CompatHandler = async ({ relay, secret }) => {
  const own = await relay.webhooks()
  return answered(
    own.map((webhook) => view(webhook, secret)),
    'Successfully fetched webhooks!',
  )
}

export const createWebhook: CompatHandler = async ({ fields, relay, secret }) => {
  const url = textIn(fields, ['url'])
  if (url === undefined) throw invalidRequest({ path: 'url', message: 'is required' })
  const events = [fields['events']].flat()
  if (!events.some((event) => event === NEW_MESSAGE || event === '*')) {
    throw invalidRequest({ path: 'events', message: `must have ${NEW_MESSAGE}, the only event` })
  }
  const stored = withoutSecret(url, secret)
  const webhook = await relay.subscribe({ url: stored, events: NEW_MESSAGES.events, secret })
  // The program has a new key: webhooks whose URL has the old key would be rejected.
  for (const { id, url: other } of await relay.webhooks()) {
    const isOutdated = other.includes(HIDDEN) && isSameUrl(withoutKey(other), withoutKey(stored))
    if (isOutdated && id !== webhook.id) await relay.call('deleteWebhook', { params: { id } })
  }
  return answered(view(webhook, secret), 'Successfully created webhook!')
}

export const deleteWebhook: CompatHandler = async ({ params, relay }) => {
  const own = await relay.webhooks()
  const found = own.find(({ id }) => id === params['id'])
  if (found === undefined) throw new RelayError('not_found', 'Webhook does not exist!')
  await relay.call('deleteWebhook', { params: { id: found.id } })
  return answered(null, 'Successfully deleted webhook!')
}

function isPassword(secret: string): boolean {
  return secret.startsWith(SECRET_PREFIX) || secret.startsWith(FAKE_SECRET_PREFIX)
}

function view({ id, url, created_at: created }: Webhook, secret: string): object {
  const shown = url.replaceAll(HIDDEN, secret)
  return { id, url: shown, events: [NEW_MESSAGE], created: timeIn(created) }
}

/** The URL as it is stored. The host keeps its spelling, because it is looked up and checked. */
function withoutSecret(typed: string, secret: string): string {
  const url = URL.canParse(typed) ? new URL(typed).href : typed
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path === -1 ? url : url.slice(0, path) + url.slice(path).replaceAll(secret, HIDDEN)
}

const KEY = new RegExp(`(?:${KEY_PREFIX}|${FAKE_KEY_PREFIX})[\\w-]+`, 'g')

function withoutKey(url: string): string {
  return url.replaceAll(KEY, '')
}
