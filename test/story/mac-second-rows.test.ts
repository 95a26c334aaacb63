// What Messages writes for one send in more than one row, with a crash of the relay between them.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import type { Behaviour } from '../support/mac/script-behaviours.ts'
import { FRIEND, MacBox } from './mac-relay.ts'

const ASYNC = { Prefer: 'respond-async' }

type Listed = { readonly id: string; readonly status: string; readonly text: string }

/** Crashes `ms` after the send, and lists half a minute later what the relay has. */
async function crashed(behaviour: Behaviour, text: string, ms: number) {
  using box = new MacBox()
  const before = await box.start()
  await before.relay.clock.advance(1_000)
  box.model.behave(FRIEND, behaviour)
  await before.relay.send({ to: FRIEND, text }, ASYNC)
  await box.clock.advance(ms)
  box.crash()
  const { relay } = await box.start()
  await box.clock.advance(30_000)
  const { data } = await asOwner(relay, 'GET', '/messages?limit=200')
  const messages = (data as readonly Listed[]).map(({ status, text: told }) => `${status}: ${told}`)
  return { messages, carried: box.model.carried(text) }
}

for (const ms of [200, 1_000, 2_000]) {
  test(`a crash ${ms} ms after a send whose first row failed does not hide that the second went`, async () => {
    const { messages, carried } = await crashed('failed_then_clean_row', 'hello', ms)

    expect({ messages, carried }).toEqual({ messages: ['read: hello'], carried: 1 })
  })
}

test('the preview of a link of ours is no message that somebody typed, also after a crash', async () => {
  const text = 'look at https://example.com/x'

  const { messages } = await crashed('url_split_in_two_rows', text, 600)

  expect(messages).toEqual([`read: ${text}`])
})

test('a message of ours that went to somebody else is not told as typed, also after a crash', async () => {
  const { messages } = await crashed('misrouted', 'hello', 500)

  expect(messages).toHaveLength(1)
})
