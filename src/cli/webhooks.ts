import type { CallArguments } from '../api/client.ts'
import type { Delivery, Webhook } from '../api/webhooks.ts'
import { FORMAT_NAMES, webhookFormat } from '../compat/apis.ts'
import { countWords } from '../domain/number-words.ts'
import { missedWords, webhookStateOf } from '../domain/webhook-state.ts'
import { webhookName, withScheme } from '../domain/webhook-url.ts'
import { DELIVERY_STATUSES, type EventName } from '../domain/webhook.ts'
import { systemClock } from '../system/clock.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import {
  argument,
  idIn,
  requireChange,
  type Call,
  type Command,
  type CommandOption,
  type Options,
} from './command.ts'
import type { ControlClient } from './control-client.ts'
import { askRelay, byId, calling, runningRelay } from './own-file.ts'
import { fields, stateCell, table, timeCell, type Cell, type Line } from './table.ts'

const ID = [{ name: 'ID', ids: 'webhooks' }] as const
const DEFAULT_EVENTS: readonly EventName[] = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
]

const LINES = { name: 'lines', value: 'LIST', ids: 'lines' } as const
const SITES = { name: 'sites', value: 'LIST', ids: 'sites' } as const

const CHANGE_OPTIONS: readonly CommandOption[] = [
  { name: 'url', value: 'URL', sentence: 'Where to send events.' },
  { name: 'events', value: 'NAMES', sentence: 'Events, separated by commas.' },
  { name: 'description', value: 'TEXT', sentence: 'A description; an empty one removes it.' },
  {
    name: 'attachment-links',
    value: 'true|false',
    sentence: 'Send a link to each file that needs no key for 7 days.',
  },
  { ...LINES, sentence: 'Ids of the only lines whose events it gets; an empty list for all.' },
  { ...SITES, sentence: 'The only sites whose events it gets; an empty list for all.' },
]

