// Routes of the control socket only, which nobody but the owner can open.

import { Elysia } from 'elysia'

import type { OptionRow, SetupLink } from '../api/owner.ts'
import { NoBody } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import type { Reports } from '../lines/line-kind.ts'
import { mayTake } from './body.ts'
import { plainCall } from './operation.ts'
import type { OwnerActions } from './owner-routes.ts'
import { originOf } from './request-context.ts'

export type ControlActions = OwnerActions & {
  /** Rows of the kinds of lines, by the last part of their path. */
  readonly reports: Reports
  /** The options of this start as they are printed: secrets are hidden. */
  readonly options: readonly OptionRow[]
  /** Called by the upgrade that waits for this start; absent where none does. */
  readonly confirmHealthy?: (() => void) | undefined
}

type Tools = Pick<ControlActions, 'reports' | 'options' | 'confirmHealthy'> & {
  readonly version: string
  /** True where the dashboard has a password. */
  readonly access: { hasPassword(): boolean }
  readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
}

/** Open during the startup check, which ends with it. The path is what every version's upgrade calls. */
export const STARTUP_CHECK_PATH = '/api/v1/judgement'

export function controlRoutes(tools: Tools) {
  const app = new Elysia({ prefix: '/api/v1' })
    .onBeforeHandle(plainCall)
    .get('/about', () => ({ version: tools.version, is_claimed: tools.access.hasPassword() }))
    .get('/options', () => ({ data: tools.options }))
    .post('/setup-link', ({ request }) => tools.createSetupLink(originOf(request)), mayTake(NoBody))
    .post(
      '/judgement',
      () => {
        tools.confirmHealthy?.()
        return { version: tools.version }
      },
      mayTake(NoBody),
    )
  for (const [name, read] of Object.entries(tools.reports)) {
    app.get(`/${name}`, () => ({ data: read() }))
  }
  return app
}
