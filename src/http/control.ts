// What only the control socket answers, which nobody but the owner can open.

import type { Access } from '../access/access.ts'
import { type Operation, routeOf } from '../api/operation.ts'
import { CONTROL } from '../api/operations/control.ts'
import type { OptionRow, SetupLink } from '../api/owner.ts'
import type { Origin } from '../domain/audit.ts'
import type { Reports } from '../lines/line-kind.ts'
import { VERSION } from '../system/version.ts'
import { bind, type Binding } from './bind.ts'
import { originOf } from './request-context.ts'

/** Open during the startup check, which ends with it. */
export const STARTUP_CHECK_PATH = routeOf(CONTROL.confirmUpgrade).path

export function controlBindings({
  access,
  createSetupLink,
  options,
  reports,
  confirmHealthy,
}: {
  readonly access: Access
  readonly createSetupLink: (origin: Origin) => Promise<SetupLink>
  /** The options of this start as they are printed: secrets are hidden. */
  readonly options: readonly OptionRow[]
  /** Rows of the kinds of lines, by the last part of their path. */
  readonly reports: Reports
  /** Called once this start is healthy, if an upgrade waits for that. */
  readonly confirmHealthy: (() => void) | undefined
}) {
  return [
    bind(CONTROL.getVersion, () => ({ version: VERSION, is_claimed: access.hasPassword() })),
    bind(CONTROL.listOptions, () => ({ data: options })),
    bind(CONTROL.createSetupLink, ({ request }) => createSetupLink(originOf(request))),
    bind(CONTROL.confirmUpgrade, () => {
      confirmHealthy?.()
      return { version: VERSION }
    }),
    ...Object.entries(reports).map(([name, read]) => reportBinding(name, read)),
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
