// What a caller may get wrong in a query or a path, and the answer to it. Other limits of a page, and
// cursors, are in test/spec.

import { expect, test } from 'bun:test'

import { OPERATIONS } from './dashboard-operations.ts'
import { startHttp, issuesIn, type Issues } from './http-relay.ts'

const badTime = 'must be a time like 2026-11-21T10:00:00.000Z'
const badLimit = 'must be a whole number from 1 to 200'
const noParameter = 'is not a parameter of this route'

const QUERIES: Readonly<Record<string, Issues>> = {
  'limit=201': [['limit', badLimit]],
  'limit=0x10': [['limit', badLimit]],
  'limit=%205': [['limit', badLimit]],
  'limit=1&limit=1': [['limit', 'must come once only']],
  'limit[]=1': [['limit[]', noParameter]],
  '__proto__=5': [
    ['__proto__', expect.stringMatching(/^is not a parameter of this route, which takes limit, /)],
  ],
  'offset=5&direction=both': [
    ['offset', noParameter],
    ['direction', 'must be one of inbound, outbound'],
  ],
  'created_after=2026-11-21': [['created_after', badTime]],
  'created_after=2026-11-21T10:00:00': [['created_after', badTime]],
  'created_after=2026-02-30T10:00:00Z': [['created_after', badTime]],
  'created_before=1795255200000': [['created_before', badTime]],
  'updated_since=': [['updated_since', badTime]],
}

test('spec 4.5: a list of messages whose query does not fit is 400 and says why', async () => {
  await using rig = await startHttp()
  const told: Record<string, Issues> = {}

  for (const query of Object.keys(QUERIES)) {
    const response = await rig.call('GET', `/api/v1/messages?${query}`)
    expect([query, response.status]).toEqual([query, 400])
    told[query] = await issuesIn(response)
  }

  expect(told).toEqual(QUERIES)
})

/** Of practice lines alone, which the dashboard does not ask. */
const SIMULATED = ['free', { type: 'unsend', target_guid: 'x' }] as const

test('no route takes a query parameter that it does not know', async () => {
  await using rig = await startHttp()
  const document = (await (await rig.call('GET', '/swagger/json')).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const routes = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/v1'))
    .flatMap(([path, operations]) => Object.keys(operations).map((method) => ({ method, path })))

  for (const { method, path } of routes) {
    const operation = `${method.toUpperCase()} ${path.replace(/\{([a-z]+)\}/, ':$1')}`
    const [, body] = OPERATIONS[operation] ?? SIMULATED
    const url = `${path.replace('{id}', 'x')}?surprise=1`
    const response = await rig.call(method.toUpperCase(), url, { body })
    expect([path, method, response.status]).toEqual([path, method, 400])
    expect(await issuesIn(response)).toEqual([
      ['surprise', expect.stringMatching(/^is not a parameter of this route/)],
    ])
  }
  expect(routes.length).toBeGreaterThan(50)
})

test('a path whose id cannot be decoded is 404', async () => {
  await using rig = await startHttp()

  const response = await rig.call('GET', '/api/v1/messages/%ff')

  expect(response.status).toBe(404)
})
