// The relay's HTTP calls: posts, downloads and monitor calls. `post.ts` checks each address.

import { platform } from 'node:os'

import type { Settings } from '../storage/settings.ts'
import { deadline, NEVER, type Clock } from '../system/clock.ts'
import { cachedLookup, isOwnAddress, systemLookup } from '../system/network-address.ts'
import {
  createGet,
  createPost,
  exchange,
  withinPolicy,
  type Failure,
  type Network,
  type LastAddresses,
  type Post,
  type PostError,
} from './post.ts'
import { parseTarget, type TargetRules } from './targets.ts'

/** Builds the callers. `post` and `download` follow the rules for webhook targets; the others may call any address. */
export function createNetwork(
  clock: Clock,
  given: {
    readonly settings: Settings
    /** The port of the relay's own listener, once it listens. */
    readonly ownPort: () => number | undefined
    readonly outside: {
      /** Replaces the network. */
      readonly post?: Post | undefined
      /** Its `aroundPost` wraps all posts. */
      readonly fake?: { readonly aroundPost: (post: Post) => Post } | undefined
    }
  },
) {
  const { settings, ownPort, outside } = given
  const posting = (on: Network) => {
    const post = outside.post ?? createPost(on)
    return outside.fake?.aroundPost(post) ?? post
  }
  const rules: TargetRules = {
    policy: () => settings.get('webhook_targets'),
    isOwnListener: (address, port) => port === ownPort() && isOwnAddress(address),
  }
  const lookup = cachedLookup(systemLookup, clock)
  const network = { clock, lookup, rules, platform: platform() }
  // A monitor may be on the relay's own network, even if webhooks may not.
  const own = { ...network, rules: { ...rules, policy: () => 'any-private' as const } }
  return {
    rules,
    post: posting(network),
    download: createDownload(network),
    /** Like `post`, but may always call private addresses: for addresses that the owner chose. */
    postOwn: posting(own),
    get: createGet(own),
    fetchText: createFetchText(createDownload(own)),
  }
}

/** Limit for a whole download with its redirects. */
const DOWNLOAD_MS_MAX = 20_000
const REDIRECTS_MAX = 5

/** `why`: a sentence on why nothing was read; `isPassing`: a later try may succeed. */
type DownloadFailure = { readonly why: string; readonly isPassing?: true }

/** Reads the file at a URL. */
export type Download = <T>(
  url: string,
  read: (response: Response) => Promise<T>,
  isPublicOnly?: boolean,
) => Promise<{ readonly value: T } | DownloadFailure>

/** Follows redirects and checks each like the first address. Throws the RelayErrors of `read`. */
export function createDownload(network: Network, limitMs = DOWNLOAD_MS_MAX): Download {
  const lastAddresses: LastAddresses = new Map()
  return async (url, read, isPublicOnly) => {
    const limit = deadline(network.clock, limitMs, NEVER)
    const init = { headers: {}, keepalive: false }
    let next = url
    try {
      for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
        const order = {
          init,
          target: parseTarget(next),
          read: (it: Response) => redirectOrValue(it, read),
        }
        const found = await exchange(
          { ...withinPolicy(network, isPublicOnly), lastAddresses },
          order,
          limit.signal,
        )
        if (!('to' in found)) return 'result' in found ? downloadFailure(found, limitMs) : found
        if (!URL.canParse(found.to, next)) return { why: 'It redirects to no address.' }
        next = new URL(found.to, next).href
      }
      return { why: `It redirects more than ${REDIRECTS_MAX} times.` }
    } finally {
      limit.clear()
    }
  }
}

/** Returns the text at a URL; throws with the reason if there is none. */
export function createFetchText(download: Download): (url: string) => Promise<string> {
  return async (url) => {
    const found = await download(url, async (response) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of response.body ?? []) {
        chunks.push(chunk)
        if (Buffer.concat(chunks).length > 65_536) throw new Error(`${url} is too long.`)
      }
      return Buffer.concat(chunks).toString()
    })
    if ('why' in found) throw new Error(`${url} cannot be read. ${found.why}`)
    return found.value
  }
}

type RedirectOrValue<T> = { readonly to: string } | { readonly value: T } | DownloadFailure

async function redirectOrValue<T>(
  response: Response,
  read: (response: Response) => Promise<T>,
): Promise<RedirectOrValue<T>> {
  const to = response.headers.get('location')
  const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && to !== null
  const encoding = response.headers.get('content-encoding') ?? 'identity'
  if (response.status === 200 && encoding === 'identity') return { value: await read(response) }
  await response.body?.cancel()
  if (isRedirect) return { to }
  if (response.status === 200) return { why: `It answers in the encoding ${encoding}.` }
  const isPassing = response.status >= 500 || [408, 429].includes(response.status)
  return { why: `It answers ${response.status}.`, ...(isPassing && { isPassing }) }
}

function downloadFailure(failure: Failure, limitMs: number): DownloadFailure {
  const isPassing = true
  if (failure.result === 'unreachable') return { why: 'The relay has no network.', isPassing }
  const { error } = failure
  if (error === 'timeout')
    return { why: `It took more than ${limitMs / 1_000} seconds.`, isPassing }
  return { why: SENTENCES[error], ...(!PERMANENT.includes(error) && { isPassing }) }
}

const PERMANENT: readonly PostError[] = ['tls_error', 'forbidden_target', 'invalid_url']

const SENTENCES: Readonly<Record<Exclude<PostError, 'timeout'>, string>> = {
  connection_refused: 'Its host refuses the connection.',
  connection_reset: 'Its host closed the connection.',
  host_unreachable: 'Its host cannot be reached.',
  tls_error: 'Its certificate is not valid.',
  dns_error: 'Its host has no address.',
  forbidden_target: 'Its address is none that the relay may call.',
  invalid_url: 'It is no http or https URL.',
  network_error: 'The connection failed.',
  account_ended: 'Its key has ended.',
  replies_held: 'Its replies wait.',
}
