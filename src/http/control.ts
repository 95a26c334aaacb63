// What exists on the control socket only: whoever can open it owns the relay.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import type { Settings } from '../storage/settings.ts'
import type { Clock } from '../system/clock.ts'
import { mayTake, takes } from './body.ts'
import { eventStream, type EventFeed } from './event-stream.ts'
import { exchangeOf } from './exchange.ts'
import { BY_ID, plainCall } from './operation.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import { respond } from './respond.ts'
import { nullable, shape } from './schema-parts.ts'
import { pathSchema } from './typebox.ts'

type BackupResource = { readonly path: string; readonly size_bytes: number }

export type ControlActions = {
  readonly events: EventFeed
  readonly settings: Pick<Settings, 'list' | 'set'>
  /** Writes a verified back-up to `to`, or among the daily ones. */
  readonly backUp: (to: string | null) => Promise<BackupResource>
}

type Tools = ControlActions & {
  readonly lines: Pick<PhoneLineActions, 'adopt'>
  readonly clock: Clock
  /** Ends the streams. */
  readonly streamsEnd: AbortSignal
}

const Adoption = shape('Adoption', { from: Type.String() })
const NewValue = shape('NewValue', { value: Type.String({ maxLength: 1_000 }) })
const NewBackup = shape('NewBackup', {
  to: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 4_096 }))),
})
const NamePath = Type.Object({ name: Type.String() })

export function controlRoutes(tools: Tools) {
  return new Elysia({ prefix: '/api/v1' })
    .onBeforeHandle(plainCall)
    .post('/phone-lines/:id/adopt', ({ params, body }) => tools.lines.adopt(params.id, body.from), {
      ...BY_ID,
      ...takes(Adoption),
    })
    .get('/events', ({ request }) => {
      const { peer, requestId } = exchangeOf(request)
      peer.liftTimeout(0)
      const signal = AbortSignal.any([request.signal, tools.streamsEnd])
      const stream = eventStream(tools.events, tools.clock, signal)
      const headers = { 'content-type': 'application/x-ndjson' }
      return respond(stream, { status: 200, requestId, headers })
    })
    .get('/settings', () => ({ data: tools.settings.list() }))
    .put('/settings/:name', ({ params, body }) => tools.settings.set(params.name, body.value), {
      params: pathSchema(NamePath),
      ...takes(NewValue),
    })
    .post(
      '/backup',
      ({ request, body }) => {
        // A large database takes longer to copy than a connection may stay silent.
        exchangeOf(request).peer.liftTimeout(0)
        return tools.backUp(body.to ?? null)
      },
      mayTake(NewBackup),
    )
}
