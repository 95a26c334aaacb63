// Runs while the program is bundled: a client needs the routes of operations, and none of their schemas.

import { routeOf } from './operation.ts'
import { OPERATIONS } from './operations.ts'

/** Method and path of each operation by its id, as `PUT /api/v1/webhooks/:id`. */
export function operationRoutes(): Readonly<Record<string, string>> {
  const routes = Object.values(OPERATIONS).map((operation) => {
    const { method, path } = routeOf(operation)
    return [operation.id, `${method} ${path}`]
  })
  return Object.fromEntries(routes)
}
