// What exists on the control socket only: whoever can open it is the owner.

import { Elysia } from 'elysia'

import type { OptionRow, ScriptCall, SetupLink } from '../api/owner.ts'
import { NoBody } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import type { Clock } from '../system/clock.ts'
import { mayTake } from './body.ts'
import { eventStream, type EventFeed } from './event-stream.ts'
import { exchangeOf, originOf } from './exchange.ts'
import { plainCall } from './operation.ts'
import type { OwnerActions } from './owner.ts'
import { phoneResource, type PhoneReport } from './phones.ts'
import { respond } from './respond.ts'

export type ControlActions = OwnerActions & {
  readonly events: EventFeed
  readonly phones: () => readonly PhoneReport[]
  /** The options of this start as they are printed: secrets are hidden. */
  readonly options: readonly OptionRow[]
  /** The last runs of the script for Messages, oldest first: what of them a trace may tell. */
  readonly scriptCalls: () => readonly ScriptCallReport[]
  /** Called by the upgrade that waits for this start; absent where none does. */
  readonly confirmHealthy?: (() => void) | undefined
}

type ScriptCallReport = Omit<ScriptCall, 'key_prefix'> & { readonly keyPrefix: string | null }

type Tools = Pick<
  ControlActions,
  'events' | 'phones' | 'options' | 'scriptCalls' | 'confirmHealthy'
> & {
  readonly version: string
  /** Whether the dashboard has a password. */
  readonly access: { hasPassword(): boolean }
  readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
  readonly clock: Clock
  /** Ends the streams. */
  readonly streamsEnd: AbortSignal
}

/** Open during the startup check, which ends with it. The path is what every version's upgrade calls. */
export const STARTUP_CHECK_PATH = '/api/v1/judgement'

export function controlRoutes(tools: Tools) {
  return new Elysia({ prefix: '/api/v1' })
    .onBeforeHandle(plainCall)
    .get('/events', ({ request }) => {
      const { peer, requestId } = exchangeOf(request)
      peer.liftTimeout(0)
      const signal = AbortSignal.any([request.signal, tools.streamsEnd])
      const stream = eventStream(tools.events, tools.clock, signal)
      const headers = { 'content-type': 'application/x-ndjson' }
      return respond(stream, { status: 200, requestId, headers })
    })
    .get('/about', () => ({ version: tools.version, is_claimed: tools.access.hasPassword() }))
    .get('/options', () => ({ data: tools.options }))
    .get('/phones', () => ({ data: tools.phones().map(phoneResource) }))
    .get('/script-calls', () => ({
      data: tools
        .scriptCalls()
        .map(({ keyPrefix, ...call }) => ({ ...call, key_prefix: keyPrefix })),
    }))
    .post('/setup-link', ({ request }) => tools.createSetupLink(originOf(request)), mayTake(NoBody))
    .post(
      '/judgement',
      () => {
        tools.confirmHealthy?.()
        return { version: tools.version }
      },
      mayTake(NoBody),
    )
}
