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

/** Marks of methods in the page's routes; a GET has none. */
export const methodMarks = () => ({ '+': 'POST', '=': 'PUT', '~': 'PATCH', '-': 'DELETE' })

/** Short routes of browsers' operations: `=webhooks/:id` is a PUT in the API, `/about` a GET below `/dashboard`. */
export function dashboardRoutes(): Readonly<Record<string, string>> {
  const routes = Object.values(OPERATIONS).flatMap(({ id, callers, route }) => {
    if (!OF_BROWSERS.includes(callers)) return []
    const [method = '', path = ''] = route.split(' ')
    const [mark = ''] = Object.entries(methodMarks()).find(([, each]) => each === method) ?? []
    return [[id, mark + (callers === 'browsers' ? path : path.slice(1))]]
  })
  return Object.fromEntries(routes)
}
