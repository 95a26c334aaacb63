// Calls to the relay and the dashboard session, against answers that the test gives to `fetch`.

import { afterEach, expect, test } from 'bun:test'

import type { SessionState } from '../../src/api/dashboard.ts'
import { withQuery } from '../../src/dashboard/address.ts'
import { OF_PASSWORD, createApi, fieldError, type Failure } from '../../src/dashboard/api.ts'
import { SessionStore } from '../../src/dashboard/session.ts'
import { TestClock } from '../support/test-clock.ts'
import { pageClock, UNREACHABLE } from './page-rig.ts'

const SESSION: SessionState = {
  state: 'signed_in',
  elevated_until: null,
  version: '1.0.0',
  setup_step: null,
  is_local: true,
}

const realFetch = globalThis.fetch
afterEach(() => {
  globalThis.fetch = realFetch
})

test('a call that needs the password asks for it, and is repeated once it is given', async () => {
  const asked = answers(refusal(403, 'password_needed'), Response.json({ id: 'key_1' }))
  const { api, passwords } = apiRig(true)

  const answer: unknown = await api.call('createKey', { body: { name: 'shop' } })

  expect(answer).toEqual({ ok: true, value: { id: 'key_1' } })
  expect(passwords.count).toBe(1)
  expect(asked).toEqual(['POST /dashboard/api/keys', 'POST /dashboard/api/keys'])
})

test('a call whose question is closed is not repeated', async () => {
  const asked = answers(refusal(403, 'password_needed'))
  const { api } = apiRig(false)

  const answer = await api.call('revokeKey', { params: { id: 'key_1' } })

  expect(answer).toMatchObject({ ok: false, failure: { code: 'password_needed' } })
  expect(asked).toHaveLength(1)
})

test('a page that goes on although it is short is read on, up to its limit or the first failure', async () => {
  const page = (data: readonly string[], next_cursor: string | null) =>
    Response.json({ data, has_more: next_cursor !== null, next_cursor })
  const asked = answers(
    page([], 'a'),
    page(['x'], 'b'),
    page(['y', 'z'], 'c'),
    page([], 'a'),
    refusal(429, 'busy'),
  )
  const { api } = apiRig(true)

  const full: unknown = await api.call('listMessages', { query: { service: 'SMS', limit: 3 } })
  const cut = await api.call('listMessages', { query: { limit: 3 } })

  const value = { data: ['x', 'y', 'z'], has_more: true, next_cursor: 'c' }
  expect(full).toEqual({ ok: true, value })
  expect(cut).toEqual({ ok: true, value: { data: [], has_more: true, next_cursor: 'a' } })
  expect(asked).toEqual([
    'GET /dashboard/api/messages?service=SMS&limit=3',
    'GET /dashboard/api/messages?service=SMS&limit=3&cursor=a',
    'GET /dashboard/api/messages?service=SMS&limit=2&cursor=b',
    'GET /dashboard/api/messages?limit=3',
    'GET /dashboard/api/messages?limit=3&cursor=a',
  ])
})

test('a session that ended leads to sign-in', async () => {
  answers(refusal(401, 'signed_out'))
  const { api, signedOut } = apiRig(true)

  await api.call('listKeys')

  expect(signedOut.count).toBe(1)
})

test('a refusal is a value, with all that the relay says', async () => {
  const details = { limit: 'daily_contacts' }
  answers(refusal(429, 'rate_limit_exceeded', { details, retryAfter: '30' }))

  expect(await apiRig(true).api.call('listKeys')).toEqual({
    ok: false,
    failure: {
      code: 'rate_limit_exceeded',
      message: 'No.',
      status: 429,
      details,
      retryAfterSeconds: 30,
    },
  })
})

test("an operation of browsers alone is one of the dashboard's own routes", async () => {
  const asked = answers(Response.json({ version: '1.2.3' }), refusal(401, 'signed_out'))
  const { api, signedOut } = apiRig(true)

  const about: unknown = await api.call('getAbout')
  await api.call('listSessions')

  expect(about).toEqual({ ok: true, value: { version: '1.2.3' } })
  expect(asked).toEqual(['GET /dashboard/about', 'GET /dashboard/sessions'])
  expect(signedOut.count).toBe(1)
})

test('a relay that does not answer, and a proxy that answers in its place, are values too', async () => {
  answers(
    null,
    new Response('<h1>Bad gateway</h1>', { status: 502 }),
    Response.json(null, { status: 502 }),
  )
  const { api } = apiRig(true)

  const list = () => api.call('listKeys')
  const given = [await list(), await list(), await list()]
  const codes = given.map((answer) => (answer.ok ? 'ok' : answer.failure.code))

  expect(codes).toEqual(['unreachable', 'unreachable', 'unknown'])
})

