import { Type } from 'typebox'

import * as api from '../contacts.ts'
import { CHANGE, READ, rows } from '../operation.ts'
import { PAGE_QUERY, countParameter, textParameter } from '../query.ts'
import { id } from '../schema.ts'

const SHARED = { callers: 'keys', tag: 'Contacts' } as const
const READS = { ...SHARED, ...READ, scope: 'contacts:read', limits: ['lines'] } as const
const CHANGES = { ...SHARED, ...CHANGE, scope: 'contacts:write', limits: [] } as const

const ContactQuery = Type.Object({
  ...PAGE_QUERY,
  q: textParameter('Words of the name or a tag, or a part of the number.'),
  tag: textParameter('Contacts with this tag.', 'supplier'),
})

const ImportQuery = Type.Object({
  country: textParameter(
    'Country of numbers without a country code, as two letters. Left out, it is that of the ' +
      'phone lines, if they have one in common.',
    'US',
  ),
})

const OptOutQuery = Type.Object({
  ...PAGE_QUERY,
  handle: textParameter('Of this person.', '+12025550147'),
})

const RemovalQuery = Type.Object({
  phone_line_id: Type.Optional(
    id('line', 'Only the opt-out of this line; every one of the person if it is left out.'),
  ),
})

const SearchQuery = Type.Object({
  q: textParameter(
    'Words, or a part of a number. Messages need a word of three characters; shorter queries ' +
      'find names and numbers that begin so.',
    'bicycle',
  ),
  limit: countParameter(50, 20, 'Most results of each kind.'),
  site_id: Type.Optional(id('site', 'Only what the lines of this site have.')),
})

export const CONTACTS = rows({
  listContacts: {
    ...READS,
    route: 'GET /contacts',
    summary: 'List contacts',
    description: 'Latest entry first.',
    query: ContactQuery,
    answers: { 200: api.ContactList },
    member: 'yes',
  },
  importContacts: {
    ...CHANGES,
    route: 'POST /contacts/import',
    summary: 'Import contacts',
    description:
      'The body is a vCard file or a CSV table of at most 10 MiB, under any `Content-Type`. A contact that is there gets the ' +
      'new name, a new note, and the tags besides its own. Bad rows are reported and change nothing.',
    query: ImportQuery,
    takesFile: true,
    answers: { 200: api.ImportReport },
    errors: ['payload_too_large', 'storage_full'],
    password: 'no',
    audit: null,
  },
  exportContacts: {
    ...READS,
    route: 'GET /contacts/export',
    summary: 'Export contacts',
    description: 'All of them as a CSV table that can be imported again, latest entry first.',
    fileAnswers: {
      200: { description: 'The file.', content: { 'text/csv': { schema: { type: 'string' } } } },
    },
    answers: {},
    errors: ['storage_full'],
    audit: 'contacts.exported',
  },
  getContact: {
    ...READS,
    route: 'GET /contacts/:handle',
    summary: 'Read a contact',
    description: 'Your name, note and tags for a number or an email address.',
    answers: { 200: api.Contact },
    errors: ['not_found'],
    member: 'yes',
  },
  putContact: {
    ...CHANGES,
    route: 'PUT /contacts/:handle',
    summary: 'Add or replace a contact',
    description:
      'All of it: a note or tags that are left out are removed. The name appears in conversations; ' +
      'webhooks never carry it.',
    answers: { 200: api.Contact },
    errors: ['storage_full'],
    body: api.ContactFields,
    password: 'no',
    audit: null,
  },
  deleteContact: {
    ...CHANGES,
    route: 'DELETE /contacts/:handle',
    summary: 'Delete a contact',
    description: 'Conversations and messages stay.',
    answers: { 200: api.DeletedContact },
    errors: ['not_found', 'storage_full'],
    audit: null,
  },
  listOptOuts: {
    ...READS,
    route: 'GET /opt-outs',
    summary: 'List opt-outs',
    description:
      'People who want no more messages, by a keyword such as STOP or by hand; latest first.',
    query: OptOutQuery,
    answers: { 200: api.OptOutList },
  },
  putOptOut: {
    ...CHANGES,
    route: 'PUT /opt-outs/:handle',
    summary: 'Record an opt-out',
    description:
      'With the setting `opt_out` at `enforce` nothing is sent to the person any more, and what waits to be sent ' +
      'fails with `recipient_opted_out`. One that there is stays as it is.',
    answers: { 200: api.OptOut },
    errors: ['phone_line_not_found', 'storage_full'],
    body: api.OptOutFields,
    isBodyOptional: true,
    password: 'no',
    audit: 'opt_out.added',
  },
  deleteOptOut: {
    ...CHANGES,
    route: 'DELETE /opt-outs/:handle',
    summary: 'End an opt-out',
    description: 'Only if the person wants messages again: what failed meanwhile is not sent.',
    query: RemovalQuery,
    answers: { 200: api.DeletedOptOut },
    errors: ['not_found', 'storage_full'],
    audit: 'opt_out.removed',
  },
  search: {
    ...READS,
    route: 'GET /search',
    summary: 'Search',
    description: 'People, conversations and messages, without regard to case and accents.',
    scope: 'messages:read',
    query: SearchQuery,
    answers: { 200: api.SearchResult },
    member: 'yes',
  },
})
