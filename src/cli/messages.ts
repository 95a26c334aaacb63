import { stat } from 'node:fs/promises'

import type { Conversation, Message } from '../api/messages.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import { ATTACHMENTS_MAX } from '../domain/attachment.ts'
import { CONVERSATION_TYPES } from '../domain/conversation.ts'
import { WANTED_SERVICES, type WantedService } from '../domain/message-extras.ts'
import { EVENT_NAMES } from '../domain/webhook.ts'
import { groupedNumber } from '../people/phone-numbers.ts'
import { NEVER, systemClock } from '../system/clock.ts'
import { localTime } from '../system/iso-time.ts'
import { uploadAll } from './attachments.ts'
import {
  EXIT,
  UsageError,
  argument,
  numberOption,
  valuesOf,
  type Call,
  type Command,
  type ExitCode,
} from './command.ts'
import type { ControlClient } from './control-client.ts'
import { excerptOf, messageLines } from './message-lines.ts'
import { runningRelay } from './own-file.ts'
import { handleOption, recipientOf } from './recipient.ts'
import { table, timeCell } from './table.ts'

const LISTED_DEFAULT = 50
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
        name: 'wait',
        value: 'sent|delivered',
        sentence: 'Wait until the message is sent or delivered, or fails.',
      },
    ],
    sentence: 'Send a message to a number or email address, or into a conversation by its id.',
    run: send,
  },
  {
    name: 'messages show',
    args: [{ name: 'ID' }],
    sentence: 'Show a message with its attachments, reactions, reply and edits.',
    run: show,
  },
  {
    name: 'messages resolve',
    args: [
      { name: 'ID', ids: 'messages' },
      { name: 'STATUS', choices: ['sent', 'failed'] },
    ],
    sentence: 'Mark an uncertain message as sent or failed.',
    run: resolve,
  },
  {
    name: 'conversations list',
    short: 'conversations',
    options: [
      {
        name: 'type',
        value: CONVERSATION_TYPES.join('|'),
        sentence: 'Only people or only groups (default all).',
      },
      { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only conversations of this line.' },
      { name: 'limit', value: 'N', sentence: `Number to list, 1 to ${LISTED_MAX} (default 50).` },
    ],
    sentence: 'List conversations, newest first. Short: conversations.',
    run: listConversations,
  },
]

