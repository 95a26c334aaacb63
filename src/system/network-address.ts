import { lookup } from 'node:dns/promises'
import { BlockList, connect, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

import type { Clock } from './clock.ts'

/** The answer of the resolver. `out_of_reach` means that no name server answered. */
export type LookupAnswer =
  | { readonly answer: 'addresses'; readonly addresses: readonly string[] }
  | { readonly answer: 'no_such_name' }
  | { readonly answer: 'out_of_reach' }

export type Lookup = (hostname: string) => Promise<LookupAnswer>

const CACHED_MS = 5_000
const CACHED_NAMES_MAX = 256

/** Returns every address of the name, IPv4 first because few boxes route IPv6. */
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

/** Keeps the addresses of a name for five seconds, so that a burst resolves once. */
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

/** The time to wait for a silent address before the next one is called. */
const HEAD_START_MS = 250

/**
 * The index of the first address that accepts a TCP connection, which is closed again. Each address is called when
 * the previous one has failed or been silent for a moment. Rejects with an AggregateError of all reasons, in order.
 */
export async function firstToConnect(
  addresses: readonly string[],
  port: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  const over = new AbortController()
  const ended = AbortSignal.any([signal, over.signal])
  let turn: Promise<unknown> = Promise.resolve()
  const calls = addresses.map((host, index) => {
    const called = turn.then(() => connected(host, port, ended)).then(() => index)
    const late = turn.then(() => clock.sleep(HEAD_START_MS, ended))
    turn = Promise.race([called.catch(() => {}), late])
    return called
  })
  try {
    return await Promise.any(calls)
  } finally {
    over.abort()
  }
}

async function connected(host: string, port: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw new Error('No longer needed.')
  const socket = connect({ host, port })
  const answer = Promise.withResolvers<void>()
  socket.on('connect', answer.resolve).on('error', answer.reject)
  const giveUp = () => answer.reject(new Error('It was silent.'))
  signal.addEventListener('abort', giveUp, { once: true })
  await answer.promise.finally(() => socket.destroy())
}

/** True if it is a loopback IP address; false for a name. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && /^(?:127\.|::1$|::ffff:127\.)/i.test(address)
}

/** A network interface of this machine, with one of its addresses. */
export type OwnAddress = { readonly interface: string; readonly address: string }

/** Addresses of this machine, without loopback. */
export function ownAddresses(): readonly OwnAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, list = []]) =>
    list.filter(({ internal }) => !internal).map(({ address }) => ({ interface: name, address })),
  )
}

/** True if it is an IP address of this machine: loopback, or of one of its interfaces. */
export function isOwnAddress(address: string): boolean {
  if (isLoopbackAddress(address)) return true
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.some((own) => own.address === address)
}

/** True if a connection to the host of a URL stays on this machine. */
async function isThisMachine(host: string, lookup: Lookup): Promise<boolean> {
  const address = host.replace(/^\[|\]$/g, '')
  if (/(?:^|\.)localhost\.?$/.test(host) || /^(?:0\.0\.0\.0|::)$/.test(address)) return true
  // A name that only a proxy can resolve isn't this machine.
  const found =
    isIP(address) === 0 ? await lookup(host) : { addresses: [address, networkOf(address)] }
  return 'addresses' in found && found.addresses.some(isOwnAddress)
}

/**
 * The variable in `environment` that names the proxy for a request to `url`; null if the request goes straight to
 * its host. Requests to this machine always do, because nobody else may see them.
 */
export async function proxyVariable(
  url: URL,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const names = [`${url.protocol.slice(0, -1)}_proxy`, 'all_proxy']
  const given = (name: string) => [name, name.toUpperCase()].find((it) => environment[it])
  const variable = names.flatMap((name) => given(name) ?? [])[0]
  if (variable === undefined || (await isThisMachine(url.hostname, systemLookup))) return null
  const spared = (environment[given('no_proxy') ?? ''] ?? '').split(',').map((name) => name.trim())
  const isSpared = (name: string) =>
    name === '*' || url.host === name || `.${url.hostname}`.endsWith(`.${name.replace(/^\./, '')}`)
  return spared.some((name) => name !== '' && isSpared(name)) ? null : variable
}

/**
 * The network of one customer: the IPv4 address itself, or the first 64 bits of an IPv6 address, because a customer
 * gets at least a /64. Any other text is returned unchanged.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) !== 6) return plain
  const groups = groupsOf(plain)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  const first = groups.slice(0, 4).map((group) => group.toString(16))
  return `${first.join(':')}::/64`
}

/** The eight numbers of an IPv6 address, which `URL` normalizes. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const read = (part = '') =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16))
  const [front, back] = [read(head), read(tail)]
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

/** Returns a test for IP addresses in `ranges`, which are addresses or networks such as `10.0.0.0/8`. */
export function addressRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
