// What holds for every answer, whatever the route.

import { expect, test } from 'bun:test'

import { Signal } from '../../src/system/signal.ts'
import { CONVERSATION, LINE, LINE_ID, WEBHOOK, createRig } from './http-rig.ts'

test('every answer is JSON that nobody stores or takes for something else, and has its own id', async () => {
  const rig = createRig()
  const headers = { 'x-request-id': 'mine', origin: 'https://elsewhere.example' }

  const answers = await Promise.all([
    rig.call('GET', '/api/v1/keys', { headers }),
    rig.call('POST', '/api/v1/keys', { headers }),
    rig.call('GET', '/api/v1/nowhere', { headers }),
    rig.call('POST', '/api/v1/messages/send', { raw: '{', headers }),
  ])

  const ids = answers.map((answer) => answer.headers.get('x-request-id'))
  expect(new Set(ids).size).toBe(4)
  expect(ids.every((id) => /^req_[\w]+$/.test(id ?? ''))).toBe(true)
  for (const answer of answers) {
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  }
})

test('a known path with another method is 405 and says which it takes', async () => {
  const rig = createRig()

  const answers = await Promise.all([
    rig.call('PUT', '/api/v1/keys'),
    rig.call('GET', '/api/v1/messages/send/'),
    rig.call('OPTIONS', `/api/v1/webhooks/${WEBHOOK.id}`),
    rig.call('GET', `/api/v1/phone-lines/${LINE_ID}`),
  ])

  expect(answers.map((answer) => [answer.status, answer.headers.get('allow')])).toEqual([
    [405, 'POST, GET, HEAD'],
    [200, null],
    [405, 'GET, HEAD, PUT, DELETE'],
    [405, 'PATCH, DELETE'],
  ])
  expect(await answers[0]?.json()).toEqual({
    error: { code: 'method_not_allowed', message: 'This path takes POST, GET, HEAD.' },
  })
})

test('HEAD answers as GET does, without the body', async () => {
  const rig = createRig()

  const response = await rig.call('HEAD', '/api/v1/keys')

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
})

test('an unknown route is 404', async () => {
  const rig = createRig()

  for (const path of [
    '/api/v1',
    '/api/v1/nowhere',
    '/api/v1//keys',
    '/api/v1/KEYS',
    '/api/v2/keys',
  ]) {
    const response = await rig.call('GET', path)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      error: { code: 'not_found', message: 'There is no such route.' },
    })
  }
})

test('phone lines are paged in the order of routing', async () => {
  const lines = [1, 2, 3].map((n) => ({ ...LINE, id: `line_01k5c3qv7yfxn8t2w9r4d6m00${n}` }))
  const rig = createRig({
    lines: { ...createRigLines(), list: () => lines },
  })

  const first = (await (await rig.call('GET', '/api/v1/phone-lines?limit=2')).json()) as {
    next_cursor: string
  }
  const second = await rig.call('GET', `/api/v1/phone-lines?limit=2&cursor=${first.next_cursor}`)

  expect(first).toEqual({
    data: lines.slice(0, 2),
    has_more: true,
    next_cursor: first.next_cursor,
  } as never)
  expect(await second.json()).toEqual({ data: lines.slice(2), has_more: false, next_cursor: null })
})

test('an answer that does not fit its schema is 500, and nothing of it leaves', async () => {
  const rig = createRig({
    conversations: {
      list: () => ({ data: [], has_more: false, next_cursor: null }),
      get: () => ({ ...CONVERSATION, message_count: 1.5, text: 'a secret' }),
      patch: async () => CONVERSATION,
    },
  })

  const response = await rig.call('GET', `/api/v1/conversations/${CONVERSATION.id}`)

  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('secret')
  expect(rig.logged.map((line) => line.message)).toEqual(['request failed'])
  expect(JSON.stringify(rig.logged)).not.toContain('a secret')
})

test('an unknown error is 500 in the one shape, logged under the id of the request, and a reason to doubt', async () => {
  const doubtSignal = new Signal()
  const rig = createRig({
    doubtSignal,
    conversations: {
      list: () => {
        throw new Error('SELECT secret FROM /var/lib/hookline')
      },
      get: () => CONVERSATION,
      patch: async () => CONVERSATION,
    },
  })

  const response = await rig.call('GET', '/api/v1/conversations')

  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    error: {
      code: 'internal_error',
      message: 'Something went wrong in the relay. Its log tells more, under this X-Request-Id.',
    },
  })
  expect(rig.logged.map((line) => line.fields['request_id'])).toEqual([
    response.headers.get('x-request-id'),
  ])
  expect(doubtSignal.isNotified).toBe(true)
})

function createRigLines() {
  return {
    patch: () => Promise.resolve(LINE),
    remove: () => Promise.resolve(),
    adopt: () => Promise.resolve(LINE),
  }
}
