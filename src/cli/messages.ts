import { EVENT_NAMES } from '../domain/webhook.ts'
import { systemClock } from '../system/clock.ts'
import { localTime } from '../system/iso-time.ts'
import { rowOf, rowsOf, textOf, type Row } from './answers.ts'
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
    options: [],
    sentence: 'Mark an uncertain message as sent or failed.',
    run: resolve,
  },
]

export const TAIL_COMMAND: Command = {
  name: 'tail',
  args: [],
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
  const answer = await client.ask('POST', '/messages/send', { body, headers })
  const message = until === null ? rowOf(answer.body) : await follow(client, answer.body, until)

  const status = textOf(message, 'status')
  call.out.data(message, [`${status}  ${textOf(message, 'id')}  ${reasonOf(message)}`.trimEnd()])
  return ENDED.includes(status) ? EXIT.failed : EXIT.ok
}

async function resolve(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const path = `/messages/${encodeURIComponent(argument(call, 0))}/resolve`
  const { body } = await client.ask('POST', path, { body: { status: argument(call, 1) } })
  const message = rowOf(body)
  call.out.data(body, [`Marked ${textOf(message, 'id')} as ${textOf(message, 'status')}.`])
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
  first: unknown,
  until: keyof typeof REACHED,
): Promise<Row> {
  const never = new AbortController().signal
  let message = rowOf(first)
  const ends: readonly string[] = [...REACHED[until], ...ENDED]
  while (!ends.includes(textOf(message, 'status'))) {
    await systemClock.sleep(POLL_MS, never)
    const { body } = await client.ask('GET', `/messages/${textOf(message, 'id')}`)
    message = rowOf(body)
  }
  return message
}

function reasonOf(message: Row): string {
  const error = textOf(rowOf(message['error']), 'message')
  return error === '' ? textOf(message, 'queued_reason') : error
}

async function tail(call: Call): Promise<ExitCode> {
  const names = eventNamesOf(call)
  const client = await runningRelay(call)
  const lines = rowsOf((await client.ask('GET', '/phone-lines')).body)
  const numbers = new Map(lines.map((line) => [textOf(line, 'id'), textOf(line, 'phone_number')]))
  const [line, handle] = [call.options.get('line'), call.options.get('handle')]
  for await (const body of client.stream('/events')) {
    const event = rowOf(body)
    const message = rowOf(event['message'])
    const lineId = textOf(event, 'phone_line_id')
    const number = numbers.get(lineId) ?? lineId
    const isSelected =
      (names === null || names.includes(textOf(event, 'event'))) &&
      (line === undefined || line === lineId || line === number) &&
      (handle === undefined || handle === textOf(message, 'handle'))
    if (isSelected) call.out.data(body, [eventLine(event, message, number)])
  }
  call.out.problem('The relay stopped.')
  return EXIT.failed
}

/** Local time, event, line, an arrow to or from the person, and the text on one line. */
function eventLine(event: Row, message: Row, number: string): string {
  const text = textOf(message, 'text').replaceAll(/\s+/g, ' ')
  const name = textOf(event, 'event').padEnd(17)
  const arrow = message['isFromMe'] === true ? '→' : '←'
  const time = localTime(systemClock.now())
  return `${time}  ${name}  ${number} ${arrow} ${textOf(message, 'handle')}  ${text}`
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
