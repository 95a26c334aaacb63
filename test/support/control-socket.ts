import type { Json, TestRelay } from './test-relay.ts'

const OWNER = { address: null, isControl: true, liftTimeout: () => {} }

/** Asks a relay as its owner does, over the control socket, where no key is needed. */
export async function asOwner(
  relay: Pick<TestRelay, 'app'>,
  method: string,
  path: string,
  more: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Json> {
  const { body, headers } = more
  const request = new Request(`http://localhost/api/v1${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const response = await relay.app.http.fetch(request, OWNER)
  return response.json()
}
