import type { Message } from '../api/messages.ts'
import type { EventPayload } from '../api/webhooks.ts'
import { EVENT_NAMES } from '../domain/webhook.ts'
import { NEVER, systemClock } from '../system/clock.ts'
import { localTime } from '../system/iso-time.ts'
import { EXIT, UsageError, argument, type Call, type Command, type ExitCode } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { runningRelay } from './own-file.ts'

export const MESSAGE_COMMANDS: readonly Command[] = [
  {
    name: 'send',
    args: [{ name: 'TO' }, { name: 'TEXT' }],
    options: [
      { name: 'line', value: 'ID', ids: 'lines', sentence: 'Line to send from.' },
      {
        name: 'wait',
        value: 'sent|delivered',
        sentence: 'Wait until the message is sent or delivered, or fails.',
      },
    ],
    sentence: 'Send a message.',
    run: send,
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
  const client = await runningRelay(call)
  const line = call.options.get('line')
  const body = {
    to: argument(call, 0),
    text: argument(call, 1),
    ...(line === undefined ? {} : { phone_line_id: line }),
  }
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const sent = await client.ask('POST /messages/send', { body, headers })
  const message = until === null ? sent : await follow(client, sent, until)

  const { id, status } = message
  call.out.data(message, [`${status}  ${id}  ${reasonOf(message)}`.trimEnd()])
  return ENDED.includes(status) ? EXIT.failed : EXIT.ok
}

async function resolve(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const [id, status] = [argument(call, 0), argument(call, 1)]
  const message = await client.ask('POST /messages/:id/resolve', { id, body: { status } })
  call.out.data(message, [`Marked ${message.id} as ${message.status}.`])
  return EXIT.ok
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
  const [line, handle] = [call.options.get('line'), call.options.get('handle')]
  for await (const event of client.events()) {
    const lineId = event.phone_line_id
    const number = numbers.get(lineId) ?? lineId
    const isSelected =
      (names === null || names.includes(event.event)) &&
      (line === undefined || line === lineId || line === number) &&
      (handle === undefined || handle === event.message.handle)
    if (isSelected) call.out.data(event, [eventLine(event, number)])
  }
  call.out.problem('The relay stopped.')
  return EXIT.failed
}

/** Local time, event, line, an arrow to or from the person, and the text on one line. */
function eventLine({ event, message }: EventPayload, number: string): string {
  const text = message.text.replaceAll(/\s+/g, ' ')
  const name = event.padEnd(17)
  const arrow = message.isFromMe ? '→' : '←'
  const time = localTime(systemClock.now())
  return `${time}  ${name}  ${number} ${arrow} ${message.handle}  ${text}`
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
