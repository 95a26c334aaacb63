// What holds for every answer, whatever the route. Its id and other methods are in test/spec.

import { expect, test } from 'bun:test'

import { RelayError } from '../../src/domain/errors.ts'
import { answerToFailure } from '../../src/http/respond.ts'
import { silentLog } from '../../src/system/log.ts'
import { Signal } from '../../src/system/signal.ts'
import { startHttp } from './http-relay.ts'

test('every answer is JSON that nobody stores or takes for something else', async () => {
  await using rig = await startHttp()

  const answers = await Promise.all([
    rig.call('GET', '/api/v1/keys'),
    rig.call('POST', '/api/v1/keys'),
    rig.call('GET', '/api/v1/nowhere'),
    rig.call('POST', '/api/v1/messages/send', { raw: '{' }),
  ])

  for (const { headers } of answers) {
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('HEAD answers as GET does, OPTIONS as a method that a path does not take, and an unknown route is 404', async () => {
  await using rig = await startHttp()

  const head = await rig.call('HEAD', '/api/v1/keys')
  const options = await rig.call('OPTIONS', '/api/v1/webhooks/wh_x')

  for (const path of ['', '/nowhere', '//nowhere', '/NOWHERE']) {
    const response = await rig.call('GET', `/api/v1${path}`)
    expect([path, response.status]).toEqual([path, 404])
    expect(await response.json()).toMatchObject({
      error: { code: 'not_found', message: 'There is no such route.' },
    })
  }
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect([options.status, options.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
})

test('an unknown error is 500 in the one shape, logged under the id of the request, and nothing of it leaves', async () => {
  await using rig = await startHttp()
  rig.db.sqlite.run('ALTER TABLE people RENAME TO secret')

  const response = await rig.call('GET', '/api/v1/contacts')

  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({
    error: {
      code: 'internal_error',
      message: 'Something went wrong in the relay. Its log has details under this X-Request-Id.',
    },
  })
  const [[, fields] = []] = rig.logged('request failed')
  expect(fields?.['request_id']).toBe(response.headers.get('x-request-id'))
})

test('an unknown error is a reason to doubt the database, a refusal is none', () => {
  const doubtSignal = new Signal()
  const tools = { log: silentLog, doubtSignal }

  answerToFailure(new RelayError('not_found', 'There is nothing.'), 'req_1', tools)
  const before = doubtSignal.isNotified
  answerToFailure(new Error('disk I/O error'), 'req_2', tools)

  expect([before, doubtSignal.isNotified]).toEqual([false, true])
})
