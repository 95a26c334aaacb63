import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'

import { RefusedError } from '../../src/api/client.ts'
import { NoRelayError } from '../../src/cli/command.ts'
import { ControlClient } from '../../src/cli/control-client.ts'
import { NEVER } from '../../src/system/clock.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'

function clientIn(folder: ScratchFolder): ControlClient {
  return new ControlClient(folder.file('control.sock'))
}

test('a request goes over the socket, whatever proxy the environment names', async () => {
  using folder = new ScratchFolder()
  using relay = new FakeRelay(folder.path, () => Response.json({ id: 'key_a' }, { status: 201 }))
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:1'

  const answer: object = await clientIn(folder).ask('createKey', { body: { name: 'x' } })
  delete process.env['HTTP_PROXY']

  expect(answer).toEqual({ id: 'key_a' })
  expect(relay.asked).toEqual([{ method: 'POST', path: '/api/v1/keys', body: { name: 'x' } }])
})

test('an error of the relay is reported with its status, code and sentence', async () => {
  using folder = new ScratchFolder()
  const error = { error: { code: 'not_found' as const, message: 'There is no key with this id.' } }
  using _relay = new FakeRelay(folder.path, () => Response.json(error, { status: 404 }))

  const asking = clientIn(folder).ask('revokeKey', { params: { id: 'key_x' } })

  await expect(asking).rejects.toEqual(new RefusedError(404, error.error))
})

test('no socket, and one that nobody listens on, mean that no relay runs', async () => {
  using folder = new ScratchFolder()
  const client = clientIn(folder)

  const without = await client.isThere()
  writeFileSync(folder.file('control.sock'), '')

  expect([without, await client.isThere()]).toEqual([false, false])
  await expect(client.ask('listKeys')).rejects.toBeInstanceOf(NoRelayError)
})

test('a stream gives each event as it comes, however it was cut', async () => {
  using folder = new ScratchFolder()
  const parts = [
    'retry: 5\n\nid: e1\nevent: x\ndata: {"a":',
    '"ä"}\n\n: still',
    ' here\n\ndata: {"b":2}\n\n',
  ]
  const bytes = parts.map((part) => new TextEncoder().encode(part))
  using _relay = new FakeRelay(
    folder.path,
    () => new Response(new ReadableStream({ pull: (stream) => step(stream, bytes) })),
  )

  const seen: readonly unknown[] = await Array.fromAsync(
    clientIn(folder).events(NEVER, { after: null }),
  )

  expect(seen).toEqual([
    { id: null, event: null },
    { id: 'e1', event: { a: 'ä' } },
    { id: null, event: null },
    { id: null, event: { b: 2 } },
  ])
})

function step(stream: ReadableStreamDefaultController, bytes: Uint8Array[]): void {
  const next = bytes.shift()
  if (next === undefined) stream.close()
  else stream.enqueue(next)
}
