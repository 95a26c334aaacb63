import { Type } from 'typebox'

import { ids, changesOf, id, listOf, objectSchema, time, text, type Shape } from './schema.ts'

const ZONE = {
  maxLength: 60,
  description:
    'The days of its lines begin at midnight there, and their quiet hours are times there.',
  example: 'Europe/Berlin',
}

const SITE_SETTINGS = {
  name: Type.String({ minLength: 1, maxLength: 80, example: 'Berlin' }),
  time_zone: Type.String(ZONE),
}

export const Site = objectSchema(
  'Site',
  {
    id: id('site', 'Identifies the site.'),
    name: text('Unique, whatever its case.', 'Berlin'),
    position: Type.Integer({ minimum: 0, description: 'Its place in the list, from 0.' }),
    time_zone: Type.String(ZONE),
    phone_line_ids: ids('The lines that the caller may see.'),
    created_at: time('When the site was created.'),
  },
  'A group of lines, such as those of one shop.',
)
export type Site = Shape<typeof Site>

export const SiteList = listOf('SiteList', Site)

export const NewSite = objectSchema('NewSite', {
  name: SITE_SETTINGS.name,
  time_zone: Type.Optional(SITE_SETTINGS.time_zone),
})
export type NewSite = Shape<typeof NewSite>

export const SiteChanges = changesOf('SiteChanges', {
  ...SITE_SETTINGS,
  position: Type.Integer({ minimum: 0, maximum: 1_000 }),
})
export type SiteChanges = Shape<typeof SiteChanges>
