import { rowOf, textOf } from './answers.ts'
import { EXIT, type Call, type Command, type ExitCode } from './command.ts'
import { runningRelay } from './own-file.ts'

export const TAIL_COMMAND: Command = {
  name: 'tail',
  args: [],
  options: [],
  sentence: 'Show events as they happen, one line each.',
  run: tail,
}

async function tail(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  for await (const event of client.stream('/events')) {
    const { event: name } = rowOf(event)
    const message = rowOf(rowOf(event)['message'])
    const text = textOf(message, 'text').replaceAll(/\s+/g, ' ')
    call.out.data(event, [`${String(name).padEnd(17)}  ${textOf(message, 'handle')}  ${text}`])
  }
  call.out.problem('The relay has stopped.')
  return EXIT.failed
}
