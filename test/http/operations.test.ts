// Each operation is served to the callers that its row names, and to nobody else.

import { expect, test } from 'bun:test'

import { type Callers, type Operation, routeOf } from '../../src/api/operation.ts'
import { OPERATIONS } from '../../src/api/operations.ts'
import { dashboardRoutes, ownersRoutes, publicRoutes } from '../../src/http/routes.ts'
import { NO_RELAY } from './http-relay.ts'

/** Who calls the routes of each of the three apps; what everyone may call is part of the API. */
const APPS = [
  { name: 'the network', make: publicRoutes, serves: ['keys', 'bridges', 'everyone'] },
  {
    name: 'the control socket',
    make: ownersRoutes,
    serves: ['keys', 'owner', 'control', 'everyone'],
  },
  {
    name: 'the dashboard',
    make: dashboardRoutes,
    serves: ['keys', 'owner', 'browsers', 'everyone'],
  },
] as const

/** Served by a box, and by a relay whose kinds of lines report so. */
const ELSEWHERE = new Set(['getBox', 'listPhones', 'listScriptCalls'])

test.each(APPS)('$name serves the operations that are for its callers', ({ make, serves }) => {
  const served = new Set(make(...NO_RELAY).routes.map(({ method, path }) => `${method} ${path}`))
  const callers: readonly Callers[] = serves
  const rows = Object.values(OPERATIONS).filter(({ id }) => !ELSEWHERE.has(id))

  const found = rows.flatMap((row) => {
    const { method, path } = routeOf(row)
    return served.has(`${method} ${path}`) ? [row.id] : []
  })

  const expected = rows.filter((row) => callers.includes(row.callers)).map(({ id }) => id)
  expect(found.toSorted()).toEqual(expected.toSorted())
})

/** Things of lines, by the tag of the operations that take their ids. */
const OF_LINES: ReadonlySet<string> = new Set([
  'Messages',
  'Attachments',
  'Conversations',
  'Phone lines',
  'Webhooks',
])

test('each operation on a thing of a line checks the lines of a key', () => {
  const rows = Object.values<Operation>(OPERATIONS)
  const found = rows.flatMap((row) => {
    if (row.callers !== 'keys' || !row.route.includes('/:id')) return []
    return OF_LINES.has(row.tag) && !row.limits.includes('lines') ? [row.id] : []
  })

  expect(found).toEqual([])
})
