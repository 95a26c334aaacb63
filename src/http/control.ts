// What only the control socket answers, which nobody but the owner can open.

import { type Operation, routeOf } from '../api/operation.ts'
import { CONTROL } from '../api/operations/control.ts'
import type { OptionRow, SetupLink } from '../api/owner.ts'
import type { Origin } from '../domain/audit.ts'
import type { Reports } from '../lines/line-kind.ts'
import { bind, type Binding } from './bind.ts'
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

/** Open during the startup check, which ends with it. */
export const STARTUP_CHECK_PATH = routeOf(CONTROL.confirmUpgrade).path

export function controlBindings(tools: Tools) {
  return [
    bind(CONTROL.getVersion, () => ({
      version: tools.version,
      is_claimed: tools.access.hasPassword(),
    })),
    bind(CONTROL.listOptions, () => ({ data: tools.options })),
    bind(CONTROL.createSetupLink, ({ request }) => tools.createSetupLink(originOf(request))),
    bind(CONTROL.confirmUpgrade, () => {
      tools.confirmHealthy?.()
      return { version: tools.version }
    }),
    ...Object.entries(tools.reports).map(([name, read]) => reportBinding(name, read)),
  ]
}

const REPORTS: readonly Operation[] = [CONTROL.listPhones, CONTROL.listScriptCalls]

/** A report without a row gets its route all the same. */
function reportBinding(name: string, read: () => readonly unknown[]): Binding {
  const route = `GET /${name}` as const
  const known = REPORTS.find((operation) => operation.route === route)
  const operation = known ?? { ...CONTROL.listPhones, id: name, route }
  return { operation, handle: () => ({ data: read() }), bodyCheck: null }
}
