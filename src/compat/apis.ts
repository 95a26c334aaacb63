import type { CreatedKey, KeyCreation } from '../api/keys.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { CompatApi, CompatHandler, CompatRoute, MadeKey } from './compat-api.ts'
import { IMSG } from './imsg/api.ts'
import { SIGNAL_CLI } from './signal-cli.ts'
import { SMS } from './sms.ts'

/** The compatible APIs. Every path of one answers 404 until a key is made for it. */
export const COMPAT_APIS: readonly CompatApi[] = [SMS, SIGNAL_CLI, IMSG]

export const COMPAT_NAMES: readonly string[] = COMPAT_APIS.map(({ name }) => name)

const ROOT = '/compat'

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

/** The request for a key, with the scopes that the compatible API needs if it names none. */
export function withCompatScopes(asked: KeyCreation): KeyCreation {
  const name = asked.for ?? null
  if (name === null) return asked
  const { scopes } = compatNamed(name)
  return { ...asked, scopes: asked.scopes ?? [...scopes] }
}

/** A new key, with what to enter into the program that it is for. */
export function withConnection(
  made: CreatedKey,
  relay: Pick<MadeKey, 'url' | 'numbers'>,
): CreatedKey {
  if (made.for === undefined) return made
  const { key, secret } = made
  return { ...made, connect: compatNamed(made.for).connect({ ...relay, key, secret }) }
}

/** The compatible API that a path of the relay belongs to. */
export function compatAt(path: string): CompatApi | undefined {
  return COMPAT_APIS.find(
    (api) =>
      path.startsWith(`${ROOT}/${api.name}/`) ||
      (api.isAtRoot && routesOf(api).some((route) => route.path === path)),
  )
}

/** The routes of an API, with their paths from the relay's root. */
export function routesOf({ name, isAtRoot, routes }: CompatApi): readonly BoundRoute[] {
  const roots = [`${ROOT}/${name}`, ...(isAtRoot ? [''] : [])]
  return roots.flatMap((root) =>
    Object.entries(routes).map(([route, handle]) => {
      const [method = '', path = ''] = (route as CompatRoute).split(' ')
      return { method, path: root + path, handle }
    }),
  )
}
