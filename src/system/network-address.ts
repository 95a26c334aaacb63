import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

import type { Clock } from './clock.ts'

/** What the resolver says of a name. `out_of_reach` means that nobody could be asked. */
export type LookupAnswer =
  | { readonly answer: 'addresses'; readonly addresses: readonly string[] }
  | { readonly answer: 'no_such_name' }
  | { readonly answer: 'out_of_reach' }

export type Lookup = (hostname: string) => Promise<LookupAnswer>

const CACHED_MS = 5_000
const CACHED_NAMES_MAX = 256

/** Asks the system; every address of the name, IPv4 first because few boxes route IPv6. */
export const systemLookup: Lookup = async (hostname) => {
  try {
    const found = await lookup(hostname, { all: true })
    const sorted = found.toSorted((a, b) => a.family - b.family)
    return { answer: 'addresses', addresses: sorted.map(({ address }) => address) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    return { answer: code === 'EAI_AGAIN' ? 'out_of_reach' : 'no_such_name' }
  }
}

/** Remembers the addresses of a name for five seconds, so that a burst asks once. */
export function cachedLookup(lookup: Lookup, clock: Clock): Lookup {
  const known = new Map<string, { readonly answer: LookupAnswer; readonly until: number }>()
  return async (hostname) => {
    const found = known.get(hostname)
    if (found !== undefined && found.until > clock.monotonic()) return found.answer
    const answer = await lookup(hostname)
    if (known.size >= CACHED_NAMES_MAX) known.clear()
    if (answer.answer === 'addresses') {
      known.set(hostname, { answer, until: clock.monotonic() + CACHED_MS })
    }
    return answer
  }
}

/** An IP literal of loopback; a name never is, whatever it looks like. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && /^(?:127\.|::1$|::ffff:127\.)/i.test(address)
}

/** An IP literal of this machine: loopback, or one of its interfaces'. */
export function isOwnAddress(address: string): boolean {
  if (isLoopbackAddress(address)) return true
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.some((own) => own.address === address)
}
