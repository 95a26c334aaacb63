import { rightsFor } from '../api/client.ts'
import { ONLY_CONVERSATION, type KeySelf } from '../api/keys.ts'
import type { OperationRights } from '../domain/permissions.ts'
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
    {
      name: 'conversation',
      value: 'ID',
      ids: 'conversations',
      sentence: 'Limit the agent to this conversation.',
    },
  ],
  sentence: 'Serve the relay to an agent via MCP, on standard input and output.',
  run: serve,
}

async function serve(call: Call): Promise<ExitCode> {
  const url = call.options.get('url')
  const conversation = call.options.get('conversation')
  const limit = conversation === undefined ? {} : { [ONLY_CONVERSATION]: conversation }
  const client = url === undefined ? clientOf(call, limit) : remoteClient(call, url, limit)
  const key = url === undefined ? null : await client.ask('getOwnKey')
  const isLimited = conversation !== undefined || (key?.conversation_ids ?? null) !== null
  if (conversation !== undefined) await requireLimit(client, key)
  const { serveMcp } = await import('../mcp/server.ts')
  await serveMcp({
    api: client,
    rules: key?.rules ?? null,
    may: (operation) => mayBeCalled(rightsFor(operation), key?.scopes ?? null, isLimited),
  })
  return EXIT.ok
}

/** Throws if the relay is of a version that doesn't know the limit, and so would not keep it. */
async function requireLimit(client: ControlClient, key: KeySelf | null): Promise<void> {
  // An earlier version lets the owner read the lines in any case.
  const isKnown = key === null ? await isRefusedLines(client) : 'conversation_ids' in key
  if (!isKnown)
    throw new Error('The relay is of an earlier version, which knows no --conversation.')
}

async function isRefusedLines(client: ControlClient): Promise<boolean> {
  return (await client.find('listPhoneLines')) === null
}

/** The relay checks each call again. */
function mayBeCalled(
  { scope, limits }: OperationRights,
  scopes: readonly string[] | null,
  isLimited: boolean,
): boolean {
  if (isLimited && !limits.includes('conversations')) return false
  return scopes === null || scopes.includes(scope)
}

function remoteClient(
  { surroundings }: Call,
  url: string,
  limit: Readonly<Record<string, string>>,
): ControlClient {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError('--url must be the address of a relay, such as http://mac.local:4665.')
  }
  const [, key, secret] = /^([^:]+):(.+)$/.exec(surroundings.environment[KEY] ?? '') ?? []
  if (key === undefined || secret === undefined) {
    throw new UsageError(`--url needs an API key: set ${KEY} to KEY:SECRET.`)
  }
  const headers = { 'x-api-key': key, 'x-api-secret': secret }
  const place = { url, headers, environment: surroundings.environment }
  return new ControlClient(place, limit)
}
