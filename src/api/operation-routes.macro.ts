// Runs while the program is bundled, so that clients contain the routes of operations but not their schemas.

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
