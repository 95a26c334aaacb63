// Sites: read by keys and members, changed by the owner.

import { SITES } from '../api/operations/sites.ts'
import { permissionsOf } from '../domain/permissions.ts'
import type { Sites } from '../lines/sites.ts'
import { bind, bindRemoval } from './bind.ts'
import { callerOf } from './request-context.ts'

export function siteBindings(sites: Sites) {
  const limitsOf = (request: Request) => permissionsOf(callerOf(request)).limits
  return [
    bind(SITES.listSites, ({ request }) => ({
      data: [...sites.list(limitsOf(request))],
      has_more: false,
      next_cursor: null,
    })),
    bind(SITES.getSite, ({ request, params }) => sites.get(params.id, limitsOf(request))),
  ]
}

export function siteChangeBindings(sites: Sites) {
  return [
    bind(SITES.createSite, ({ body, origin }) => sites.create(body, origin)),
    bind(SITES.updateSite, ({ params, body, origin }) => sites.update(params.id, body, origin)),
    bindRemoval(SITES.deleteSite, sites),
  ]
}