const FILTER_OPTIONS: readonly CommandOption[] = [
  { name: 'dry-run', value: null, sentence: 'Only count, send nothing.' },
  { name: 'event', value: 'NAMES', sentence: 'Only these events, separated by commas.' },
  { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only events of this line.' },
]

export const WEBHOOK_COMMANDS: readonly Command[] = [
  {
    name: 'webhooks list',
    short: 'webhooks',
    sentence: 'List webhooks. Short: webhooks.',
    run: list,
  },
  {
    name: 'webhooks add',
    args: [{ name: 'URL' }],
    options: [
      {
        name: 'events',
        value: 'NAMES',
        sentence: `Events, separated by commas (default ${DEFAULT_EVENTS.join(',')}).`,
      },
      { name: 'description', value: 'TEXT', sentence: 'A description.' },
      { ...LINES, sentence: 'Ids of the only lines whose events it gets.' },
      { ...SITES, sentence: 'The only sites whose events it gets.' },
      {
        name: 'format',
        value: 'API',
        sentence: `The form of its events: ${FORMAT_NAMES.join(', ')}.`,
      },
      {
        name: 'key',
        value: 'ID',
        ids: 'keys',
        sentence:
          'The key that signs its events and sends its replies, for a format with accounts.',
      },
    ],
    sentence: 'Add a webhook. Its signing secret is shown only once.',
    run: add,
  },
  {
    name: 'webhooks show',
    args: ID,
    sentence: 'Show a webhook and its latest deliveries.',
    run: show,
  },
  {
    name: 'webhooks set',
    args: ID,
    options: CHANGE_OPTIONS,
    sentence: 'Change a webhook.',
    run: (call) => update(call, changesIn(call)),
  },
  {
    name: 'webhooks pause',
    args: ID,
    sentence: 'Pause a webhook: nothing is delivered to it until it is resumed.',
    run: (call) => update(call, { is_active: false }),
  },
  {
    name: 'webhooks resume',
    args: ID,
    sentence: 'Turn a paused or stopped webhook back on, and say what it missed.',
    run: (call) => update(call, { is_active: true }),
  },
  {
    name: 'webhooks remove',
    args: ID,
    sentence: 'Delete a webhook permanently, with its pending deliveries.',
    run: calling('deleteWebhook', byId, ({ id }) => [`Deleted ${id}.`]),
  },
  {
    name: 'webhooks retry',
    args: ID,
    sentence: 'Try a failing webhook again now, and retry its failed deliveries.',
    run: retry,
  },
  {
    name: 'webhooks test',
    args: ID,
    sentence: 'Send a test event.',
    run: calling('testWebhook', byId, described),
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
    run: calling('redeliverWebhookDelivery', byId, described),
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
    run: calling(
      'replayWebhook',
      (call) => [{ params: idIn(call), body: replayIn(call) }],
      described,
    ),
  },
  {
    name: 'webhooks retry-failed',
    args: ID,
    options: FILTER_OPTIONS,
    sentence: 'Retry all failed deliveries of a webhook.',
    run: calling(
      'retryFailedDeliveries',
      (call) => [{ params: idIn(call), body: filterOf(call) }],
      described,
    ),
  },
  {
    name: 'webhooks stop-replay',
    args: ID,
    sentence: 'Cancel pending deliveries of a replay or retry.',
    run: calling('stopReplay', byId, described),
  },
  {
    name: 'webhooks rotate-secret',
    args: ID,
    sentence: 'Create a new signing secret. The old one stays valid for 24 hours.',
    run: async (call) => {
      const rotated = await askRelay(call, 'rotateWebhookSecret', { params: idIn(call) })
      call.out.data(rotated, described(rotated), newSecretFor(argument(call, 0)))
      return undefined
    },
  },
]

async function list(call: Call): Promise<undefined> {
  const page = await askRelay(call, 'listWebhooks', { query: { limit: '200' } })
  const rows = page.data.map((webhook) => {
    const { id, url, events } = webhook
    return [id, stateCell(stateOf(webhook)), webhookName(webhook), url, events.join(', ')]
  })
  call.out.data(page, [table(['ID', 'STATE', 'NAME', 'URL', 'EVENTS'], rows, ['EVENTS'])])
  if (rows.length === 0) call.out.note('No webhooks yet.')
}

/** The dashboard's words, with the reason if the webhook is stopped. */
function stateOf(webhook: Webhook): string {
  const { disabled_reason: reason } = webhook
  return reason === null ? webhookStateOf(webhook) : `stopped (${reason})`
}

async function add(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const url = withScheme(argument(call, 0))
  if (url !== argument(call, 0)) call.out.note(`Adding ${url}`)
  const format = call.options.choice('format', FORMAT_NAMES)
  const webhook = await client.ask('createWebhook', {
    body: {
      url,
      events: eventsIn(call.options, 'events') ?? defaultEvents(format),
      description: call.options.get('description'),
      phone_line_ids: call.options.list('lines'),
      site_ids: call.options.list('sites'),
      format,
      key_id: call.options.get('key'),
    },
  })
  const notes = isPlainHttp(webhook.url) ? [PLAIN_HTTP] : []
  const saved = "Save the secret now. You won't see it again."
  call.out.data(webhook, [...described(webhook), saved, ...notes], newSecretFor(webhook.id))
}

/** The default events of a new webhook, as far as its format supports them. */
function defaultEvents(format: string | undefined): readonly EventName[] {
  const said = webhookFormat(format ?? null)?.events
  return DEFAULT_EVENTS.filter((name) => said?.includes(name) ?? true)
}

function newSecretFor(id: string): string {
  return `The secret was made, and nobody has it. Make another: hookline webhooks rotate-secret ${id}`
}

const PLAIN_HTTP =
  'Events sent over http can be read in transit. Use https outside your own network.'

/** True if events go over http to another machine. */
function isPlainHttp(url: string): boolean {
  return url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])(:|\/|$)/.test(url)
}

async function deliveries(call: Call): Promise<undefined> {
  const query = { status: call.options.get('status'), limit: call.options.get('limit') }
  const page = await askRelay(call, 'listWebhookDeliveries', { params: idIn(call), query })
  call.out.data(page, [deliveryTable(page.data)])
  if (page.data.length === 0) call.out.note('No deliveries.')
}

function deliveryTable(deliveries: readonly Delivery[]): Line {
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.event,
    stateCell(delivery.status),
    delivery.attempt_count,
    delivery.last_status_code,
    delivery.last_error,
    timeCell(delivery.created_at),
    nextAttemptOf(delivery),
  ])
  const head = ['ID', 'EVENT', 'STATUS', 'ATTEMPTS', 'HTTP', 'ERROR', 'CREATED', 'NEXT ATTEMPT']
  return table(head, rows, ['ATTEMPTS'])
}

