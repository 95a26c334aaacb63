// The headers of a send, and the shape of an error. What a send does, and the status of each error, is in
// test/spec.

import { expect, test } from 'bun:test'

import { RelayError } from '../../src/domain/errors.ts'
import { errorResponse } from '../../src/http/respond.ts'
import { preferredWaitMs } from '../../src/http/sending.ts'
import { issuesIn, startHttp } from './http-relay.ts'

const SEND = '/api/v1/messages/send'
const BODY = { to: '+12025550147', text: 'Hello' }
const PREFERENCES = {
  'wait=5': 5_000,
  'wait=0': 0,
  'Wait = 7': 7_000,
  'wait="8"': 8_000,
  'wait=3600': 60_000,
  'respond-async': 0,
  'respond-async, wait=10': 10_000,
  'return=minimal; foo="a", wait=4': 4_000,
  'wait=1, wait=9': 1_000,
  'wait=-1': null,
  'wait=1.5': null,
  'wait=soon': null,
  wait: null,
  '': null,
}

test('Prefer says how long a send waits; what says nothing of that leaves it as configured', () => {
  const waits = Object.keys(PREFERENCES).map((prefer) => [
    prefer,
    preferredWaitMs(new Headers({ prefer })),
  ])

  expect(Object.fromEntries(waits)).toEqual(PREFERENCES)
})

test('a connection may stay silent for the wait and ten seconds', async () => {
  await using rig = await startHttp()

  await rig.call('POST', SEND, { body: BODY })
  await rig.call('POST', SEND, { body: BODY, headers: { prefer: 'wait=60' } })
  await rig.call('POST', SEND, { body: BODY, headers: { prefer: 'respond-async' } })

  expect(rig.lifted).toEqual([25, 70, 10])
})

test('an Idempotency-Key has 1 to 255 printable ASCII characters', async () => {
  await using rig = await startHttp()
  const message = 'must have 1 to 255 printable ASCII characters'

  for (const key of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
    const headers = { 'idempotency-key': key }
    const response = await rig.call('POST', SEND, { body: BODY, headers })

    expect([key, response.status]).toEqual([key, 400])
    expect(await issuesIn(response)).toEqual([['Idempotency-Key', message]])
  }
})

test('spec 7: an error has a status, and a body of one shape', async () => {
  const error = new RelayError('not_uncertain', 'What was wrong.', {
    details: { limit: 'daily_contacts' },
    retryAfterSeconds: 30,
  })

  const response = errorResponse(error, 'req_1')

  expect([response.status, response.headers.get('retry-after')]).toEqual([409, '30'])
  expect(await response.json()).toEqual({
    error: {
      code: 'not_uncertain',
      message: 'What was wrong.',
      details: { limit: 'daily_contacts' },
      doc_url: '/guide/errors#not_uncertain',
      request_id: 'req_1',
    },
  })
})
