import { Elysia } from 'elysia'

import type { Page, PageRequest } from '../api/paging.ts'
import { PhoneLine, PhoneLineChanges, PhoneLineList } from '../api/phone-lines.ts'
import { Deleted } from '../api/schema.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { includesLine } from '../domain/routing.ts'
import type { createLineActions } from '../lines/line-actions.ts'
import type { CreatedKinds } from '../lines/line-kind.ts'
import { takes, takesByType } from './body.ts'
import { BY_ID, documentationOf, operation, plainCall } from './operation.ts'
import { PageQuery, readPage } from './query.ts'
import { linesOf, originOf } from './request-context.ts'

export type PhoneLineActions = ReturnType<typeof createLineActions>

const LIST = operation('Phone lines', {
  id: 'listPhoneLines',
  summary: 'List phone lines',
  description: 'Oldest first, which is the order of routing.',
  scope: 'lines:read',
  query: PageQuery,
  answers: { 200: PhoneLineList },
})

const PATCH = operation('Phone lines', {
  id: 'updatePhoneLine',
  summary: 'Change a phone line',
  description: 'Fields that are left out stay as they are.',
  scope: 'lines:write',
  answers: { 200: PhoneLine },
  errors: ['not_found', 'not_supported', 'storage_full'],
})

const REMOVE = operation('Phone lines', {
  id: 'deletePhoneLine',
  summary: 'Delete an unused line',
  description:
    'A simulated line that the relay was started without, or a Shortcuts line whose bridge was ' +
    'removed. Its messages keep its id and number.',
  scope: 'lines:write',
  answers: { 200: Deleted },
  errors: ['not_found', 'phone_line_in_use'],
})

export function phoneLineRoutes(lines: PhoneLineActions) {
  return new Elysia({ prefix: '/api/v1/phone-lines' })
    .get(
      '',
      ({ request }) => {
        const seen = lines.list().filter(({ id }) => includesLine(linesOf(request), id))
        return pageOfLines(seen, readPage(request))
      },
      LIST,
    )
    .patch(
      '/:id',
      ({ request, params, body }) => {
        const { label, daily_contact_limit, is_enabled, relay_sms, relay_groups, quiet_hours } =
          body
        requireHours(quiet_hours)
        const changes = {
          ...(label === undefined ? {} : { label }),
          ...(daily_contact_limit === undefined ? {} : { dailyContactLimit: daily_contact_limit }),
          ...(is_enabled === undefined ? {} : { isEnabled: is_enabled }),
          ...(relay_sms === undefined ? {} : { relaySms: relay_sms }),
          ...(relay_groups === undefined ? {} : { relayGroups: relay_groups }),
          ...(quiet_hours === undefined ? {} : { quietHours: quiet_hours }),
        }
        return lines.patch(params.id, changes, originOf(request))
      },
      { ...BY_ID, ...takes(PhoneLineChanges), ...PATCH },
    )
    .delete(
      '/:id',
      async ({ request, params }) => {
        await lines.remove(params.id, originOf(request))
        return { id: params.id, deleted: true as const }
      },
      { ...BY_ID, ...REMOVE },
    )
}

function requireHours(hours: PhoneLineChanges['quiet_hours']): void {
  if (hours === undefined || hours === null || hours.from !== hours.to) return
  throw invalidRequest({ path: 'quiet_hours', message: 'must not end when they begin' })
}

/** The cursor is the last line's id: ids sort by creation. */
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

type ActionTools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly actions: CreatedKinds['actions']
}

/** Routes that kinds of lines bring along, each for an act on one of their lines. */
export function lineActionRoutes({ lines, actions }: ActionTools) {
  const routes = new Elysia()
  for (const { kind, name, id, summary, description, bodies, answer, run } of actions) {
    const document = documentationOf('Phone lines', {
      id,
      summary,
      description,
      scope: 'lines:write',
      answers: { 200: answer },
      errors: ['phone_line_not_found', 'not_supported'],
    })
    const title = `${id.charAt(0).toUpperCase()}${id.slice(1)}Request`
    routes.post(
      `/api/v1/${kind}/lines/:id/${name}`,
      async ({ params, body }): Promise<Readonly<Record<string, unknown>>> => {
        const line = lines.list().find((each) => each.id === params.id)
        if (line === undefined) {
          throw new RelayError('phone_line_not_found', 'There is no phone line with this id.')
        }
        if (line.driver !== kind) {
          const message = `Only lines of the kind ${kind} can do this.`
          throw new RelayError('not_supported', message, { details: { capability: name } })
        }
        return run(line.phone_number, body)
      },
      { beforeHandle: plainCall, ...BY_ID, ...takesByType(title, bodies), detail: document },
    )
  }
  return routes
}
