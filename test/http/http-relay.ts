// The real relay as HTTP meets it: any request, from the port and from the control socket alike.

import type { dashboardRoutes } from '../../src/http/routes.ts'
import type { LogFields } from '../../src/system/log.ts'
import { recordingLog } from '../support/recording-log.ts'
import { type Json, startRelay } from '../support/test-relay.ts'

const PUBLIC_HOST = 'relay.example.com'
const TRUSTED_PROXY = '10.0.0.1'

export type More = {
  readonly body?: unknown
  /** A body as it stands, in place of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string
}

export type HttpRelay = Awaited<ReturnType<typeof startHttp>>

/** Starts a relay without lines; `await using` stops it at the end of the test. */
export async function startHttp(options: Parameters<typeof startRelay>[0] = {}) {
  const { log, lines } = recordingLog()
  const relay = await startRelay({
    ...options,
    environment: {
      HOOKLINE_PUBLIC_URL: `https://${PUBLIC_HOST}/x`,
      HOOKLINE_TRUSTED_PROXIES: TRUSTED_PROXY,
      ...options.environment,
    },
    parts: { log, ...options.parts },
  })
  const credentials = {
    'x-api-key': relay.key?.key ?? '',
    'x-api-secret': relay.key?.secret ?? '',
  }
  const lifted: number[] = []
  const ask =
    (isControl: boolean) =>
    (method: string, path: string, more: More = {}): Promise<Response> => {
      const body = more.raw ?? (more.body === undefined ? null : JSON.stringify(more.body))
      const headers = {
        host: 'localhost',
        ...(isControl ? {} : credentials),
        ...(more.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more.headers,
      }
      const address = isControl ? null : (more.address ?? '127.0.0.1')
      return relay.app.http.fetch(
        new Request(`http://localhost${path}`, { method, headers, body }),
        { address, isControl, liftTimeout: (seconds) => void lifted.push(seconds) },
      )
    }
  const control = ask(true)
  return {
    ...relay,
    http: relay.app.http,
    credentials,
    /** Seconds to which each request had its time-out lifted. */
    lifted,
    /** Log lines with this message. */
    logged: (message: string): readonly (readonly [string, LogFields])[] =>
      lines.flatMap(([, each, fields]) => (each === message ? [[each, fields]] : [])),
    /** Asks with the right credentials, from this machine. */
    call: ask(false),
    /** Asks over the control socket. */
    control,
    metrics: async () => (await control('GET', '/metrics')).text(),
  }
}

export type Issues = readonly (readonly [path: string, message: string])[]

/** What a 400 says of each place; nothing for any other answer. */
export async function issuesIn(response: Response): Promise<Issues> {
  const { error }: Json = await response.json()
  if (error.code !== 'invalid_request') return []
  return error.details.issues.map(({ path, message }: Json) => [path, message])
}

// Whatever is read of it or called is the same again.
const nothing: object = new Proxy(() => nothing, {
  get: (_target, name) => (name === 'reports' ? {} : nothing),
})

/** No relay at all: its routes can be listed, and nothing asked. */
export const NO_RELAY = [nothing, nothing, AbortSignal.abort()] as Parameters<
  typeof dashboardRoutes
>