/** `pending` if the attempt is due and waits for the webhook to recover. */
function nextAttemptOf({ next_attempt_at: time }: Delivery): Cell {
  const now = systemClock.now()
  const isDue = time !== null && (parseIsoTime(time) ?? now) <= now
  return isDue ? stateCell('pending') : timeCell(time)
}

async function show(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const id = argument(call, 0)
  const webhook = await client.ask('getWebhook', { params: { id } })
  const page = await client.ask('listWebhookDeliveries', { params: { id }, query: { limit: '10' } })
  const { url, description, events, phone_line_ids: lines, site_ids: sites } = webhook
  const { created_at: createdAt } = webhook
  const { paused_at: pausedAt } = webhook
  call.out.data({ ...webhook, deliveries: page.data }, [
    fields([
      ['id', webhook.id],
      ['state', stateCell(stateOf(webhook))],
      ['url', url],
      ['description', description],
      ['events', events.join(', ')],
      ...(webhook.format === undefined ? [] : [['format', webhook.format] as const]),
      ...(webhook.key_id === undefined ? [] : [['key', webhook.key_id] as const]),
      ...(lines === undefined ? [] : [['lines', lines.join(', ')] as const]),
      ...(sites === undefined ? [] : [['sites', sites.join(', ')] as const]),
      ...(pausedAt === undefined ? [] : [['paused', timeCell(pausedAt)] as const]),
      ['created', timeCell(createdAt)],
    ]),
    ...missedLines(webhook),
    ...(page.data.length === 0 ? [] : ['', 'Latest deliveries:', deliveryTable(page.data)]),
  ])
}

type Changes = CallArguments<'updateWebhook'>[0]['body']

async function update(call: Call, body: Changes): Promise<undefined> {
  const webhook = await askRelay(call, 'updateWebhook', { params: idIn(call), body })
  call.out.data(webhook, [
    `${webhook.id} (${webhook.url}) is ${stateOf(webhook)}.`,
    ...missedLines(webhook),
  ])
}

/** The events that came during a pause, with the command that sends them once it is over. */
function missedLines({ id, is_active, paused_at, events_while_paused: count }: Webhook): string[] {
  if (count === undefined) return []
  const came = `${missedWords(count)}.`
  if (!is_active || count === 0) return [came]
  return [came, `Send them: hookline webhooks replay ${id} --since ${paused_at}`]
}

/** Throws a UsageError if no option is given. */
function changesIn(call: Call): Changes {
  const { options } = call
  const url = options.get('url')
  const description = options.get('description')
  const changes = {
    url: url === undefined ? undefined : withScheme(url),
    events: eventsIn(options, 'events'),
    description: description === '' ? null : description,
    phone_line_ids: options.limit('lines'),
    site_ids: options.limit('sites'),
    attachment_links: options.switch('attachment-links'),
  }
  requireChange(changes, CHANGE_OPTIONS)
  return changes
}

/** One delivery that succeeds ends the failing state, and the other pending deliveries follow. */
async function retry(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const id = argument(call, 0)
  const { retried } = await client.ask('retryFailedDeliveries', { params: { id }, body: {} })
  const delivery = await redeliverPending(client, id)
  call.out.data({ retried, delivery }, [
    `${countWords(retried, 'failed delivery')} pending again.`,
    delivery === null ? 'Nothing is pending.' : `Trying ${delivery.id} (${delivery.event}) now.`,
  ])
  if (delivery !== null) call.out.note(`See the result: hookline webhooks show ${id}`)
}

async function redeliverPending(client: ControlClient, id: string): Promise<Delivery | null> {
  const query = { status: 'pending', limit: '1' }
  const { data } = await client.ask('listWebhookDeliveries', { params: { id }, query })
  const [pending] = data
  if (pending === undefined) return null
  return client.ask('redeliverWebhookDelivery', { params: { id: pending.id } })
}

function replayIn(call: Call) {
  const { options } = call
  return {
    since: options.get('since'),
    include_earlier: options.has('include-earlier') || undefined,
    ...filterOf(call),
  }
}

function filterOf({ options }: Call) {
  return {
    dry_run: options.has('dry-run') || undefined,
    events: eventsIn(options, 'event'),
    phone_line_id: options.get('line'),
  }
}

function eventsIn(options: Options, name: string) {
  return options.list(name) as readonly EventName[] | undefined // The relay refuses others, and lists the valid ones.
}

function described(answer: object): readonly Line[] {
  return [fields(Object.entries(answer).map(([name, value]) => [name, textOf(value)]))]
}

function textOf(value: unknown): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}
