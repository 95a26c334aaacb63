// A handle in a filter or a path, in the ways in which clients and people write it.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { startScripted } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, pathOf, text } from './opt-outs-stage.ts'

const ADDRESS = 'anna+shop@example.com'

async function openRelay() {
  const relay = await startScripted()
  const { body: webhook } = await relay.post('/api/v1/webhooks', {
    url: 'https://hook.example/',
    events: ['message.received'],
  })
  for (const handle of ['Anna+Shop@Example.com', ANNA, 'My Bank', '7297512']) {
    await text(relay, 'hello', { handle: deviceHandle(handle) })
  }
  await relay.put(pathOf(ADDRESS), {})
  const lists = ['messages', 'conversations', `webhooks/${webhook.id}/deliveries`, 'opt-outs']
  return { ...relay, lists: lists.map((list) => `/api/v1/${list}`) }
}

test('every list finds an address in any case, and with a plus that was not escaped', async () => {
  await using relay = await openRelay()

  for (const written of [
    'anna+shop@example.com',
    'Anna%2BShop@EXAMPLE.com',
    'anna%2bshop@example.com',
  ]) {
    for (const list of relay.lists) {
      const { data } = await relay.get(`${list}?handle=${written}`)
      expect([list, written, data.length]).toEqual([list, written, 1])
    }
  }
})

test('a number without its country is refused in every list, unless a sender is called so', async () => {
  await using relay = await openRelay()
  const [messages = ''] = relay.lists
  const count = async (handle: string) =>
    (await relay.get(`${messages}?handle=${encodeURIComponent(handle)}`)).data.length

  for (const list of relay.lists) {
    for (const written of ['2025550701', '(202)%20555-0701', '%2B1%20202%20555%200701']) {
      const { status, body } = await relay.request('GET', `${list}?handle=${written}`)
      expect([list, status, body.error.details.issues[0].path]).toEqual([list, 400, 'handle'])
    }
  }
  const heard: Json = {}
  for (const handle of [ANNA, 'My Bank', '7297512', '72975', 'nobody']) {
    heard[handle] = await count(handle)
  }
  expect(heard).toEqual({ [ANNA]: 1, 'My Bank': 1, '7297512': 1, '72975': 0, nobody: 0 })
  expect((await relay.get(`${messages}?handle=+12025550701`)).data).toHaveLength(1)
})
