// Runs while the program is bundled, so that clients contain the routes of operations but not their schemas.

import type { OperationRights } from '../domain/permissions.ts'
import { type Callers, routeOf } from './operation.ts'
import { OPERATIONS } from './operations.ts'

/** Method and path of each operation by its id: `PUT /api/v1/webhooks/:id`. */
export function operationRoutes(): Readonly<Record<string, string>> {
  const routes = Object.values(OPERATIONS).map((operation) => {
    const { method, path } = routeOf(operation)
    return [operation.id, `${method} ${path}`]
  })
  return Object.fromEntries(routes)
}

/** The rights that each operation asks of a key. Operations that aren't for keys are left out. */
export function operationRights(): Readonly<Record<string, OperationRights>> {
  const rights = Object.values(OPERATIONS).flatMap((operation) =>
    operation.callers === 'keys'
      ? [[operation.id, { scope: operation.scope, limits: operation.limits }] as const]
      : [],
  )
  return Object.fromEntries(rights)
}

const OF_BROWSERS: readonly Callers[] = ['keys', 'owner', 'browsers']

/**
 * The same for operations that a browser may call, shortened for the page: `PUT webhooks/:id` is in the API, and
 * `/about` is a GET below `/dashboard`.
 */
export function dashboardRoutes(): Readonly<Record<string, string>> {
  const routes = Object.values(OPERATIONS).flatMap(({ id, callers, route }) => {
    if (!OF_BROWSERS.includes(callers)) return []
    const short = callers === 'browsers' ? route : route.replace(' /', ' ')
    return [[id, short.replace('GET ', '')]]
  })
  return Object.fromEntries(routes)
}
