import { rowOf, textOf } from './answers.ts'
import { EXIT, type Call, type Command, type ExitCode } from './command.ts'
import { runningRelay } from './own-file.ts'

export const SETUP_LINK_COMMAND: Command = {
  name: 'setup-link',
  args: [],
  options: [],
  sentence: "Print a link that sets the dashboard's password, also a forgotten one; good once.",
  run: printLink,
}

async function printLink(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const { body } = await client.ask('POST', '/setup-link', { body: {} })
  const link = rowOf(body)
  const addresses = [textOf(link, 'url'), textOf(link, 'lan_url')].filter((url) => url !== '')
  call.out.data(body, addresses)
  call.out.note('Good once, for 30 minutes; using it ends every session of the dashboard.')
  return EXIT.ok
}
