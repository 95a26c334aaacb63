// Routes that kinds of lines bring along, each for an act on one of their lines.

import { Elysia } from 'elysia'

import { RelayError } from '../domain/errors.ts'
import type { CreatedKinds } from '../lines/line-kind.ts'
import { takesByType } from './body.ts'
import { BY_ID, documentationOf, plainCall } from './operation.ts'
import type { PhoneLineActions } from './phone-lines.ts'

type Tools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly actions: CreatedKinds['actions']
}

export function lineActionRoutes({ lines, actions }: Tools) {
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
