import { ONLY_CONVERSATION } from '../api/keys.ts'
import type { CredentialForm } from '../compat/compat-api.ts'
import { BRIDGE_TOKEN_PREFIX, FAKE_KEY, KEY_PREFIX, SECRET_PREFIX } from '../domain/credential.ts'
import type { RelayError } from '../domain/errors.ts'
import { limitedTo, type Caller, type KeyCaller } from '../domain/permissions.ts'
import { endedKeyOf, type Authenticate, type EndedKey } from '../keys/last-used.ts'
import type { Core } from '../storage/core.ts'
import { isoTime } from '../system/iso-time.ts'
import { dropOldest } from '../system/memoize.ts'
import { clientAddress } from './hosts.ts'
import type { Relay } from './relay.ts'
import {
  badToken,
  unauthorized,
  type BridgeCaller,
  type Peer,
  type Refusal,
} from './request-context.ts'

type Failures = { readonly loggedAt: number; readonly unlogged: number }

const LOG_EVERY_MS = 60_000
const ADDRESSES_MAX = 1_000
const BEARER = /^Bearer +(hlb_[A-Za-z0-9_-]{43}) *$/i

/**
 * Reads credentials from headers and nowhere else. Counts failures, and logs them once a minute for each
 * address. Secrets of 256 bits need no rate limit.
 */
export function createAuthentication(
  core: Core,
  {
    authenticate,
    credentials: { bridges },
    fakeBindings,
    hosts,
    metrics,
  }: Pick<Relay, 'authenticate' | 'credentials' | 'fakeBindings' | 'hosts' | 'metrics'>,
) {
  const { clock, log } = core
  const failures = new Map<string, Failures>()
  const noteFailure = (request: Request, peer: Peer) => {
    metrics.count('hookline_authentication_failures_total', 'Requests that were answered 401.')
    const address = clientAddress(request.headers, peer, hosts.isTrustedProxy)
    const now = clock.monotonic()
    const known = failures.get(address)
    if (known !== undefined && now - known.loggedAt < LOG_EVERY_MS) {
      failures.set(address, { ...known, unlogged: known.unlogged + 1 })
      return
    }
    log.warn('authentication failed', { address, failures: (known?.unlogged ?? 0) + 1 })
    failures.delete(address)
    failures.set(address, { loggedAt: now, unlogged: 0 })
    dropOldest(failures, ADDRESSES_MAX)
  }
  return {
    /**
     * The caller of the relay's own API, or of another one. Otherwise throws `unauthorized`, with the reason that
     * the headers show.
     */
    caller(request: Request, peer: Peer, api: ApiCredentials = OWN_API): Caller {
      const { headers } = request
      if (peer.isControl) return limitedByItself({ kind: 'cli' }, headers)
      const given = credentialsIn(request, api.forms)
      const isFake = given !== null && FAKE_KEY.test(given.key)
      if (isFake && fakeBindings === null) {
        noteFailure(request, peer)
        throw unauthorized(OF_FAKE)
      }
      const caller = given && authenticate(given.key, given.secret)
      if (caller?.madeFor === api.madeFor) return limitedByItself(caller, headers)
      noteFailure(request, peer)
      throw caller === null ? refusalOf(request, core, api) : unauthorized(otherApi(caller))
    },
    /** The bridge of the token. Otherwise throws `unauthorized`, which is the same for every wrong token. */
    bridge(request: Request, peer: Peer): BridgeCaller {
      const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
      const id = token === undefined ? null : bridges.ofToken(token)
      if (token === undefined || id === null) {
        noteFailure(request, peer)
        throw badToken(badTokenIn(request.headers, token))
      }
      bridges.noteCall(id)
      return { id, isGood: () => bridges.ofToken(token) !== null }
    },
  }
}

/** The forms in which callers of one API send the credentials of their keys. */
export type ApiCredentials = {
  readonly forms: readonly CredentialForm[]
  /** The compatible API that the keys must be made for; null for the relay's own API. */
  readonly madeFor: string | null
  /** Advice for a caller without credentials, as sentences. */
  readonly how: string
}

const TWO_HEADERS = 'Send the key in X-API-Key and its secret in X-API-Secret.'
const OWN_API: ApiCredentials = { forms: ['two headers'], madeFor: null, how: TWO_HEADERS }
/** Some clients of MCP can set only `Authorization`. */
export const MCP_CREDENTIALS: ApiCredentials = {
  forms: ['two headers', 'bearer'],
  madeFor: null,
  how: `${TWO_HEADERS} Or send both as "Authorization: Bearer KEY:SECRET".`,
}

/** The parameters by which clients of BlueBubbles send their password. */
export const IN_QUERY = ['password', 'guid', 'token']

type Credentials = { readonly key: string; readonly secret: string }

const KEY_AND_SECRET = /^((?:hl|fake)_live_[^:\s]+):(\S+)$/
const ACCOUNT_AND_TOKEN = /^(AC[0-9a-f]{32}):(\S+)$/
const SCHEME = /^(Basic|Bearer) +(\S+) *$/i

/** The API key of a request; null if a header is missing or wrong. */
export function keyIn(headers: Headers, authenticate: Authenticate): KeyCaller | null {
  const given = credentialsIn({ headers, url: '' }, OWN_API.forms)
  const caller = given && authenticate(given.key, given.secret)
  return caller && limitedByItself(caller, headers)
}