export const TAIL_COMMAND: Command = {
  name: 'tail',
  options: [
    { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only this line (id or number).' },
    { name: 'event', value: 'NAMES', sentence: `Only these events: ${EVENT_NAMES.join(', ')}.` },
    { name: 'handle', value: 'HANDLE', sentence: 'Only messages to and from this person.' },
  ],
  sentence: 'Print events as they happen, one per line.',
  run: tail,
}

const POLL_MS = 500
const REACHED = {
  sent: ['sent', 'delivered', 'read'],
  delivered: ['delivered', 'read'],
} as const
const ENDED = ['failed', 'expired', 'uncertain']

async function send(call: Call): Promise<ExitCode> {
  const until = waitOptionOf(call)
  const files = await filesToSend(call)
  const { to: written, ...target } = targetOf(call)
  const client = await runningRelay(call)
  const to = isConversation(written) ? written : await recipientOf(call, client, written)
  const attachments = await uploadAll(call, client, files)
  const [, text] = call.args
  const content = {
    ...(text !== undefined && { text }),
    ...(attachments.length > 0 && { attachments }),
  }
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const sent = isConversation(to)
    ? await client.ask('POST /conversations/:id/messages', { id: to, body: content, headers })
    : await client.ask('POST /messages/send', { body: { to, ...content, ...target }, headers })
  const message = until === null ? sent : await follow(client, sent, until)

  const { id, status } = message
  call.out.data(message, [`${status}  ${id}  ${reasonOf(message)}`.trimEnd()])
  return ENDED.includes(status) ? EXIT.failed : EXIT.ok
}

/** Recipient, line and service; a conversation has its own line and service. */
function targetOf(call: Call) {
  const to = argument(call, 0)
  const [line, service] = [call.options.get('line'), serviceOptionOf(call)]
  if (isConversation(to) && (line ?? service) !== undefined) {
    throw new UsageError('A conversation has its own line and service: leave out the option.')
  }
  return { to, ...(line && { phone_line_id: line }), ...(service && { service }) }
}

function isConversation(to: string): boolean {
  return to.startsWith('conv_')
}

function serviceOptionOf(call: Call): WantedService | undefined {
  const written = call.options.get('service')
  const service = WANTED_SERVICES.find((name) => name === written)
  if (written === undefined || service !== undefined) return service
  throw new UsageError(`--service must be one of: ${WANTED_SERVICES.join(', ')}.`)
}

/** The files of the call, which are all looked at before the first is uploaded. */
async function filesToSend(call: Call): Promise<readonly string[]> {
  const files = valuesOf(call, 'attach')
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

async function show(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const message = await client.ask('GET /messages/:id', { id: argument(call, 0) })
  call.out.data(message, messageLines(message))
}

async function resolve(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const [id, status] = [argument(call, 0), argument(call, 1)]
  const message = await client.ask('POST /messages/:id/resolve', { id, body: { status } })
  call.out.data(message, [`Marked ${message.id} as ${message.status}.`])
}

function waitOptionOf(call: Call): keyof typeof REACHED | null {
  const wait = call.options.get('wait') ?? null
  if (wait === null || wait === 'sent' || wait === 'delivered') return wait
  throw new UsageError('--wait must be sent or delivered.')
}

/** Polls the message until it is `until` or can never be: a queued one expires in a day. */
async function follow(
  client: ControlClient,
  sent: Message,
  until: keyof typeof REACHED,
): Promise<Message> {
  let message = sent
  const ends: readonly string[] = [...REACHED[until], ...ENDED]
  while (!ends.includes(message.status)) {
    await systemClock.sleep(POLL_MS, NEVER)
    message = await client.ask('GET /messages/:id', { id: sent.id })
  }
  return message
}

function reasonOf({ error, queued_reason }: Message): string {
  return error?.message ?? queued_reason ?? ''
}

async function tail(call: Call): Promise<ExitCode> {
  const names = eventNamesOf(call)
  const client = await runningRelay(call)
  const { data: lines } = await client.ask('GET /phone-lines')
  const numbers = new Map(lines.map((line) => [line.id, line.phone_number]))
  const [line, handle] = [handleOption(call, 'line'), handleOption(call, 'handle')]
  for await (const event of client.events()) {
    const lineId = event.phone_line_id
    const number = numbers.get(lineId) ?? lineId
    const isSelected =
      (names === null || names.includes(event.event)) &&
      (line === undefined || line === lineId || line === number) &&
      (handle === undefined || handle === handleOf(event))
    if (isSelected) call.out.data(event, [eventLine(event, number)])
  }
  call.out.problem('The relay stopped.')
  return EXIT.failed
}

function eventLine(event: AnyEvent, number: string): string {
  const text = textOfEvent(event).replaceAll(/\s+/g, ' ')
  const name = event.event.padEnd(17)
  const isFromMe = 'message' in event && (event.message ?? event.reaction)?.isFromMe
  const time = localTime(systemClock.now())
  return `${time}  ${name}  ${groupedNumber(number)} ${isFromMe ? '→' : '←'} ${groupedNumber(handleOf(event))}  ${text}`
}

/** The person, or the group where the event is about one itself. */
function handleOf(event: AnyEvent): string {
  if (!('message' in event)) return event.conversation.name ?? event.conversation.chat_guid
  return event.message?.handle ?? event.reaction?.handle ?? ''
}

function textOfEvent(event: AnyEvent): string {
  if (!('message' in event)) return [event.change, event.target].filter(Boolean).join(' ')
  const { reaction, message } = event
  const sign = reaction && `${reaction.action} ${reaction.emoji ?? reaction.type}: `
  return `${sign ?? ''}${message?.text ?? ''}`
}

function eventNamesOf(call: Call): readonly string[] | null {
  const text = call.options.get('event')
  if (text === undefined) return null
  const names = text.split(',').map((name) => name.trim())
  const known: readonly string[] = EVENT_NAMES
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  throw new UsageError(`Unknown event ${unknown}. Events: ${EVENT_NAMES.join(', ')}.`)
}

async function listConversations(call: Call): Promise<undefined> {
  const type = call.options.get('type') ?? 'all'
  if (!CONVERSATION_TYPES.some((name) => name === type)) {
    throw new UsageError(`--type must be one of: ${CONVERSATION_TYPES.join(', ')}.`)
  }
  const limit = numberOption(call, 'limit', { fallback: LISTED_DEFAULT, max: LISTED_MAX })
  const line = call.options.get('line')
  const client = await runningRelay(call)
  const page = await client.ask('GET /conversations', {
    query: { type, limit: String(limit), ...(line && { phone_line_id: line }) },
  })
  const rows = page.data.map((conversation) => {
    const { id, phone_number, last_message: last, updated_at } = conversation
    const text = last === null ? '' : excerptOf(last)
    return [id, nameOf(conversation), groupedNumber(phone_number), timeCell(updated_at), text]
  })
  call.out.data(page, table(['ID', 'WITH', 'LINE', 'LAST', 'MESSAGE'], rows))
  if (rows.length === 0) call.out.note('No conversations.')
}

function nameOf({ type, handle, name, contact_name, participants = [] }: Conversation): string {
  if (type !== 'group') return contact_name ?? groupedNumber(handle)
  const people = participants
    .map((person) => person.name ?? groupedNumber(person.handle))
    .join(', ')
  return name ? `${name} (${people})` : `Group: ${people}`
}
