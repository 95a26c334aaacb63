import type { CreatedKey, KeyCreation } from '../api/keys.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Line } from '../domain/line.ts'
import type { CompatApi, CompatHandler, CompatRoute, WebhookFormat } from './compat-api.ts'
import { IMSG } from './imsg/api.ts'
import { SIGNAL_CLI } from './signal-cli.ts'
import { SMS } from './sms.ts'

/** The compatible APIs. Every path of one answers 404 until a key is made for it. */
export const COMPAT_APIS: readonly CompatApi[] = [SMS, SIGNAL_CLI, IMSG]

export const COMPAT_NAMES: readonly string[] = COMPAT_APIS.map(({ name }) => name)

/** The relay's own form of webhooks. */
export const OWN_FORMAT = 'hookline'

/** The values that the `format` of a webhook may have. */
export const FORMAT_NAMES: readonly string[] = [OWN_FORMAT, ...formats().map(({ name }) => name)]

/** The forms of webhooks other than the own one, as the dashboard offers them. */
export function formats() {
  return COMPAT_APIS.flatMap(({ name, webhook }) =>
    webhook === null ? [] : [{ name, about: webhook.about, events: webhook.events }],
  )
}

export const COMPAT_ROOT = '/compat'

type BoundRoute = {
  readonly method: string
  readonly path: string
  readonly handle: CompatHandler
}

/** The API that a key is made for. Throws `invalid_request` if there is none of this name. */
function compatNamed(name: string): CompatApi {
  const found = COMPAT_APIS.find((api) => api.name === name)
  if (found !== undefined) return found
  throw invalidRequest({ path: 'for', message: `must be one of ${COMPAT_NAMES.join(', ')}` })
}

/** The form of a webhook's events; null for the relay's own. */
export function webhookFormat(name: string | null): WebhookFormat | null {
  return COMPAT_APIS.find((api) => api.name === name)?.webhook ?? null
}

/** The request for a key, with the scopes that the compatible API needs if it names none. */
export function withCompatScopes(asked: KeyCreation): KeyCreation {
  const name = asked.for ?? null
  if (name === null) return asked
  const { scopes } = compatNamed(name)
  return { ...asked, scopes: asked.scopes ?? [...scopes] }
}

/** A new key, with what to enter into the program that it is for. */
export function withConnection<K extends CreatedKey>(
  made: K,
  { url, lines }: { readonly url: string; readonly lines: readonly Pick<Line, 'number'>[] },
): K {
  if (made.for === undefined) return made
  const { key, secret } = made
  const numbers = lines.map(({ number }) => number)
  return { ...made, connect: compatNamed(made.for).connect({ url, numbers, key, secret }) }
}

/** The compatible API that a path of the relay belongs to. */
export function compatAt(path: string): CompatApi | undefined {
  return (
    AT_ROOT.get(path) ??
    COMPAT_APIS.find(({ name }) => `${path}/`.startsWith(`${COMPAT_ROOT}/${name}/`))
  )
}

/** The routes of an API, with their paths from the relay's root. */
export function routesOf({ name, isAtRoot, routes }: CompatApi): readonly BoundRoute[] {
  const roots = [`${COMPAT_ROOT}/${name}`, ...(isAtRoot ? [''] : [])]
  return roots.flatMap((root) =>
    Object.entries(routes).map(([route, handle]) => {
      const [method = '', path = ''] = (route as CompatRoute).split(' ')
      return { method, path: root + path, handle }
    }),
  )
}

/** The APIs that also answer at the root, by the paths of their routes there. */
const AT_ROOT = new Map(
  COMPAT_APIS.filter(({ isAtRoot }) => isAtRoot).flatMap((api) =>
    routesOf(api).map(({ path }) => [path, api] as const),
  ),
)
