// Uploads that are under way at the same time.

import { expect, test } from 'bun:test'

import { startWithFiles } from '../attachments/attachment-relay.ts'
import { eventually } from '../support/eventually.ts'

type Relay = Awaited<ReturnType<typeof startWithFiles>>
type Credentials = Readonly<Record<string, string>>

async function newKey(relay: Relay): Promise<Credentials> {
  const { body } = await relay.post('/api/v1/keys', { scopes: ['attachments:write'] })
  return { 'x-api-key': body.key, 'x-api-secret': body.secret }
}

/** Uploads by a client that sends a part, and the rest once `end` is called. */
async function begin(relay: Relay, credentials: Credentials, count: number) {
  const before = relay.files().length
  const bodies: ReadableStreamDefaultController<Uint8Array>[] = []
  const answers = Array.from({ length: count }, () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from(`part ${bodies.length}`))
        bodies.push(controller)
      },
    })
    const headers = { host: 'localhost', ...credentials }
    const request = new Request('http://localhost/api/v1/attachments', {
      method: 'POST',
      headers,
      body,
    })
    const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
    return relay.http.fetch(request, peer)
  })
  const areHere = () => (relay.files().length === before + count ? true : null)
  await eventually('the uploads have begun', areHere)
  return {
    async end(): Promise<readonly number[]> {
      for (const controller of bodies) controller.close()
      return (await Promise.all(answers)).map(({ status }) => status)
    },
  }
}

test('a key has 16 uploads at a time, all keys 64, and the owner on this machine is always let in', async () => {
  await using relay = await startWithFiles()
  const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => newKey(relay)))
  if (first === undefined) throw new Error('There is no key.')
  const running = [await begin(relay, first, 16)]

  const ownRefused = await relay.upload('x', '', first)
  const other = await relay.upload('x')
  for (const key of others) running.push(await begin(relay, key, 16))
  const allRefused = await relay.upload('y')
  const owner = await relay.control('POST', '/api/v1/attachments', { raw: 'z' })
  const ended = await Promise.all(running.map((each) => each.end()))
  const again = await relay.upload('y', '', first)

  expect(ownRefused.status).toBe(429)
  expect(ownRefused.error).toMatchObject({
    code: 'rate_limit_exceeded',
    message: '16 uploads of yours are running already: end one of them.',
    details: { limit: 'uploads' },
  })
  expect(ownRefused.headers.get('retry-after')).toBe('10')
  expect([other.status, allRefused.status, owner.status, again.status]).toEqual([
    201, 429, 201, 201,
  ])
  expect(new Set(ended.flat())).toEqual(new Set([201]))
})
