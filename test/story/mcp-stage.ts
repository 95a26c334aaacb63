// A relay with a line, and clients of its MCP server.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import { guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

export const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
export const HOST = { host: 'localhost' }
export const NEWEST = { mode: { pin: '2026-07-28' } } as const
export const OLDER = { mode: 'legacy' } as const

type Key = { readonly key: string; readonly secret: string }

export async function openMcp(
  options: Parameters<typeof startRelay>[0] = {},
  { hasSecondLine = false }: { readonly hasSecondLine?: boolean } = {},
) {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  if (hasSecondLine) driver.add('+12025550802')
  const relay = await startRelay({ ...options, drivers: [driver] })
  const post = (body: unknown, headers: Record<string, string>) =>
    relay.app.http.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...HOST, 'content-type': 'application/json', accept: ACCEPTED, ...headers },
        body: JSON.stringify(body),
      }),
      PEER,
    )
  return {
    ...relay,
    device,
    devices: driver.devices,
    auth: { 'x-api-key': relay.key?.key ?? '', 'x-api-secret': relay.key?.secret ?? '' },
    raw: post,
    receive: (text: string, guid = 1) => device.receive({ guid: guidOf(guid), text }),
    /** A client with a key of its own in one header, as most agents can set no more. */
    async connect(versionNegotiation: typeof NEWEST | typeof OLDER, key: Key | null = relay.key) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation })
      const authorization = `Bearer ${key?.key}:${key?.secret}`
      const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
        requestInit: { headers: { ...HOST, authorization } },
        fetch: (url, init) => relay.app.http.fetch(new Request(String(url), init), PEER),
      })
      await client.connect(transport)
      const call = async (name: string, args: Record<string, unknown> = {}): Promise<Json> =>
        client.callTool({ name, arguments: args })
      return { client, call }
    },
  }
}

const ACCEPTED = 'application/json, text/event-stream'
