import type { McpClient } from '../mcp/tools.ts'
import { EXIT, UsageError, type Call, type Command, type ExitCode } from './command.ts'
import { ControlClient } from './control-client.ts'
import { clientOf } from './own-file.ts'

const KEY = 'HOOKLINE_KEY'

export const MCP_COMMAND: Command = {
  name: 'mcp',
  options: [
    {
      name: 'url',
      value: 'URL',
      sentence: `Relay elsewhere; the variable ${KEY} has its KEY:SECRET. Without it, the one on this machine.`,
    },
  ],
  sentence: 'Serve the relay to an agent by MCP, on standard input and output.',
  run: serve,
}

async function serve(call: Call): Promise<ExitCode> {
  const url = call.options.get('url')
  const client = url === undefined ? clientOf(call) : remoteClient(call, url)
  const { serveMcp } = await import('../mcp/server.ts')
  await serveMcp({
    api: client,
    id: crypto.randomUUID(),
    may: url === undefined ? () => true : await scopesOf(client),
  })
  return EXIT.ok
}

function remoteClient({ surroundings }: Call, url: string): ControlClient {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError('--url must be the address of a relay, such as http://mac.local:4665.')
  }
  const [, key, secret] = /^([^:]+):(.+)$/.exec(surroundings.environment[KEY] ?? '') ?? []
  if (key === undefined || secret === undefined) {
    throw new UsageError(`--url needs an API key: set ${KEY} to KEY:SECRET.`)
  }
  const headers = { 'x-api-key': key, 'x-api-secret': secret }
  return new ControlClient({ url, headers, environment: surroundings.environment })
}

async function scopesOf(client: ControlClient): Promise<McpClient['may']> {
  const { scopes } = await client.ask('getOwnKey')
  return (scope) => scopes.includes(scope)
}
