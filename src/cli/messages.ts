import { systemClock } from '../system/clock.ts'
import { rowOf, textOf, type Row } from './answers.ts'
import { EXIT, UsageError, argument, type Call, type Command, type ExitCode } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { runningRelay } from './own-file.ts'

export const MESSAGE_COMMANDS: readonly Command[] = [
  {
    name: 'send',
    args: [{ name: 'TO' }, { name: 'TEXT' }],
    options: [
      { name: 'line', value: 'ID', ids: 'lines', sentence: 'The line to send from.' },
      { name: 'wait', value: 'sent|delivered', sentence: 'Wait until it is, or cannot be.' },
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
    sentence: 'Settle by hand a message of which nobody can say whether it left.',
    run: resolve,
  },
]

const LOOK_AGAIN_MS = 500
const REACHED = {
  sent: ['sent', 'delivered', 'read'],
  delivered: ['delivered', 'read'],
} as const
const ENDED = ['failed', 'expired', 'uncertain']

async function send(call: Call): Promise<ExitCode> {
  const until = untilOf(call)
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
  call.out.data(body, [`${textOf(message, 'id')} is ${textOf(message, 'status')}.`])
  return EXIT.ok
}

function untilOf(call: Call): keyof typeof REACHED | null {
  const wait = call.options.get('wait') ?? null
  if (wait === null || wait === 'sent' || wait === 'delivered') return wait
  throw new UsageError('--wait must be sent or delivered.')
}

/** Reads the message until it got as far as asked, or never will: a queued one expires in a day. */
async function follow(
  client: ControlClient,
  first: unknown,
  until: keyof typeof REACHED,
): Promise<Row> {
  const never = new AbortController().signal
  let message = rowOf(first)
  const ends: readonly string[] = [...REACHED[until], ...ENDED]
  while (!ends.includes(textOf(message, 'status'))) {
    await systemClock.sleep(LOOK_AGAIN_MS, never)
    const { body } = await client.ask('GET', `/messages/${textOf(message, 'id')}`)
    message = rowOf(body)
  }
  return message
}

function reasonOf(message: Row): string {
  const error = textOf(rowOf(message['error']), 'message')
  return error === '' ? textOf(message, 'queued_reason') : error
}
