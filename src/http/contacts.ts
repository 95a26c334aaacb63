// The owner's address book, people who want no more messages, and search over it and all that was written.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import {
  Contact,
  ContactFields,
  ContactList,
  DeletedContact,
  DeletedOptOut,
  ImportReport,
  OptOut,
  OptOutFields,
  OptOutList,
  SearchResult,
} from '../api/contacts.ts'
import { id } from '../api/schema.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { createReading } from '../messages/message-service.ts'
import type { Contacts } from '../people/contacts.ts'
import { bytesUpTo, mayTake, takes } from './body.ts'
import { answerWithFile, fileAnswers } from './file-answer.ts'
import { documentationOf, operation, plainCall } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readHandle, readQuery } from './query.ts'
import { callerOf, contextOf, linesOf, originOf } from './request-context.ts'
import { respond } from './respond.ts'
import { pathSchema } from './typebox.ts'

export type ContactTools = { readonly contacts: Contacts }

const FILE_BYTES_MAX = 10 * 1_024 * 1_024
/** Time for a large file, and for a slow network. */
const IMPORT_SECONDS = 250

const QUERY_LENGTH_MAX = 200
const FOUND_DEFAULT = 20
const FOUND_MAX = 50

const ByHandle = {
  params: pathSchema(
    Type.Object({
      handle: Type.String({ description: 'E.164 with `+`, or an email address.' }),
    }),
  ),
}

const ContactQuery = Type.Object({
  ...PAGE_QUERY,
  q: Type.Optional(
    Type.String({ description: 'Words of the name or a tag, or a part of the number.' }),
  ),
  tag: Type.Optional(Type.String({ description: 'Contacts with this tag.', example: 'supplier' })),
})

const LIST = operation('Contacts', {
  id: 'listContacts',
  summary: 'List contacts',
  description: 'Latest entry first.',
  scope: 'contacts:read',
  query: ContactQuery,
  answers: { 200: ContactList },
})

const GET = operation('Contacts', {
  id: 'getContact',
  summary: 'Read a contact',
  description: 'Your name, note and tags for a number or an email address.',
  scope: 'contacts:read',
  answers: { 200: Contact },
  errors: ['not_found'],
})

const PUT = operation('Contacts', {
  id: 'putContact',
  summary: 'Add or replace a contact',
  description:
    'All of it: a note or tags that are left out are removed. The name appears in conversations; ' +
    'webhooks never carry it.',
  scope: 'contacts:write',
  answers: { 200: Contact },
  errors: ['storage_full'],
})

const REMOVE = operation('Contacts', {
  id: 'deleteContact',
  summary: 'Delete a contact',
  description: 'Conversations and messages stay.',
  scope: 'contacts:write',
  answers: { 200: DeletedContact },
  errors: ['not_found', 'storage_full'],
})

const ImportQuery = Type.Object({
  country: Type.Optional(
    Type.String({
      description:
        'Country of numbers without a country code, as two letters. Left out, it is that of the ' +
        'phone lines, where they have one in common.',
      example: 'US',
    }),
  ),
})

const FILE = { schema: { type: 'string' as const, format: 'binary' } }
const IMPORT = {
  ...documentationOf('Contacts', {
    id: 'importContacts',
    summary: 'Import contacts',
    description:
      'The body is a vCard file or a CSV table of at most 10 MiB, under any `Content-Type`. A contact that is there gets the ' +
      'new name, a new note, and the tags besides its own. Bad rows are reported and change nothing.',
    scope: 'contacts:write',
    query: ImportQuery,
    answers: { 200: ImportReport },
    errors: ['payload_too_large', 'storage_full'],
  }),
  requestBody: { required: true, content: { 'application/octet-stream': FILE } },
}

const EXPORT = documentationOf('Contacts', {
  id: 'exportContacts',
  summary: 'Export contacts',
  description: 'All of them as a CSV table that can be imported again, latest entry first.',
  scope: 'contacts:read',
  answers: {},
  errors: ['storage_full'],
})

export function contactRoutes({ contacts }: ContactTools) {
  return new Elysia({ prefix: '/api/v1/contacts' })
    .get(
      '',
      ({ request }) => {
        const { q, tag, ...page } = readQuery(request, ContactQuery)
        return contacts.list(
          { q: checkedQuery(q), tag, lines: linesOf(request) },
          pageOfQuery(page),
        )
      },
      LIST,
    )
    .post('/import', ({ request }) => importFile(request, contacts), {
      parse: 'none',
      beforeHandle: ({ request }) => void callerOf(request),
      detail: IMPORT,
    })
    .get(
      '/export',
      async ({ request }) => {
        const file = { name: 'contacts.csv', type: 'text/csv' }
        return answerWithFile(
          request,
          file,
          await contacts.export(originOf(request), linesOf(request)),
        )
      },
      {
        beforeHandle: plainCall,
        detail: { ...EXPORT, responses: { ...fileAnswers('text/csv'), ...EXPORT.responses } },
      },
    )
    .get('/:handle', ({ request, params }) => contacts.get(params.handle, linesOf(request)), {
      ...ByHandle,
      ...GET,
    })
    .put(
      '/:handle',
      ({ params, body: { name, note = null, tags = [] } }) =>
        contacts.put(params.handle, { name, note, tags }),
      { ...ByHandle, ...takes(ContactFields), ...PUT },
    )
    .delete(
      '/:handle',
      async ({ params: { handle } }) => {
        await contacts.remove(handle)
        return { handle, deleted: true as const }
      },
      { ...ByHandle, ...REMOVE },
    )
}

