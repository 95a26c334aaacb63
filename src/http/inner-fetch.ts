import type { RelayFetch } from '../api/client.ts'
import type { CredentialForm } from '../compat/compat-api.ts'
import { credentialsIn } from './authentication.ts'
import { contextOf, setContext } from './request-context.ts'

/** Answers requests whose context is set. */
export type RoutesFetch = (request: Request) => Response | Promise<Response>

/** Calls of the relay's own API on behalf of `request`: with its caller, and until its client hangs up. */
export function innerFetch(
  request: Request,
  forms: readonly CredentialForm[],
  fetch: RoutesFetch,
): RelayFetch {
  const { signal } = request
  const given = credentialsIn(request, forms)
  return async (path, init) => {
    const call = new Request(`http://localhost${path}`, { ...init, signal })
    // A read that waits for events rechecks with them whether its key is still valid.
    call.headers.set('x-api-key', given?.key ?? '')
    call.headers.set('x-api-secret', given?.secret ?? '')
    setContext(call, contextOf(request))
    return fetch(call)
  }
}
