// Rules for webhook targets. A relay at home has its receivers on its own machine and network, so these are allowed
// unless the setting says `public`. Always forbidden, however IPv6 wraps them, are link-local addresses, metadata
// services, addresses that belong to no single host, and the relay's own listener, except for the test inbox.

import { isIP } from 'node:net'

import { inboxToken } from '../domain/webhook-url.ts'
import { memoize } from '../system/memoize.ts'
import { addressRanges } from '../system/network-address.ts'

export type TargetPolicy = 'any-private' | 'public'

export type TargetRules = {
  readonly policy: () => TargetPolicy
  readonly isOwnListener: (address: string, port: number) => boolean
}

export function publicOnly(rules: TargetRules): TargetRules {
  return { ...rules, policy: () => 'public' }
}

export type Target = {
  readonly url: URL
  readonly hostname: string
  readonly port: number
  /** The literal address in the URL, or null for a host name. */
  readonly address: string | null
}

type Kind = 'public' | 'private' | 'forbidden'

const DESTINATIONS_MAX = 1_000

/** The target of a URL, or a sentence that says what is wrong. */
export function parseTarget(text: string): Target | string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'must be an absolute http or https URL'
  }
  if (url.username !== '' || url.password !== '') return 'must not carry a user or password'
  if (url.port === '0') return 'must name a port from 1 to 65535'
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return { url, hostname, port, address: isIP(hostname) === 0 ? null : hostname }
}

/** Checks an address, in any spelling, before the relay connects to it. */
export function checkAddress(
  address: string,
  { port, url }: Pick<Target, 'port' | 'url'>,
  rules: TargetRules,
):
  | { readonly isAllowed: true; readonly isPrivate: boolean }
  | { readonly isAllowed: false; readonly why: string } {
  const destinations = destinationsOf(address)
  if (destinations.length === 0) return { isAllowed: false, why: 'is not an IP address' }
  if (destinations.some(({ plainAddress }) => rules.isOwnListener(plainAddress, port))) {
    if (inboxToken(url.href) !== null) return { isAllowed: true, isPrivate: true }
    return { isAllowed: false, why: 'is where the relay itself listens' }
  }
  if (destinations.some(({ kind }) => kind === 'forbidden')) {
    return { isAllowed: false, why: 'is link-local, a metadata service, or no single host' }
  }
  const isPrivate = destinations.some(({ kind }) => kind === 'private')
  if (isPrivate && rules.policy() === 'public') {
    return { isAllowed: false, why: 'is private, and only public targets are allowed' }
  }
  return { isAllowed: true, isPrivate }
}

/** The first matching range decides. */
const RANGES = rangesOf([
  ['100.100.100.200/32', 'forbidden'],
  ['0.0.0.0/8', 'forbidden'],
  ['169.254.0.0/16', 'forbidden'],
  ['192.0.0.192/32', 'forbidden'],
  ['224.0.0.0/3', 'forbidden'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'private'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'private'],
  ['192.0.2.0/24', 'private'],
  ['192.88.99.0/24', 'private'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'private'],
  ['198.51.100.0/24', 'private'],
  ['203.0.113.0/24', 'private'],
  ['fd00:ec2::254/128', 'forbidden'],
  ['fd20:ce::254/128', 'forbidden'],
  ['::1/128', 'private'],
  ['fc00::/7', 'private'],
  ['fec0::/10', 'private'],
  ['2001:db8::/32', 'private'],
  ['2001::/23', 'private'],
  ['3fff::/20', 'private'],
  ['2000::/3', 'public'],
])

/** Positions in an IPv6 address at which an IPv4 address may be. */
const AT_END = [12, 13, 14, 15]
const AFTER_2002 = [2, 3, 4, 5]
/** After a prefix of 48, 56, 64 or 96 bits (RFC 6052); byte 8 is skipped. */
const AFTER_ANY_PREFIX = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], AT_END]

type Wrapper = {
  readonly holds: (address: string) => boolean
  readonly positions: readonly (readonly number[])[]
  readonly mask: number
}

/** IPv6 forms that contain an IPv4 address. */
const WRAPPERS: readonly Wrapper[] = [
  wrapper('::ffff:0:0/96', [AT_END]),
  wrapper('::ffff:0:0:0/96', [AT_END]),
  wrapper('64:ff9b::/96', [AT_END]),
  // Each network chooses its own prefix within this one.
  wrapper('64:ff9b:1::/48', AFTER_ANY_PREFIX),
  wrapper('2002::/16', [AFTER_2002]),
  // Teredo inverts the client's address.
  wrapper('2001::/32', [AT_END], 0xff),
]

/** The destinations of an address; some forms have several. Every post asks for the same few. */
const destinationsOf = memoize(DESTINATIONS_MAX, (address) => {
  const inner = innermost(address.replace(/%.*$/, ''))
  return inner.map((plainAddress) => ({ plainAddress, kind: kindOf(plainAddress) }))
})

function kindOf(address: string): Kind {
  const otherwise = isIP(address) === 4 ? 'public' : 'forbidden'
  return RANGES.find(({ holds }) => holds(address))?.kind ?? otherwise
}

/** The IPv4 addresses inside an IPv6 address, or the address itself in its usual spelling; none for another text. */
function innermost(address: string): readonly string[] {
  if (isIP(address) !== 6) return isIP(address) === 4 ? [address] : []
  const usual = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const bytes = bytesOf(usual)
  const found = WRAPPERS.find(({ holds }) => holds(usual))
  if (found !== undefined) {
    const { positions, mask } = found
    const carried = positions.map((at) => at.map((i) => (bytes[i] ?? 0) ^ mask))
    // An address that begins with zero is padding, unless there is no other.
    const real = carried.filter(([first]) => first !== 0)
    return (real.length === 0 ? carried : real).map((four) => four.join('.'))
  }
  const isCompatible = bytes.subarray(0, 12).every((byte) => byte === 0) && bytes[12] !== 0
  return [isCompatible ? bytes.subarray(12).join('.') : usual]
}

/** The 16 bytes of an IPv6 address in its usual spelling. */
function bytesOf(address: string): Uint8Array {
  const [front = '', back = ''] = address
    .split('::')
    .map((half) => half.replaceAll(/\w+:?/g, (group) => group.replace(':', '').padStart(4, '0')))
  return Uint8Array.fromHex(front.padEnd(32 - back.length, '0') + back)
}

function rangesOf(table: readonly (readonly [string, Kind])[]) {
  return table.map(([range, kind]) => ({ holds: addressRanges([range]), kind }))
}

function wrapper(range: string, positions: Wrapper['positions'], mask = 0): Wrapper {
  return { holds: addressRanges([range]), positions, mask }
}
