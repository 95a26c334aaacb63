import { EVENT_NAMES } from '../domain/webhook.ts'
import { systemClock } from '../system/clock.ts'
import { localTime } from '../system/iso-time.ts'
import { rowOf, rowsOf, textOf, type Row } from './answers.ts'
import { EXIT, UsageError, type Call, type Command, type ExitCode } from './command.ts'
import { runningRelay } from './own-file.ts'

export const TAIL_COMMAND: Command = {
  name: 'tail',
  args: [],
  options: [
    {
      name: 'line',
      value: 'ID',
      ids: 'lines',
      sentence: 'Only events of this line: its id or its number.',
    },
    { name: 'event', value: 'NAMES', sentence: `Only these events: ${EVENT_NAMES.join(', ')}.` },
    { name: 'handle', value: 'HANDLE', sentence: 'Only messages to and from this person.' },
  ],
  sentence: 'Show events as they happen, one line each.',
  run: tail,
}

async function tail(call: Call): Promise<ExitCode> {
  const names = namesOf(call)
  const client = await runningRelay(call)
  const lines = rowsOf((await client.ask('GET', '/phone-lines')).body)
  const numbers = new Map(lines.map((line) => [textOf(line, 'id'), textOf(line, 'phone_number')]))
  const [line, handle] = [call.options.get('line'), call.options.get('handle')]
  for await (const told of client.stream('/events')) {
    const event = rowOf(told)
    const message = rowOf(event['message'])
    const lineId = textOf(event, 'phone_line_id')
    const number = numbers.get(lineId) ?? lineId
    const isMeant =
      (names === null || names.includes(textOf(event, 'event'))) &&
      (line === undefined || line === lineId || line === number) &&
      (handle === undefined || handle === textOf(message, 'handle'))
    if (isMeant) call.out.data(told, [lineOf(event, message, number)])
  }
  call.out.problem('The relay has stopped.')
  return EXIT.failed
}

/** The time here, the event, the line, an arrow to or from the person, and the text in one line. */
function lineOf(event: Row, message: Row, number: string): string {
  const text = textOf(message, 'text').replaceAll(/\s+/g, ' ')
  const name = textOf(event, 'event').padEnd(17)
  const arrow = message['isFromMe'] === true ? '→' : '←'
  const time = localTime(systemClock.now())
  return `${time}  ${name}  ${number} ${arrow} ${textOf(message, 'handle')}  ${text}`
}

function namesOf(call: Call): readonly string[] | null {
  const text = call.options.get('event')
  if (text === undefined) return null
  const names = text.split(',').map((name) => name.trim())
  const known: readonly string[] = EVENT_NAMES
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  throw new UsageError(`--event ${unknown} is none of: ${EVENT_NAMES.join(', ')}.`)
}
