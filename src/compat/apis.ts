import type { CreatedKey, KeyCreation } from '../api/keys.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Line } from '../domain/line.ts'
import { isOfConversations } from '../domain/permissions.ts'
import { BLUEBUBBLES } from './bluebubbles/api.ts'
import type { CompatApi, CompatHandler, CompatRoute, WebhookFormat } from './compat-api.ts'
import { IMSG } from './imsg/api.ts'
import { SENDBLUE } from './sendblue.ts'
import { SIGNAL_CLI } from './signal-cli.ts'
import { SMS } from './sms.ts'
import { TWILIO } from './twilio/api.ts'

/** The compatible APIs. All paths of an API answer 404 until a key is made for it. */
export const COMPAT_APIS: readonly CompatApi[] = [
  SMS,
  SIGNAL_CLI,
  IMSG,
  BLUEBUBBLES,
  TWILIO,
  SENDBLUE,
]

export const COMPAT_NAMES: readonly string[] = COMPAT_APIS.map(({ name }) => name)

/** The relay's own webhook format. */
export const OWN_FORMAT = 'hookline'

/** The values that the `format` of a webhook may have. */
export const FORMAT_NAMES: readonly string[] = [OWN_FORMAT, ...formats().map(({ name }) => name)]

/** The webhook formats other than the relay's own, as the dashboard offers them. */
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

/** The compatible API with this name. Throws `invalid_request` if there is none. */
function compatNamed(name: string): CompatApi {
  const found = COMPAT_APIS.find((api) => api.name === name)
  if (found !== undefined) return found
  throw invalidRequest({ path: 'for', message: `must be one of ${COMPAT_NAMES.join(', ')}` })
}

/** The webhook format with this name; null for the relay's own. */
export function webhookFormat(name: string | null): WebhookFormat | null {
  return COMPAT_APIS.find((api) => api.name === name)?.webhook ?? null
}

/** Makes keys and secrets in this API's own form; undefined if its keys look like all others. */
export function accountsOf(madeFor: string | null): CompatApi['account'] {
  return COMPAT_APIS.find(({ name }) => name === madeFor)?.account
}

/** The request for a key. If it names no scopes, it gets those that the API needs, within the key's limits. */
export function withCompatScopes(asked: KeyCreation): KeyCreation {
  const name = asked.for ?? null
  if (name === null) return asked
  const { scopes } = compatNamed(name)
  const isLimited = (asked.conversation_ids ?? null) !== null
  const fitting = isLimited ? scopes.filter(isOfConversations) : [...scopes]
  return { ...asked, scopes: asked.scopes ?? fitting }
}

/** Adds to a new key the values to enter into the program that it is for. */
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
    AT_ROOT.find(({ pattern }) => pattern.test(path))?.api ??
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

/** The routes of the APIs that also answer at the root. */
const AT_ROOT = COMPAT_APIS.filter(({ isAtRoot }) => isAtRoot).flatMap((api) =>
  routesOf(api).map(({ path }) => ({ api, pattern: patternOf(path) })),
)

/** Also matches every path below the first parameter, so that unknown paths there get this API's error format. */
function patternOf(path: string): RegExp {
  const [literal = '', ...parameters] = path.replaceAll('.', String.raw`\.`).split(/:[a-z]+/)
  return new RegExp(`^${literal}${parameters.length === 0 ? '$' : ''}`)
}