async function importFile(request: Request, contacts: Contacts): Promise<Response> {
  const { country = null } = readQuery(request, ImportQuery)
  const { requestId, peer } = contextOf(request)
  peer.liftTimeout(IMPORT_SECONDS)
  const report = await contacts.import(await bytesUpTo(request, FILE_BYTES_MAX, tooLarge), country)
  return respond(JSON.stringify(report), { status: 200, requestId })
}

function tooLarge(): RelayError {
  return new RelayError('payload_too_large', 'The file may have 10 MiB at most.')
}

/** Longer queries find nothing that shorter ones do not. */
function checkedQuery<Q extends string | undefined>(q: Q): Q {
  if (q === undefined || q.length <= QUERY_LENGTH_MAX) return q
  const message = `must have at most ${QUERY_LENGTH_MAX} characters`
  throw invalidRequest({ path: 'q', message })
}

export type OptOutTools = Pick<ReturnType<typeof createReading>['beside'], 'optOuts'>

const OptOutQuery = Type.Object({
  ...PAGE_QUERY,
  handle: Type.Optional(Type.String({ description: 'Of this person.', example: '+12025550147' })),
})

const LIST_OPT_OUTS = operation('Contacts', {
  id: 'listOptOuts',
  summary: 'List opt-outs',
  description:
    'People who want no more messages, by a keyword such as STOP or by hand; latest first.',
  scope: 'contacts:read',
  query: OptOutQuery,
  answers: { 200: OptOutList },
})

const PUT_OPT_OUT = operation('Contacts', {
  id: 'putOptOut',
  summary: 'Record an opt-out',
  description:
    'With the setting `opt_out` at `enforce` nothing is sent to the person any more, and what waits to be sent ' +
    'fails with `recipient_opted_out`. One that there is stays as it is.',
  scope: 'contacts:write',
  answers: { 200: OptOut },
  errors: ['phone_line_not_found', 'storage_full'],
})

const RemovalQuery = Type.Object({
  phone_line_id: Type.Optional(
    id('line', 'Only the opt-out of this line; every one of the person where it is left out.'),
  ),
})

const REMOVE_OPT_OUT = operation('Contacts', {
  id: 'deleteOptOut',
  summary: 'End an opt-out',
  description: 'Only where the person wants messages again: what failed meanwhile is not sent.',
  scope: 'contacts:write',
  query: RemovalQuery,
  answers: { 200: DeletedOptOut },
  errors: ['not_found', 'storage_full'],
})

export function optOutRoutes({ optOuts }: OptOutTools) {
  return new Elysia({ prefix: '/api/v1/opt-outs' })
    .get(
      '',
      ({ request }) => {
        const { handle, ...page } = readQuery(request, OptOutQuery)
        return optOuts.list(
          { handle: readHandle(handle), lines: linesOf(request) },
          pageOfQuery(page),
        )
      },
      LIST_OPT_OUTS,
    )
    .put(
      '/:handle',
      ({ request, params, body: { phone_line_id: line = null } }) =>
        optOuts.put(params.handle, line, originOf(request)),
      { ...ByHandle, ...mayTake(OptOutFields), ...PUT_OPT_OUT },
    )
    .delete(
      '/:handle',
      async ({ request, params: { handle } }) => {
        const { phone_line_id: line } = readQuery(request, RemovalQuery)
        await optOuts.remove(handle, line, originOf(request))
        return { handle, deleted: true as const }
      },
      { ...ByHandle, ...REMOVE_OPT_OUT },
    )
}

export type SearchTools = Pick<ReturnType<typeof createReading>['beside'], 'search'>

const SearchQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      description:
        'Words, or a part of a number. Messages need a word of three characters; shorter queries ' +
        'find names and numbers that begin so.',
      example: 'bicycle',
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: FOUND_MAX,
    default: FOUND_DEFAULT,
    description: 'Most results of each kind.',
  }),
})

const SEARCH = operation('Contacts', {
  id: 'search',
  summary: 'Search',
  description: 'People, conversations and messages, without regard to case and accents.',
  scope: 'messages:read',
  query: SearchQuery,
  answers: { 200: SearchResult },
})

export function searchRoutes({ search }: SearchTools) {
  return new Elysia().get(
    '/api/v1/search',
    ({ request }) => {
      callerOf(request)
      const { q, limit } = readQuery(request, SearchQuery)
      if (q === undefined) throw invalidRequest({ path: 'q', message: 'is required' })
      return search(checkedQuery(q), Math.min(limit, FOUND_MAX), linesOf(request))
    },
    SEARCH,
  )
}
