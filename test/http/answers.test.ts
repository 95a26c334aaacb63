// What holds for every answer, whatever the route.

import { expect, test } from 'bun:test'

import { RelayError } from '../../src/domain/errors.ts'
import { answerToFailure } from '../../src/http/respond.ts'
import { silentLog } from '../../src/system/log.ts'
import { Signal } from '../../src/system/signal.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startHttp } from './http-relay.ts'

test('every answer is JSON that nobody stores or takes for something else, and has its own id', async () => {
  await using rig = await startHttp()
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
  await using rig = await startHttp()

  const answers = await Promise.all([
    rig.call('PUT', '/api/v1/keys'),
    rig.call('GET', '/api/v1/messages/send/'),
    rig.call('OPTIONS', '/api/v1/webhooks/wh_x'),
    rig.call('GET', '/api/v1/phone-lines/line_x'),
  ])

  expect(answers.map((answer) => [answer.status, answer.headers.get('allow')])).toEqual([
    [405, 'POST, GET, HEAD'],
    [404, null],
    [405, 'GET, HEAD, PUT, DELETE'],
    [405, 'PATCH, DELETE'],
  ])
  expect(await answers[0]?.json()).toEqual({
    error: { code: 'method_not_allowed', message: 'This path takes POST, GET, HEAD.' },
  })
})

test('HEAD answers as GET does, without the body', async () => {
  await using rig = await startHttp()

  const response = await rig.call('HEAD', '/api/v1/keys')

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
})

test('an unknown route is 404', async () => {
  await using rig = await startHttp()

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
  const driver = new ScriptedDriver()
  for (const number of ['+12025550101', '+12025550102', '+12025550103']) driver.add(number)
  await using rig = await startHttp({ drivers: [driver] })
  const lines = await rig.lines()

  const first = await rig.get('/api/v1/phone-lines?limit=2')
  const second = await rig.get(`/api/v1/phone-lines?limit=2&cursor=${first.next_cursor}`)

  expect(first).toMatchObject({ data: lines.slice(0, 2), has_more: true })
  expect(second).toEqual({ data: lines.slice(2), has_more: false, next_cursor: null })
})

test('an unknown error is 500 in the one shape, logged under the id of the request, and nothing of it leaves', async () => {
  await using rig = await startHttp()
  rig.db.sqlite.run('ALTER TABLE people RENAME TO secret')

  const response = await rig.call('GET', '/api/v1/contacts')

  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
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
