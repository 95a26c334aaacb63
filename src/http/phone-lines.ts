import { Type } from 'typebox'

import type { Operation } from '../api/operation.ts'
import { LINE_CHANGES, PHONE_LINES } from '../api/operations/phone-lines.ts'
import type { PageRequest } from '../api/paging.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import type { Page } from '../api/schema.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { includesLine } from '../domain/routing.ts'
import { bind, bindRemoval, checkedByType } from './bind.ts'
import { pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, linesOf } from './request-context.ts'

export function phoneLineBindings(lines: Relay['lines']) {
  return [
    bind(PHONE_LINES.listPhoneLines, ({ request, query }) => {
      const seen = lines.list().filter(({ id }) => includesLine(linesOf(request), id))
      return pageOfLines(seen, pageOfQuery(query))
    }),
    bind(PHONE_LINES.updatePhoneLine, ({ request, params, body, origin }) => {
      const { label, daily_contact_limit, is_enabled, relay_sms, relay_groups } = body
      const { quiet_hours, site_id: siteId } = body
      if (quiet_hours != null && quiet_hours.from === quiet_hours.to) {
        throw invalidRequest({ path: 'quiet_hours', message: 'must not end when they begin' })
      }
      if (siteId !== undefined && callerOf(request).kind === 'key') {
        throw new RelayError('forbidden', 'Only the owner moves a line to another site.')
      }
      const changes = {
        ...(label === undefined ? {} : { label }),
        ...(daily_contact_limit === undefined ? {} : { dailyContactLimit: daily_contact_limit }),
        ...(is_enabled === undefined ? {} : { isEnabled: is_enabled }),
        ...(relay_sms === undefined ? {} : { relaySms: relay_sms }),
        ...(relay_groups === undefined ? {} : { relayGroups: relay_groups }),
        ...(quiet_hours === undefined ? {} : { quietHours: quiet_hours }),
        ...(siteId === undefined ? {} : { siteId }),
      }
      return lines.patch(params.id, changes, origin)
    }),
    bindRemoval(PHONE_LINES.deletePhoneLine, lines),
  ]
}

/** The cursor is the id of the last line; ids sort by creation. */
function pageOfLines(lines: readonly PhoneLine[], { limit, cursor }: PageRequest): Page<PhoneLine> {
  const after = cursor === null ? '' : Buffer.from(cursor, 'base64url').toString()
  if (cursor !== null && !/^line_[0-9a-z]{26}$/.test(after)) {
    throw invalidRequest({ path: 'cursor', message: 'must be a next_cursor of this list' })
  }
  const rest = lines.filter((line) => line.id > after)
  const data = rest.slice(0, limit)
  const last = data.at(-1)
  const hasMore = rest.length > limit && last !== undefined
  const next = hasMore ? Buffer.from(last.id).toString('base64url') : null
  return { data, has_more: hasMore, next_cursor: next }
}

type Action = Relay['kinds']['actions'][number]

/** Operations that kinds of lines define for their own lines. */
export function lineActionBindings({ lines, kinds }: Pick<Relay, 'kinds' | 'lines'>) {
  return kinds.actions.map((action) => {
    const { kind, name, bodies, run } = action
    const title = `${action.id.charAt(0).toUpperCase()}${action.id.slice(1)}Request`
    const row = rowOf(action, title)
    const answer = async (id: string, body: unknown) => {
      const line = lines.list().find((each) => each.id === id)
      if (line === undefined) {
        throw new RelayError('phone_line_not_found', 'There is no phone line with this id.')
      }
      if (line.driver !== kind) {
        const message = `Only lines of the kind ${kind} can do this.`
        throw new RelayError('not_supported', message, { details: { capability: name } })
      }
      return run(line.phone_number, body)
    }
    return bind(row, ({ params, body }) => answer(params.id, body), checkedByType(title, bodies))
  })
}

function rowOf({ kind, name, id, summary, description, bodies, answer }: Action, title: string) {
  return {
    ...LINE_CHANGES,
    id,
    route: `POST /${kind}/lines/:id/${name}`,
    summary,
    description,
    answers: { 200: answer },
    errors: ['phone_line_not_found', 'not_supported'],
    body: Type.Union(Object.values(bodies), { title }),
    audit: null,
  } as const satisfies Operation
}
