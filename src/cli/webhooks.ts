import type { Route } from '../api/routes.ts'
import type { Delivery, Webhook } from '../api/webhooks.ts'
import { withScheme } from '../domain/webhook-url.ts'
import { DELIVERY_STATUSES } from '../domain/webhook.ts'
import { systemClock } from '../system/clock.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { argument, type Call, type Command, type CommandOption } from './command.ts'
import { runningRelay } from './own-file.ts'
import { fields, table } from './table.ts'

const ID = [{ name: 'ID', ids: 'webhooks' }] as const
const DEFAULT_EVENTS = 'message.received,message.sent,message.delivered,message.read'

const FILTER_OPTIONS: readonly CommandOption[] = [
  { name: 'dry-run', value: null, sentence: 'Only count, send nothing.' },
  { name: 'event', value: 'NAMES', sentence: 'Only these events, separated by commas.' },
  { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only events of this line.' },
]

export const WEBHOOK_COMMANDS: readonly Command[] = [
  { name: 'webhooks list', sentence: 'List webhooks.', run: list },
  {
    name: 'webhooks add',
    args: [{ name: 'URL' }],
    options: [
      {
        name: 'events',
        value: 'NAMES',
        sentence: `Events, separated by commas (default ${DEFAULT_EVENTS}).`,
      },
      { name: 'description', value: 'TEXT', sentence: 'A description.' },
    ],
    sentence: 'Add a webhook. Its signing secret is shown only once.',
    run: add,
  },
  {
    name: 'webhooks test',
    args: ID,
    sentence: 'Send a test event.',
    run: (call) => act(call, 'POST /webhooks/:id/test'),
  },
  {
    name: 'webhooks deliveries',
    args: ID,
    options: [
      { name: 'status', value: DELIVERY_STATUSES.join('|'), sentence: 'Only this status.' },
      { name: 'limit', value: 'N', sentence: 'Maximum number of deliveries (default 50).' },
    ],
    sentence: "List a webhook's deliveries, including pending ones.",
    run: deliveries,
  },
  {
    name: 'webhooks redeliver',
    args: [{ name: 'DELIVERY_ID', ids: 'deliveries' }],
    sentence: 'Retry a delivery.',
    run: (call) => act(call, 'POST /webhook-deliveries/:id/redeliver'),
  },
  {
    name: 'webhooks replay',
    args: ID,
    options: [
      {
        name: 'since',
        value: 'TIME',
        sentence: 'Start of the replay, for example 2026-11-21T10:00:00Z. Required.',
      },
      {
        name: 'include-earlier',
        value: null,
        sentence: 'Include events from before the webhook was created.',
      },
      ...FILTER_OPTIONS,
    ],
    sentence: 'Send past events that failed, or were never queued, since a time.',
    run: (call) =>
      act(call, 'POST /webhooks/:id/replay', {
        since: call.options.get('since'),
        ...(call.options.has('include-earlier') ? { include_earlier: true } : {}),
        ...filterOf(call),
      }),
  },
  {
    name: 'webhooks retry-failed',
    args: ID,
    options: FILTER_OPTIONS,
    sentence: 'Retry all failed deliveries of a webhook.',
    run: (call) => act(call, 'POST /webhooks/:id/retry-failed', filterOf(call)),
  },
  {
    name: 'webhooks stop-replay',
    args: ID,
    sentence: 'Cancel pending deliveries of a replay or retry.',
    run: (call) => act(call, 'DELETE /webhooks/:id/replay'),
  },
  {
    name: 'webhooks rotate-secret',
    args: ID,
    sentence: 'Create a new signing secret. The old one stays valid for 24 hours.',
    run: (call) => act(call, 'POST /webhooks/:id/rotate-secret'),
  },
]

async function list(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const page = await client.ask('GET /webhooks', { query: { limit: '200' } })
  const rows = page.data.map((webhook) => {
    return [webhook.id, webhook.url, webhook.events.join(', '), stateOf(webhook)]
  })
  call.out.data(page, table(['ID', 'URL', 'EVENTS', 'STATE'], rows))
}

/** State in the dashboard's words, with the reason of a stopped webhook. */
function stateOf({ disabled_reason, is_active, is_failing = false }: Webhook): string {
  if (disabled_reason !== null) return `stopped (${disabled_reason})`
  if (!is_active) return 'paused'
  return is_failing ? 'failing' : 'active'
}

async function add(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const url = withScheme(argument(call, 0))
  if (url !== argument(call, 0)) call.out.note(`Adding ${url}`)
  const description = call.options.get('description')
  const events = (call.options.get('events') ?? DEFAULT_EVENTS).split(',')
  const webhook = await client.ask('POST /webhooks', {
    body: {
      url,
      events: events.map((name) => name.trim()),
      ...(description === undefined ? {} : { description }),
    },
  })
  const notes = isPlainHttp(webhook.url) ? [PLAIN_HTTP] : []
  call.out.data(webhook, [
    ...describe(webhook),
    "Save the secret now. You won't see it again.",
    ...notes,
  ])
}

const PLAIN_HTTP =
  'Events sent over http can be read in transit. Use https outside your own network.'

/** True for http to any other machine than this one. */
function isPlainHttp(url: string): boolean {
  return url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])(:|\/|$)/.test(url)
}

async function deliveries(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const [status, limit] = [call.options.get('status'), call.options.get('limit')]
  const page = await client.ask('GET /webhooks/:id/deliveries', {
    id: argument(call, 0),
    query: {
      ...(status === undefined ? {} : { status }),
      ...(limit === undefined ? {} : { limit }),
    },
  })
  const now = systemClock.now()
  const rows = page.data.map((delivery) => [
    delivery.id,
    delivery.event,
    delivery.status,
    delivery.attempt_count,
    delivery.last_status_code,
    delivery.last_error,
    delivery.created_at,
    nextAttemptOf(delivery, now),
  ])
  const head = ['ID', 'EVENT', 'STATUS', 'ATTEMPTS', 'HTTP', 'ERROR', 'CREATED', 'NEXT ATTEMPT']
  call.out.data(page, table(head, rows))
}

/** Time of the next attempt; `pending` where it is due and waits for the webhook to recover. */
function nextAttemptOf({ next_attempt_at: time }: Delivery, now: number): string | null {
  return time !== null && (parseIsoTime(time) ?? now) <= now ? 'pending' : time
}

/** Filter of deliveries, in the shape of the API. */
function filterOf({ options }: Call) {
  const events = options.get('event')?.split(',')
  const line = options.get('line')
  return {
    ...(options.has('dry-run') ? { dry_run: true } : {}),
    ...(events === undefined ? {} : { events: events.map((name) => name.trim()) }),
    ...(line === undefined ? {} : { phone_line_id: line }),
  }
}

async function act(call: Call, route: Route, body?: object): Promise<undefined> {
  const client = await runningRelay(call)
  const answer = await client.ask(route, { id: argument(call, 0), body })
  call.out.data(answer, describe(answer))
}

function describe(answer: object): string[] {
  return fields(Object.entries(answer).map(([name, value]) => [name, textOf(value)]))
}

function textOf(value: unknown): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}
