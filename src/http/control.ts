// Operations of the control socket only, which only the owner can open.

import { type Operation, routeOf } from '../api/operation.ts'
import { CONTROL } from '../api/operations/control.ts'
import { VERSION } from '../system/version.ts'
import { bind, type Binding } from './bind.ts'
import type { Relay } from './relay.ts'

/** The path of the call that ends the startup check, so it also answers during that check. */
export const STARTUP_CHECK_PATH = routeOf(CONTROL.confirmUpgrade).path

export function controlBindings(
  relay: Pick<Relay, 'access' | 'confirmHealthy' | 'kinds' | 'options'>,
) {
  const { access, kinds, options } = relay
  return [
    bind(CONTROL.getVersion, () => ({ version: VERSION, is_claimed: access.hasPassword() })),
    bind(CONTROL.listOptions, () => ({ data: options })),
    bind(CONTROL.createSetupLink, ({ origin }) => access.createSetupLink(origin)),
    bind(CONTROL.confirmUpgrade, () => {
      relay.confirmHealthy?.()
      return { version: VERSION }
    }),
    ...Object.entries(kinds.reports).map(([name, read]) => reportBinding(name, read)),
  ]
}

const REPORTS: readonly Operation[] = [CONTROL.listPhones, CONTROL.listScriptCalls]

/** A report of a kind of line; it gets a route even if it has no row. */
function reportBinding(name: string, read: () => readonly unknown[]): Binding {
  const route = `GET /${name}` as const
  const known = REPORTS.find((operation) => operation.route === route)
  const operation = known ?? { ...CONTROL.listPhones, id: name, route }
  return { operation, handle: () => ({ data: read() }), bodyCheck: null }
}
