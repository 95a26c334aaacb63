// Run by `bun test --coverage`, once with SEND=yes and once without: a relay with a simulated line,
// which sends a message to the end, with a webhook that gets its three events, or does nothing. The
// files with lines that only the first run reaches are those that one send with one webhook runs.

import { expect, test } from 'bun:test'

import type { Post } from '../../src/webhooks/post.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startRelay } from '../support/test-relay.ts'

const EVENTS = ['message.sent', 'message.delivered', 'message.read']

test('one message is sent, delivered and read, and a webhook gets each of its events', async () => {
  const posted: string[] = []
  const post: Post = async (request) => {
    posted.push(JSON.parse(request.body).event)
    const answer = { excerpt: null, retryAfterSeconds: null, isPrivateTarget: false }
    return { result: 'answered', statusCode: 204, ...answer }
  }
  using folder = new ScratchFolder()
  const environment = { HOOKLINE_SIMULATED_LINES: '1' }
  await using relay = await startRelay({ drivers: 'own', post, environment, folder: folder.path })
  await relay.clock.advance(5_000)
  if (process.env['SEND'] !== 'yes') return

  await relay.post('/api/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events: EVENTS })
  await relay.send({ to: '+12025550700', text: 'hello' })
  await relay.clock.advance(5_000)

  expect(posted).toEqual(EVENTS)
})
