import { stat } from 'node:fs/promises'

import type { Message } from '../api/messages.ts'
import { ATTACHMENTS_MAX } from '../domain/attachment.ts'
import { WANTED_SERVICES } from '../domain/message-extras.ts'
import { DEFERRAL_REASONS, MESSAGE_STATUSES } from '../domain/message.ts'
import { NEVER, systemClock } from '../system/clock.ts'
import { isoTime } from '../system/iso-time.ts'
import { uploadAll } from './attachments.ts'
import {
  EXIT,
  TIME_FORMS,
  SITE_OPTION,
  UsageError,
  argument,
  idIn,
  type Call,
  type Command,
  type ExitCode,
} from './command.ts'
import type { ControlClient } from './control-client.ts'
import { excerptOf, messageLines, withOf } from './message-lines.ts'
import { askRelay, byId, calling, runningRelay } from './own-file.ts'
import { handleOption, recipientOf } from './recipient.ts'
import { stateCell, table, timeCell } from './table.ts'

const LISTED_MAX = 200

export const MESSAGE_COMMANDS: readonly Command[] = [
  {
    name: 'send',
    args: [{ name: 'TO' }, { name: 'TEXT', isOptional: true }],
    options: [
      { name: 'attach', value: 'FILE', isRepeatable: true, sentence: 'File to send, 10 at most.' },
      {
        name: 'service',
        value: WANTED_SERVICES.join('|'),
        sentence: 'Service to send by. Without it, the device chooses.',
      },
      { name: 'line', value: 'ID', ids: 'lines', sentence: 'Line to send from.' },
      {
        name: 'at',
        value: 'WHEN',
        sentence: 'Send later: 2026-11-21T10:00:00Z, or 30m, 12h, 7d from now.',
      },
      {
        name: 'wait',
        value: 'sent|delivered',
        sentence: 'Wait until the message is sent or delivered, or fails.',
      },
    ],
    sentence: 'Send a message to a number or email address, or into a conversation by its id.',
    run: send,
  },
  {
    name: 'messages list',
    short: 'messages',
    options: [
      { name: 'status', value: 'STATUS', sentence: `Only: ${MESSAGE_STATUSES.join(', ')}.` },
      {
        name: 'queued',
        value: DEFERRAL_REASONS.join('|'),
        sentence: 'Only queued messages that wait for this.',
      },
      { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only messages of this line.' },
      SITE_OPTION,
      { name: 'with', value: 'HANDLE', sentence: 'Only messages to and from this person.' },
      { name: 'since', value: 'TIME', sentence: `Only messages since then: ${TIME_FORMS}.` },
      { name: 'limit', value: 'N', sentence: `Number to list, 1 to ${LISTED_MAX} (default 50).` },
    ],
    sentence: 'List messages, newest first. Short: messages.',
    run: list,
  },
  {
    name: 'messages show',
    args: [{ name: 'ID', ids: 'messages' }],
    sentence: 'Show a message with its attachments, reactions, reply and edits.',
    run: calling('getMessage', byId, messageLines),
  },
  {
    name: 'messages cancel',
    args: [{ name: 'ID', ids: 'messages' }],
    sentence: 'Cancel a queued message, as one that is sent later.',
    run: calling('cancelMessage', byId, ({ id }) => [`Canceled ${id}.`]),
  },
  {
    name: 'messages resolve',
    args: [
      { name: 'ID', ids: 'uncertain' },
      { name: 'STATUS', choices: ['sent', 'failed'] },
    ],
    sentence: 'Mark an uncertain message as sent or failed.',
    run: calling(
      'resolveMessage',
      (call) => [
        { params: idIn(call), body: { status: argument(call, 1) === 'sent' ? 'sent' : 'failed' } },
      ],
      ({ id, status }) => [`Marked ${id} as ${status}.`],
    ),
  },
]

export const STATS_COMMAND: Command = {
  name: 'stats',
  options: [
    { name: 'days', value: 'N', sentence: 'Number of days, 1 to 400 (default 14).' },
    SITE_OPTION,
  ],
  sentence: 'Show how many messages were sent, received and failed, by day.',
  run: printStats,
}

const POLL_MS = 500
const REACHED = {
  sent: ['sent', 'delivered', 'read'],
  delivered: ['delivered', 'read'],
} as const
const ENDED = ['failed', 'expired', 'uncertain']

async function send(call: Call): Promise<ExitCode> {
  const until = call.options.choice('wait', ['sent', 'delivered'])
  if (until !== undefined && call.options.has('at')) {
    throw new UsageError('--wait does not wait for a message that is sent later.')
  }
  const files = await filesToSend(call)
  const { to: written, ...target } = targetOf(call)
  const client = await runningRelay(call)
  const to = isConversation(written) ? written : await recipientOf(call, client, written)
  const attachments = await uploadAll(call, client, files)
  const [, text] = call.args
  const sendAt = call.options.time('at', true)
  const content = {
    text,
    send_at: sendAt === undefined ? undefined : isoTime(sendAt),
    attachments: attachments.length > 0 ? attachments : undefined,
  }
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const sent = isConversation(to)
    ? await client.ask('sendInConversation', { params: { id: to }, body: content, headers })
    : await client.ask('sendMessage', { body: { to, ...content, ...target }, headers })
  const message = until === undefined ? sent : await follow(client, sent, until)

  const { id, status } = message
  call.out.data(message, [`${status}  ${id}  ${reasonOf(message)}`.trimEnd()])
  return ENDED.includes(status) ? EXIT.failed : EXIT.ok
}

function targetOf(call: Call) {
  const to = argument(call, 0)
  const [line, service] = [
    call.options.get('line'),
    call.options.choice('service', WANTED_SERVICES),
  ]
  if (isConversation(to) && (line ?? service) !== undefined) {
    throw new UsageError('A conversation has its own line and service: leave out the option.')
  }
  return { to, phone_line_id: line || undefined, service }
}

function isConversation(to: string): boolean {
  return to.startsWith('conv_')
}

/** Checks all files before the first one is uploaded. */
async function filesToSend(call: Call): Promise<readonly string[]> {
  const files = call.options.all('attach')
  if (files.length === 0 && call.args[1] === undefined) {
    throw new UsageError('Nothing to send. Give a TEXT or --attach FILE.')
  }
  if (files.length > ATTACHMENTS_MAX) {
    throw new UsageError(`A message can have ${ATTACHMENTS_MAX} attachments at most.`)
  }
  for (const path of files) {
    const stats = await stat(path).catch(() => null)
    if (stats?.isFile() !== true) throw new UsageError(`There is no file ${path}.`)
  }
  return files
}

async function list(call: Call): Promise<undefined> {
  const limit = call.options.number('limit', { fallback: 50, max: LISTED_MAX })
  const status = call.options.choice('status', MESSAGE_STATUSES)
  const queued = call.options.choice('queued', DEFERRAL_REASONS)
  const since = call.options.time('since')
  const client = await runningRelay(call)
  const [line, handle] = [call.options.get('line'), await handleOption(call, client, 'with')]
  const page = await client.ask('listMessages', {
    query: {
      type: 'all',
      contact_names: 'true',
      limit: String(limit),
      status,
      queued_reason: queued,
      phone_line_id: line || undefined,
      site_id: call.options.get('site'),
      handle: handle || undefined,
      created_after: since ? isoTime(since) : undefined,
    },
  })
  const rows = page.data.map((message) => [
    message.id,
    timeCell(message.created_at),
    stateCell(message.status),
    withOf(message),
    [reasonOf(message) && `(${reasonOf(message)})`, excerptOf(message)].filter(Boolean).join(' '),
  ])
  call.out.data(page, [table(['ID', 'TIME', 'STATUS', 'WITH', 'TEXT'], rows)])
  if (rows.length === 0) call.out.note('No messages found.')
  if (page.has_more) call.out.note('More messages exist. Show more with --limit.')
}

/** Polls until the message is `until` or can never be: a queued message expires in a day. */
async function follow(
  client: ControlClient,
  sent: Message,
  until: keyof typeof REACHED,
): Promise<Message> {
  let message = sent
  const ends: readonly string[] = [...REACHED[until], ...ENDED]
  while (!ends.includes(message.status)) {
    await systemClock.sleep(POLL_MS, NEVER)
    message = await client.ask('getMessage', { params: { id: sent.id } })
  }
  return message
}

function reasonOf({ error, queued_reason, send_at }: Message): string {
  if (queued_reason === 'scheduled' && send_at !== undefined) return `scheduled for ${send_at}`
  return error?.message ?? queued_reason ?? ''
}

const BAR_LENGTH_MAX = 30
const BAR_LENGTH_MIN = 8
/** The terminal columns that the figures beside the bars take. */
const FIGURES_WIDTH = 50

async function printStats(call: Call): Promise<undefined> {
  const days = call.options.number('days', { fallback: 14, max: 400 })
  const query = { days: String(days), site_id: call.options.get('site') }
  const stats = await askRelay(call, 'getStats', { query })
  const most = Math.max(1, ...stats.data.map(({ sent, received }) => sent + received))
  const head = ['DAY', 'SENT', 'RECEIVED', 'FAILED', 'UNCERTAIN']
  const rows = stats.data.map(({ date, sent, received, failed, uncertain }) => ({
    share: (sent + received) / most,
    cells: [
      date,
      sent,
      received,
      { text: String(failed), tone: failed > 0 ? 'bad' : null },
      { text: String(uncertain), tone: uncertain > 0 ? 'warning' : null },
    ] as const,
  }))
  const figures = table(
    head,
    rows.map(({ cells }) => cells),
  )
  const drawn = (length: number) =>
    table(
      [...head, ' '],
      rows.map(({ cells, share }) => [...cells, '█'.repeat(Math.ceil(share * length)) || ' ']),
      [' '],
    )
  call.out.data(stats, [
    (look) => {
      const length = Math.min(BAR_LENGTH_MAX, (look.columns ?? 0) - FIGURES_WIDTH)
      return (length < BAR_LENGTH_MIN ? figures : drawn(length))(look)
    },
  ])
}
