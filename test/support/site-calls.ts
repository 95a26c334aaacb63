// What only the owner does: sites, and lines that move between them.

import type { Json, TestRelay } from './test-relay.ts'

/** A request of the owner, by the control socket. */
export async function asOwner(
  { app }: Pick<TestRelay, 'app'>,
  method: string,
  path: string,
  body?: unknown,
) {
  const response = await app.http.fetch(
    new Request(`http://localhost/api/v1${path}`, {
      method,
      headers: { host: 'localhost', 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    }),
    { address: null, isControl: true, liftTimeout: () => {} },
  )
  const answered: Json = await response.json()
  return { status: response.status, body: answered }
}

export async function makeSite(
  relay: Pick<TestRelay, 'app'>,
  name: string,
  time_zone = 'UTC',
): Promise<string> {
  const { body } = await asOwner(relay, 'POST', '/sites', { name, time_zone })
  return String(body.id)
}

/** Null takes the line out of its site. */
export function moveLine(relay: Pick<TestRelay, 'app'>, line: string, site: string | null) {
  return asOwner(relay, 'PATCH', `/phone-lines/${line}`, { site_id: site })
}
