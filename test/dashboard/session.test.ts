// The state of the session where answers overtake each other.

import { expect, spyOn, test } from 'bun:test'

import type { SessionState } from '../../src/api/dashboard.ts'
import { storePageKey } from '../../src/dashboard/browser-storage.ts'
import { SessionStore } from '../../src/dashboard/session.ts'

const SIGNED_OUT: SessionState = {
  state: 'signed_out',
  elevated_until: null,
  version: '1.0.0',
  setup_step: null,
  is_local: true,
}
const SIGNED_IN: SessionState = { ...SIGNED_OUT, state: 'signed_in' }

test('what was asked before a sign-in does not undo it, and what is asked after it counts', async () => {
  using relay = heldAnswers()
  const session = new SessionStore()

  const asked = session.refresh()
  const loggedIn = session.signIn('correct horse')
  relay.answer('POST', SIGNED_IN)
  await loggedIn
  relay.answer('GET', SIGNED_OUT)
  await asked
  const before = session.now.value
  const askedAgain = session.refresh()
  relay.answer('GET', SIGNED_OUT)
  await askedAgain

  expect(before).toEqual(SIGNED_IN)
  expect(session.now.value).toEqual(SIGNED_OUT)
})

test('a browser with a page key counts as signed in until the relay has answered', async () => {
  using relay = heldAnswers()
  const strangers = new SessionStore().state
  storePageKey('key')
  using _ = { [Symbol.dispose]: () => storePageKey(null) }
  const session = new SessionStore()

  const atOnce = session.state
  const asked = session.refresh()
  relay.answer('GET', SIGNED_OUT)
  await asked

  expect([strangers, atOnce, session.state]).toEqual([null, 'signed_in', 'signed_out'])
})

test('it no longer does so once the relay does not answer', async () => {
  using relay = heldAnswers()
  storePageKey('key')
  using _ = { [Symbol.dispose]: () => storePageKey(null) }
  const session = new SessionStore()

  const asked = session.refresh()
  relay.answer('GET', {}, 502)
  await asked

  expect([session.isReachable.value, session.state]).toEqual([false, null])
})

/** The network, which answers when the test says so. */
function heldAnswers() {
  const waiting = new Map<string, (response: Response) => void>()
  const held = (_path: unknown, init?: RequestInit) =>
    new Promise<Response>((resolve) => waiting.set(init?.method ?? 'GET', resolve))
  const spy = spyOn(globalThis, 'fetch').mockImplementation(
    Object.assign(held, { preconnect() {} }),
  )
  return {
    answer: (method: string, body: unknown, status = 200) =>
      waiting.get(method)?.(Response.json(body, { status })),
    [Symbol.dispose]: () => spy.mockRestore(),
  }
}
