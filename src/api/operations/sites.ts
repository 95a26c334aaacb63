import { READ, changing, rows, typed } from '../operation.ts'
import type { Deleted } from '../schema.ts'
import { NewSite, Site, SiteChanges, SiteList } from '../sites.ts'

const READS = {
  ...READ,
  callers: 'keys',
  tag: 'Phone lines',
  scope: 'lines:read',
  limits: ['lines'],
  member: 'yes',
  compress: true,
} as const

/** Sites limit what keys and members may use, so only the owner changes them. */
const change = changing('owner')

export const SITES = rows({
  listSites: {
    ...READS,
    route: 'GET /sites',
    summary: 'List sites',
    description: 'All of them, in the order that the owner gave them: at most 200.',
    answers: { 200: SiteList },
  },
  getSite: {
    ...READS,
    route: 'GET /sites/:id',
    summary: 'Get a site',
    description: 'A key that is limited to lines or sites sees only the sites of its lines.',
    answers: { 200: Site },
    errors: ['not_found'],
  },
  createSite: change('POST /sites', typed<Site>(), {
    body: NewSite,
    password: 'no',
    audit: 'site.created',
  }),
  updateSite: change('PATCH /sites/:id', typed<Site>(), {
    body: SiteChanges,
    password: 'no',
    audit: 'site.changed',
  }),
  deleteSite: change('DELETE /sites/:id', typed<Deleted>(), { audit: 'site.deleted' }),
})
