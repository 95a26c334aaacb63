// Twilio's unchanged libraries, and others that speak its API: each sends by a key of its own, and gets what a person
// writes. A reply in the answer of a webhook must reach the person once, also if its delivery is repeated.

import { eventually } from '../../test/support/eventually.ts'
import type { ApiClient } from '../../test/support/relay-process.ts'

const PATIENCE_MS = 120_000

type Made = { readonly id: string; readonly connect: Readonly<Record<string, string>> }

/** Runs the program to its end; throws if it fails, or if its texts aren't those that the person got. */
export async function checkTwilio(
  api: ApiClient,
  run: {
    readonly command: readonly string[]
    readonly folder: string
    readonly relay: string
    readonly to: string
    readonly texts: readonly string[]
  },
): Promise<string> {
  const { command, folder, relay, to, texts } = run
  const { id, connect } = await api.ask<Made>('POST', '/api/v1/keys', { for: 'twilio' })
  const port = String(freePort())
  const webhook = { url: `http://127.0.0.1:${port}/sms`, events: ['message.received'] }
  const format = { format: 'twilio', key_id: id }
  await api.ask('POST', '/api/v1/webhooks', { ...webhook, ...format })
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { ...process.env, ...connect, RELAY: relay, TO: to, port },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: PATIENCE_MS,
  })
  const output = linesOf(child.stdout)
  const errors = new Response(child.stderr).text()
  await eventually(
    'the program is ready',
    () => output.isReady() || hasEnded(child) || null,
    PATIENCE_MS,
  )
  const { data } = await api.ask<{ data: { id: string }[] }>('GET', '/api/v1/phone-lines')
  const event = { type: 'message', from: to, text: 'ping' }
  await api.ask('POST', `/api/v1/simulated/lines/${data[0]?.id}/events`, event)
  if ((await child.exited) !== 0) throw new Error(await errors)
  const arrived = await textsOnPhone(api, to)
  if (arrived.join() !== texts.join()) throw new Error(`arrived: ${arrived.join(', ')}`)
  return `${arrived.length} sent, received messages and callbacks validated, one reply`
}

/** The texts that a person has, from the fake's outbox, oldest first. */
export async function textsOnPhone(api: ApiClient, to: string): Promise<readonly string[]> {
  const path = `/api/v1/simulated/outbox?to=${encodeURIComponent(to)}`
  const { data } = await api.ask<{ data: { text: string }[] }>('GET', path)
  return data.map(({ text }) => text)
}

function hasEnded({ exitCode }: { readonly exitCode: number | null }): boolean {
  return exitCode !== null
}

function linesOf(stream: ReadableStream<Uint8Array>) {
  let text = ''
  void (async () => {
    for await (const chunk of stream) text += new TextDecoder().decode(chunk)
  })()
  return { isReady: () => text.includes('ready') }
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port = 0 } = server
  void server.stop(true)
  return port
}