test('a query leaves out what is empty and escapes what is not plain', () => {
  expect(withQuery('messages', { handle: '+1', cursor: null, status: '', limit: 50 })).toBe(
    'messages?handle=%2B1&limit=50',
  )
  expect(withQuery('messages', { cursor: undefined })).toBe('messages')
})

test('the page asks until the relay answers, and says meanwhile that it does not', async () => {
  answers(null, null, Response.json(SESSION))
  const clock = new TestClock()
  const session = new SessionStore()

  const opened = session.open(pageClock(clock))
  await clock.advance(1_000)
  const meanwhile = { isReachable: session.isReachable.value, now: session.now.value }
  await clock.advance(10_000)
  await opened

  expect(meanwhile).toEqual({ isReachable: false, now: null })
  expect(session.isReachable.value).toBe(true)
  expect(session.now.value).toEqual(SESSION)
})

test('a relay that is another version than the page says so', async () => {
  answers(Response.json(SESSION), Response.json({ ...SESSION, version: '1.1.0' }))
  const session = new SessionStore()

  await session.refresh()
  const before = session.isOutdated.value
  await session.refresh()

  expect([before, session.isOutdated.value]).toEqual([false, true])
})

for (const [how, isGiven] of [
  ['one answer', true],
  ['the end of the session, which is none', false],
] as const) {
  test(`several that wait for the password wait for ${how}`, async () => {
    answers(Response.json(SESSION))
    const session = new SessionStore()
    await session.refresh()

    const waiting = Promise.all([session.askPassword(), session.askPassword()])
    const isAsked = session.isPasswordAsked.value
    if (isGiven) session.answerPassword(true)
    else session.end()

    expect(isAsked).toBe(true)
    expect(await waiting).toEqual([isGiven, isGiven])
    expect(session.isPasswordAsked.value).toBe(false)
    expect(session.now.value?.state).toBe(isGiven ? 'signed_in' : 'signed_out')
  })
}

test('a wrong password is an error, and ends no session', async () => {
  answers(Response.json(SESSION), refusal(401, 'wrong_password'))
  const session = new SessionStore()
  await session.refresh()

  const answer = await session.elevate('guess')

  expect(answer).toMatchObject({ ok: false, failure: { code: 'wrong_password' } })
  expect(session.now.value?.state).toBe('signed_in')
})

/** Gives these answers to `fetch`, one after the other; null is a relay that is out of reach. */
function answers(...given: readonly (Response | null)[]): readonly string[] {
  const asked: string[] = []
  const fake = async (path: string, { method = '' }: { readonly method?: string } = {}) => {
    const answer = given[asked.length] ?? null
    asked.push(`${method} ${path}`)
    if (answer === null) throw new TypeError('fetch failed')
    return answer
  }
  globalThis.fetch = fake as unknown as typeof fetch // The page calls it in just this way.
  return asked
}

function refusal(
  status: number,
  code: string,
  more: { readonly details?: object; readonly retryAfter?: string } = {},
): Response {
  const { details, retryAfter } = more
  const error = { code, message: 'No.', ...(details === undefined ? {} : { details }) }
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return Response.json({ error }, { status, headers })
}

function apiRig(isPasswordGiven: boolean) {
  const passwords = { count: 0 }
  const signedOut = { count: 0 }
  const api = createApi({
    onSignedOut: () => {
      signedOut.count += 1
    },
    askPassword: async () => {
      passwords.count += 1
      return isPasswordGiven
    },
    sendFile: async () => ({ ok: false, failure: UNREACHABLE }),
  })
  return { api, passwords, signedOut }
}

const REFUSED: Failure = {
  code: 'invalid_request',
  message: 'url: must be absolute',
  status: 400,
  details: { issues: [{ path: 'url', message: 'must be absolute' }] },
  retryAfterSeconds: null,
}

test('an error is shown beside the field that it names, and that of a password beside the password field', () => {
  const full: Failure = { ...REFUSED, code: 'storage_full', details: {} }
  const wrong: Failure = { ...REFUSED, code: 'wrong_password', message: 'No.', details: {} }

  expect(fieldError(REFUSED, 'url')).toBe('It must be absolute.')
  expect(fieldError(REFUSED, 'events')).toBeNull()
  expect(fieldError(REFUSED, 'events', 'url')).toBe('It must be absolute.')
  expect(fieldError(full, 'url')).toBeNull()
  expect(fieldError(wrong, 'current', ...OF_PASSWORD)).toBe('No.')
  expect(fieldError(wrong, 'current')).toBeNull()
  expect(fieldError(null, 'url')).toBeNull()
})
