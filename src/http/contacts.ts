// Contacts, opt-outs and search.

import { CONTACTS } from '../api/operations/contacts.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { bind } from './bind.ts'
import { requirePermissionsNow } from './current-permissions.ts'
import { answerWithFile } from './file-answer.ts'
import { bytesUpTo, pageOfQuery, readHandle } from './input.ts'
import type { Relay } from './relay.ts'
import { contextOf, linesAsked, linesOf } from './request-context.ts'

export const FILE_BYTES_MAX = 10 * 1_024 * 1_024
/** The idle time-out, for a large file and a slow network. */
const IMPORT_SECONDS = 250
/** Longer queries find nothing that shorter ones don't. */
const QUERY_LENGTH_MAX = 200

export function contactBindings(relay: Pick<Relay, 'access' | 'authenticate' | 'contacts'>) {
  const { contacts } = relay
  return [
    bind(CONTACTS.listContacts, ({ request, query: { q, tag, ...page } }) =>
      contacts.list({ q: checkedQuery(q), tag, lines: linesOf(request) }, pageOfQuery(page)),
    ),
    bind(CONTACTS.importContacts, async ({ request, query: { country = null } }) => {
      contextOf(request).peer.liftTimeout(IMPORT_SECONDS)
      const tooLarge = () =>
        new RelayError('payload_too_large', 'The file may have 10 MiB at most.')
      return contacts.import(await bytesUpTo(request, FILE_BYTES_MAX, tooLarge), country)
    }),
    bind(CONTACTS.exportContacts, async ({ request, origin }) => {
      const file = { name: 'contacts.csv', type: 'text/csv' }
      const { db } = contextOf(request)
      const now = () => linesAsked(db, requirePermissionsNow(request, relay), {})
      const table = await contacts.export(origin, now)
      return answerWithFile(request, file, table)
    }),
    bind(CONTACTS.getContact, ({ request, params }) =>
      contacts.get(params.handle, linesOf(request)),
    ),
    bind(CONTACTS.putContact, ({ params, body }) => contacts.put(params.handle, body)),
    bind(CONTACTS.deleteContact, async ({ params: { handle } }) => {
      await contacts.remove(handle)
      return { handle, deleted: true as const }
    }),
  ]
}

function checkedQuery<Q extends string | undefined>(q: Q): Q {
  if (q === undefined || q.length <= QUERY_LENGTH_MAX) return q
  const message = `must have at most ${QUERY_LENGTH_MAX} characters`
  throw invalidRequest({ path: 'q', message })
}

export function optOutBindings(optOuts: Relay['optOuts']) {
  return [
    bind(CONTACTS.listOptOuts, ({ request, query: { handle, ...page } }) =>
      optOuts.list({ handle: readHandle(handle), lines: linesOf(request) }, pageOfQuery(page)),
    ),
    bind(CONTACTS.putOptOut, ({ params, body: { phone_line_id: line = null }, origin }) =>
      optOuts.put(params.handle, line, origin),
    ),
    bind(CONTACTS.deleteOptOut, async ({ params: { handle }, query, origin }) => {
      await optOuts.remove(handle, query.phone_line_id, origin)
      return { handle, deleted: true as const }
    }),
  ]
}

export function searchBindings({ search }: Relay['reading']) {
  return [
    bind(CONTACTS.search, ({ request, query }) => {
      const { q, limit } = query
      if (q === undefined) throw invalidRequest({ path: 'q', message: 'is required' })
      return search(checkedQuery(q), limit, linesOf(request, query))
    }),
  ]
}
