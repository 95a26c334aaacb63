// Rules for webhook targets. A relay at home has its receivers on its own machine and network, so these are allowed
// unless the setting says `public`. Always forbidden, however IPv6 wraps them, are link-local addresses, metadata
// services, addresses that belong to no single host, and the relay's own listener, except for the test inbox.

import { inboxToken } from '../domain/webhook-url.ts'
import { memoize } from '../system/memoize.ts'

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
type Range = { readonly prefix: Uint8Array; readonly bits: number; readonly kind: Kind }

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
  return { url, hostname, port, address: bytesOf(hostname) === null ? null : hostname }
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
const V4_RANGES = rangesOf([
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
])

const V6_RANGES = rangesOf([
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
  readonly range: Range
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
  const bytes = bytesOf(address.replace(/%.*$/, ''))
  const inner = bytes === null ? [] : innermost(bytes)
  return inner.map((one) => ({ plainAddress: textOf(one), kind: kindOf(one) }))
})

function kindOf(bytes: Uint8Array): Kind {
  const ranges = bytes.length === 4 ? V4_RANGES : V6_RANGES
  const otherwise = bytes.length === 4 ? 'public' : 'forbidden'
  return ranges.find((range) => holds(range, bytes))?.kind ?? otherwise
}

/** The IPv4 addresses inside an IPv6 address, or the address itself. */
function innermost(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length === 4) return [bytes]
  const found = WRAPPERS.find(({ range }) => holds(range, bytes))
  if (found !== undefined) {
    const { positions, mask } = found
    const carried = positions.map((at) => Uint8Array.from(at, (i) => (bytes[i] ?? 0) ^ mask))
    // An address that begins with zero is padding, unless there is no other.
    const real = carried.filter(([first]) => first !== 0)
    return real.length === 0 ? carried : real
  }
  const isCompatible = bytes.subarray(0, 12).every((byte) => byte === 0) && bytes[12] !== 0
  return [isCompatible ? bytes.slice(12) : bytes]
}

/** The 4 or 16 bytes of an address, or null if the text isn't one. `URL` parses every IPv6 spelling. */
function bytesOf(text: string): Uint8Array | null {
  if (/^[0-9]+(\.[0-9]+){3}$/.test(text)) {
    const parts = text.split('.').map(Number)
    return parts.every((part) => part <= 255) ? Uint8Array.from(parts) : null
  }
  if (!text.includes(':') || !URL.canParse(`http://[${text}]`)) return null
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const left = groupsOf(head)
  const right = groupsOf(tail ?? '')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0)
  const groups = [...left, ...zeros, ...right]
  return Uint8Array.from(groups.flatMap((group) => [group >>> 8, group & 0xff]))
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  )
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

function holds({ prefix, bits }: Range, bytes: Uint8Array): boolean {
  if (prefix.length !== bytes.length) return false
  return prefix.every((byte, i) => {
    const left = Math.min(Math.max(bits - 8 * i, 0), 8)
    const mask = 0xff & (0xff << (8 - left))
    return (byte & mask) === ((bytes[i] ?? 0) & mask)
  })
}

function rangesOf(table: readonly (readonly [string, Kind])[]): readonly Range[] {
  return table.map(([cidr, kind]) => rangeOf(cidr, kind))
}

function rangeOf(cidr: string, kind: Kind): Range {
  const [address = '', bits = ''] = cidr.split('/')
  return { prefix: bytesOf(address) ?? new Uint8Array(), bits: Number(bits), kind }
}

function wrapper(cidr: string, positions: Wrapper['positions'], mask = 0): Wrapper {
  return { range: rangeOf(cidr, 'public'), positions, mask }
}
