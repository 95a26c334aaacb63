import { withScheme } from '../domain/webhook-url.ts'
import { DELIVERY_STATUSES } from '../domain/webhook.ts'
import { systemClock } from '../system/clock.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { cellsOf, rowOf, rowsOf, textOf, type Row } from './answers.ts'
import {
  EXIT,
  argument,
  type Call,
  type Command,
  type CommandOption,
  type ExitCode,
} from './command.ts'
import type { Method } from './control-client.ts'
import { runningRelay } from './own-file.ts'
import { fields, table } from './table.ts'

const ID = [{ name: 'ID', ids: 'webhooks' }] as const
const DEFAULT_EVENTS = 'message.received,message.sent,message.delivered,message.read'

const CHOICE_OPTIONS: readonly CommandOption[] = [
  { name: 'dry-run', value: null, sentence: 'Count only; nothing is sent.' },
  { name: 'event', value: 'NAMES', sentence: 'Only these events, with commas between.' },
  { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only events of this line.' },
]

export const WEBHOOK_COMMANDS: readonly Command[] = [
  {
    name: 'webhooks list',
    args: [],
    options: [],
    sentence: 'List the webhooks.',
    run: list,
  },
  {
    name: 'webhooks add',
    args: [{ name: 'URL' }],
    options: [
      { name: 'events', value: 'NAMES', sentence: `With commas between; ${DEFAULT_EVENTS}.` },
      { name: 'description', value: 'TEXT', sentence: 'What it is for.' },
    ],
    sentence: 'Add a webhook; its signing secret is shown this once.',
    run: add,
  },
  {
    name: 'webhooks test',
    args: ID,
    options: [],
    sentence: 'Send a sample event.',
    run: (call) => act(call, 'POST', (id) => `/webhooks/${id}/test`),
  },
  {
    name: 'webhooks deliveries',
    args: ID,
    options: [
      { name: 'status', value: DELIVERY_STATUSES.join('|'), sentence: 'Only those.' },
      { name: 'limit', value: 'N', sentence: 'How many at most, 50 unless told.' },
    ],
    sentence: 'List what was delivered, or waits to be.',
    run: deliveries,
  },
  {
    name: 'webhooks redeliver',
    args: [{ name: 'DELIVERY_ID', ids: 'deliveries' }],
    options: [],
    sentence: 'Deliver once more.',
    run: (call) => act(call, 'POST', (id) => `/webhook-deliveries/${id}/redeliver`),
  },
  {
    name: 'webhooks replay',
    args: ID,
    options: [
      { name: 'since', value: 'TIME', sentence: 'As 2026-11-21T10:00:00Z; needed.' },
      {
        name: 'include-earlier',
        value: null,
        sentence: 'Also send events from before the webhook was created.',
      },
      ...CHOICE_OPTIONS,
    ],
    sentence: 'Send past events: those given up, or never queued, since a time.',
    run: (call) =>
      act(call, 'POST', (id) => `/webhooks/${id}/replay`, {
        since: call.options.get('since'),
        ...(call.options.has('include-earlier') ? { include_earlier: true } : {}),
        ...choiceOf(call),
      }),
  },
  {
    name: 'webhooks retry-failed',
    args: ID,
    options: CHOICE_OPTIONS,
    sentence: 'Retry all failed deliveries of a webhook.',
    run: (call) => act(call, 'POST', (id) => `/webhooks/${id}/retry-failed`, choiceOf(call)),
  },
  {
    name: 'webhooks stop-replay',
    args: ID,
    options: [],
    sentence: 'Stop what still waits of a replay or a retry.',
    run: (call) => act(call, 'DELETE', (id) => `/webhooks/${id}/replay`),
  },
  {
    name: 'webhooks rotate-secret',
    args: ID,
    options: [],
    sentence: 'Make a new signing secret; the old one signs too for 24 hours.',
    run: (call) => act(call, 'POST', (id) => `/webhooks/${id}/rotate-secret`),
  },
]

async function list(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const { body } = await client.ask('GET', '/webhooks?limit=200')
  const rows = rowsOf(body).map((webhook) => [
    ...cellsOf(webhook, ['id', 'url', 'events']),
    stateOf(webhook),
  ])
  call.out.data(body, table(['ID', 'URL', 'EVENTS', 'STATE'], rows))
  return EXIT.ok
}

/** In the words of the dashboard; why a stopped one is. */
function stateOf(webhook: Row): string {
  const reason = textOf(webhook, 'disabled_reason')
  if (reason !== '') return `stopped (${reason})`
  if (webhook['is_active'] !== true) return 'paused'
  return webhook['is_failing'] === true ? 'failing' : 'active'
}

async function add(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const url = withScheme(argument(call, 0))
  if (url !== argument(call, 0)) call.out.note(`Adding ${url}`)
  const description = call.options.get('description')
  const events = (call.options.get('events') ?? DEFAULT_EVENTS).split(',')
  const { body } = await client.ask('POST', '/webhooks', {
    body: {
      url,
      events: events.map((name) => name.trim()),
      ...(description === undefined ? {} : { description }),
    },
  })
  const webhook = rowOf(body)
  const notes = isPlainHttp(textOf(webhook, 'url')) ? [PLAIN_HTTP] : []
  call.out.data(body, [...describe(webhook), 'The secret is not shown again.', ...notes])
  return EXIT.ok
}

const PLAIN_HTTP =
  'Over http, its events can be read on their way: use https for a receiver outside your own network.'

/** Not for this machine: nothing leaves it. */
function isPlainHttp(url: string): boolean {
  return url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])(:|\/|$)/.test(url)
}

async function deliveries(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const query = new URLSearchParams()
  for (const name of ['status', 'limit']) {
    const value = call.options.get(name)
    if (value !== undefined) query.set(name, value)
  }
  const path = `/webhooks/${encodeURIComponent(argument(call, 0))}/deliveries`
  const { body } = await client.ask('GET', query.size === 0 ? path : `${path}?${query.toString()}`)
  const names = ['id', 'event', 'status', 'attempt_count', 'last_status_code', 'last_error']
  const now = systemClock.now()
  const rows = rowsOf(body).map((delivery) => [
    ...cellsOf(delivery, [...names, 'created_at']),
    nextTryOf(delivery, now),
  ])
  const head = ['ID', 'EVENT', 'STATUS', 'TRIES', 'HTTP', 'ERROR', 'CREATED', 'NEXT TRY']
  call.out.data(body, table(head, rows))
  return EXIT.ok
}

/** When it is tried next; one whose time has come waits for the webhook to answer or be switched on. */
function nextTryOf(delivery: Row, now: number): string {
  const time = textOf(delivery, 'next_attempt_at')
  return time !== '' && (parseIsoTime(time) ?? now) <= now ? 'waiting' : time
}

/** What of its deliveries is meant, as the API takes it. */
function choiceOf({ options }: Call) {
  const events = options.get('event')?.split(',')
  const line = options.get('line')
  return {
    ...(options.has('dry-run') ? { dry_run: true } : {}),
    ...(events === undefined ? {} : { events: events.map((name) => name.trim()) }),
    ...(line === undefined ? {} : { phone_line_id: line }),
  }
}

async function act(
  call: Call,
  method: Method,
  path: (id: string) => string,
  body?: unknown,
): Promise<ExitCode> {
  const client = await runningRelay(call)
  const answer = await client.ask(method, path(encodeURIComponent(argument(call, 0))), { body })
  call.out.data(answer.body, describe(rowOf(answer.body)))
  return EXIT.ok
}

function describe(row: Row): string[] {
  return fields(Object.keys(row).map((name) => [name, textOf(row, name)]))
}
