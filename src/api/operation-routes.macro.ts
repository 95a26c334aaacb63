// Runs while the program is bundled: a client needs the routes of operations, and none of their schemas.

import { type Callers, routeOf } from './operation.ts'
import { OPERATIONS } from './operations.ts'

/** Method and path of each operation by its id, as `PUT /api/v1/webhooks/:id`. */
export function operationRoutes(): Readonly<Record<string, string>> {
  const routes = Object.values(OPERATIONS).map((operation) => {
    const { method, path } = routeOf(operation)
    return [operation.id, `${method} ${path}`]
  })
  return Object.fromEntries(routes)
}

const OF_BROWSERS: readonly Callers[] = ['keys', 'owner', 'browsers']

/**
 * The same of those that a browser may call, as short as the page needs them: `PUT webhooks/:id` of the API, and
 * `/about` for a GET of the dashboard's own.
 */
export function dashboardRoutes(): Readonly<Record<string, string>> {
  const routes = Object.values(OPERATIONS).flatMap(({ id, callers, route }) => {
    if (!OF_BROWSERS.includes(callers)) return []
    const short = callers === 'browsers' ? route : route.replace(' /', ' ')
    return [[id, short.replace('GET ', '')]]
  })
  return Object.fromEntries(routes)
}
