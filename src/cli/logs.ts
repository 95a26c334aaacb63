import { rowOf } from './answers.ts'
import { EXIT, UsageError, type Call, type Command, type ExitCode } from './command.ts'
import { openServiceCall, type FindPlace, type ServiceCall } from './service-place.ts'

export function logsCommand(findPlace: FindPlace): Command {
  return {
    name: 'logs',
    args: [],
    options: [
      { name: 'follow', short: 'f', value: null, sentence: 'Go on with what comes. Short: -f.' },
      { name: 'lines', value: 'N', sentence: 'How many of the newest lines, 200 unless you say.' },
    ],
    sentence: 'Print the log of the service.',
    run: (call) => print(openServiceCall(call, findPlace)),
  }
}

const LINES_DEFAULT = 200
const LINES_MAX = 1_000
const FOLLOW_MS = 1_000

async function print({ call, host, machine, signal }: ServiceCall): Promise<ExitCode> {
  const lines = await host.log.newest(countOf(call), signal)
  for (const line of lines) call.out.data(entryOf(line), [line])
  if (lines.length === 0) call.out.note('The service has written nothing yet.')
  while (call.options.has('follow') && !signal.aborted) {
    await machine.clock.sleep(FOLLOW_MS, signal)
    if (signal.aborted) break
    for (const line of await host.log.more(signal)) call.out.data(entryOf(line), [line])
  }
  return EXIT.ok
}

function countOf(call: Call): number {
  const text = call.options.get('lines')
  if (text === undefined) return LINES_DEFAULT
  const count = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= LINES_MAX) return count
  throw new UsageError(`--lines must be a whole number from 1 to ${LINES_MAX}.`)
}

/** The relay writes JSON; whatever else stands in the log becomes the message. */
function entryOf(line: string): unknown {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry === 'object' && entry !== null) return rowOf(entry)
  } catch {
    // What crashed writes plain text.
  }
  return { message: line }
}