/** The key and secret of a request, in the first of these forms that it has; null if they are missing or malformed. */
export function credentialsIn(
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  forms: readonly CredentialForm[],
): Credentials | null {
  const [, scheme = '', token = ''] = SCHEME.exec(headers.get('authorization') ?? '') ?? []
  const key = headers.get('x-api-key')
  const secret = headers.get('x-api-secret')
  const pair = (key: string | null, secret: string | null) =>
    key === null || secret === null ? null : { key, secret }
  const basic = (form: RegExp) => {
    if (scheme.toLowerCase() !== 'basic') return null
    return keyAndSecret(Buffer.from(token, 'base64').toString(), form)
  }
  const read: Readonly<Record<CredentialForm, () => Credentials | null>> = {
    'two headers': () => pair(key, secret),
    'sb headers': () => pair(headers.get('sb-api-key-id'), headers.get('sb-api-secret-key')),
    query: () => {
      const query = new URL(url).searchParams
      const [password = ''] = IN_QUERY.flatMap((name) => query.get(name) ?? [])
      return keyAndSecret(password)
    },
    'one header': () => keyAndSecret(key ?? ''),
    bearer: () => (scheme.toLowerCase() === 'bearer' ? keyAndSecret(token) : null),
    basic: () => basic(KEY_AND_SECRET),
    account: () => basic(ACCOUNT_AND_TOKEN),
  }
  return forms.map((form) => read[form]()).find((found) => found !== null) ?? null
}

function keyAndSecret(text: string, form = KEY_AND_SECRET): Credentials | null {
  const [, key, secret] = form.exec(text) ?? []
  return key === undefined || secret === undefined ? null : { key, secret }
}

/** The caller, limited to the conversation that its request names, if any. */
function limitedByItself<C extends Caller>(caller: C, headers: Headers): C {
  const conversation = headers.get(ONLY_CONVERSATION)
  return conversation === null ? caller : limitedTo(caller, conversation)
}

const KEY = /^(?:(?:hl|fake)_live_[A-Za-z0-9_-]+|AC[0-9a-f]{32})$/
const SECRET = /^(?:(?:hl|fake)_secret_[A-Za-z0-9_-]+|[0-9a-f]{32})$/

/** The error for credentials that match no key. A wrong secret and an unknown key get the same text. */
function refusalOf(request: Request, core: Core, { forms, how }: ApiCredentials): RelayError {
  const { headers, url } = request
  const { key, secret } = credentialsIn(request, forms) ?? {
    key: headers.get('x-api-key') ?? '',
    secret: headers.get('x-api-secret') ?? '',
  }
  const fault =
    key === '' || secret === ''
      ? missingIn(headers, forms.includes('query') ? '' : url)
      : malformedIn(key, secret)
  if (fault !== null) return unauthorized({ ...fault, why: `${fault.why} ${how}` })
  const ended = endedKeyOf(core, key, secret)
  if (ended !== null) return unauthorized(endOf(ended), { ended_at: isoTime(ended.at) })
  const why = 'No key has these values. On its machine, "hookline keys list" shows the keys.'
  return unauthorized({ reason: 'wrong', why })
}

const OF_FAKE: Refusal = {
  reason: 'fake_key',
  why:
    'This key is one of "hookline fake", which sends nothing, and this is a real relay: it would send. ' +
    'Use the address of hookline fake, or make a key for this relay: hookline keys create',
}

/** The reason to refuse a valid key that was made for another API. */
function otherApi({ madeFor }: KeyCaller): Refusal {
  const why =
    madeFor === null
      ? "This key is for the relay's own API. For this one: hookline keys create --for NAME"
      : `This key was made for ${madeFor}, and works only there.`
  return { reason: 'other_api', why }
}

function missingIn(headers: Headers, url: string): Refusal {
  if ((headers.get('x-api-secret') ?? '') !== '') {
    return { reason: 'missing_key', why: 'X-API-Key is missing.' }
  }
  if ((headers.get('x-api-key') ?? '') !== '') {
    return { reason: 'missing_secret', why: 'X-API-Secret is missing.' }
  }
  if (headers.has('authorization')) {
    return { reason: 'wrong_header', why: 'The Authorization header has no key for this path.' }
  }
  if (/[?&][^=&]*(?:key|secret|token)[^=&]*=/i.test(url)) {
    return { reason: 'in_url', why: 'Credentials in a URL are not read.' }
  }
  return { reason: 'missing', why: 'X-API-Key and X-API-Secret are missing.' }
}

function malformedIn(key: string, secret: string): Refusal | null {
  if (key.startsWith(SECRET_PREFIX) && secret.startsWith(KEY_PREFIX)) {
    return { reason: 'swapped', why: 'The key and its secret are swapped.' }
  }
  const form = (header: string, prefix: string) =>
    `${header} must begin with ${prefix}, and have no spaces or quotes.`
  if (!KEY.test(key)) return { reason: 'malformed_key', why: form('X-API-Key', KEY_PREFIX) }
  if (SECRET.test(secret)) return null
  return { reason: 'malformed_secret', why: form('X-API-Secret', SECRET_PREFIX) }
}

function endOf({ reason, at }: EndedKey): Refusal {
  if (reason === 'revoked') return { reason, why: `This key was revoked at ${isoTime(at)}.` }
  const why = `This key expired at ${isoTime(at)}. Create another one: hookline keys create`
  return { reason, why }
}

function badTokenIn(headers: Headers, token: string | undefined): Refusal {
  if (token !== undefined) return { reason: 'wrong', why: 'No bridge has this token.' }
  const how = `Send it as "Authorization: Bearer ${BRIDGE_TOKEN_PREFIX}…".`
  return headers.has('authorization')
    ? { reason: 'malformed_token', why: `The Authorization header is malformed. ${how}` }
    : { reason: 'missing_token', why: `The Authorization header is missing. ${how}` }
}
