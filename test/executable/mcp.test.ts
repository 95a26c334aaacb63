// `hookline mcp`, started by the official client as an agent's host starts it.

import { expect, test } from 'bun:test'

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import { hookline } from '../support/command-line.ts'
import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import { createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import type { Json } from '../support/test-relay.ts'

const SIMULATED = { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' }

test.each([{ pin: '2026-07-28' }, 'legacy'] as const)(
  'an agent sends by the control socket and by address and key, in %j, and the server ends with its input',
  async (mode) => {
    using dir = temporaryDataDir()
    const { key, secret } = await createKey(dir.path)
    await using relay = await RelayProcess.start({ dataDir: dir.path, environment: SIMULATED })

    for (const way of [
      ['--data-dir', dir.path],
      ['--url', relay.url],
    ]) {
      const transport = new StdioClientTransport({
        command: builtExecutable(),
        args: ['mcp', ...way],
        env: cleanEnvironment({ HOOKLINE_KEY: `${key}:${secret}` }),
      })
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(transport)
      const args = { to: '+12025550123', text: 'hello' }
      const sent: Json = await client.callTool({ name: 'send_message', arguments: args })
      const listed: Json = await client.callTool({ name: 'list_conversations', arguments: {} })
      const { pid } = transport
      await client.close()

      expect(sent.structuredContent).toMatchObject({ to: '+12025550123', status: 'sent' })
      expect(listed.structuredContent.conversations).toMatchObject([{ with: '+12025550123' }])
      expect(() => process.kill(pid ?? 0, 0)).toThrow()
    }
  },
  180_000,
)

test.each([
  ['without a key', 'http://127.0.0.1:1', '', 'set HOOKLINE_KEY to KEY:SECRET'],
  ['with half of one', 'http://127.0.0.1:1', 'hl_live_x', 'KEY:SECRET'],
  ['by a word', 'mac.local', 'a:b', 'the address of a relay'],
  ['if none answers', 'http://127.0.0.1:1', 'a:b', 'No relay answers at'],
])('a relay elsewhere %s is refused at once, with what is missing', async (_, url, key, says) => {
  const { exitCode, stdout, stderr } = await hookline(`mcp --url ${url}`, { HOOKLINE_KEY: key })

  expect(exitCode).toBeGreaterThan(0)
  expect([stdout, stderr.includes(says)]).toEqual(['', true])
})

test('without a relay each call says so, and the agent goes on', async () => {
  using dir = temporaryDataDir()
  const transport = new StdioClientTransport({
    command: builtExecutable(),
    args: ['mcp', '--data-dir', dir.path],
    env: cleanEnvironment({}),
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)

  const answer: Json = await client.callTool({ name: 'list_lines', arguments: {} })
  await client.close()

  expect(answer.isError).toBe(true)
  expect(answer.structuredContent.error.message).toContain('No relay is running')
}, 180_000)
