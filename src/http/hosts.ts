// The host names of this relay, and requests from this machine. They stop DNS rebinding: a foreign page whose
// name resolves to the relay's address sends a Host with that foreign name.

import { hostname } from 'node:os'

import type { Config } from '../config.ts'
import { addressRanges, isLoopbackAddress, isOwnAddress } from '../system/network-address.ts'
import type { Peer } from './request-context.ts'

export type Hosts = {
  /** This machine's name, for `<hostname>.local`. */
  readonly hostname: string
  /** The URL of the relay from other networks; null if it has none. */
  readonly publicUrl: string | null
  /** True for an IP address of this machine; false for names. */
  readonly isOwnAddress: (address: string) => boolean
  /** True for the IP address of a proxy whose forwarding headers the relay believes. */
  readonly isTrustedProxy: (address: string) => boolean
}

export function hostsOf({ publicUrl, trustedProxies }: Config): Hosts {
  const isTrustedProxy = addressRanges(trustedProxies)
  return { hostname: hostname(), publicUrl, isOwnAddress, isTrustedProxy }
}

const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?$/
/** Headers that proxies add to requests. */
const FORWARDING =
  /^(?:forwarded|via|cdn-loop|x-(?:forwarded|original|envoy)(?:-.+)?|x-(?:real|client)-ip|true-client-ip|.+-connecting-ip|.+-client-ip)$/

export function isOurHost(header: string | null, hosts: Hosts): boolean {
  const name = nameIn(header)
  if (name === null) return false
  if (isLoopbackName(name) || name === localName(hosts.hostname)) return true
  if (hosts.publicUrl !== null && nameIn(new URL(hosts.publicUrl).host) === name) return true
  return hosts.isOwnAddress(name)
}

/**
 * True if a program on this machine, other than a proxy, made the request. A proxy may add no header, so requests
 * of a trusted proxy never count, and none do if there is a public url, which implies a proxy.
 */
export function isLoopbackOnly(
  headers: Headers,
  peer: Peer,
  { publicUrl, isTrustedProxy }: Pick<Hosts, 'publicUrl' | 'isTrustedProxy'>,
): boolean {
  if (peer.isControl) return true
  if (peer.address === null || !isLoopbackAddress(peer.address)) return false
  if (publicUrl !== null || isTrustedProxy(peer.address)) return false
  if ([...headers.keys()].some((name) => FORWARDING.test(name))) return false
  const name = nameIn(headers.get('host'))
  return name !== null && isLoopbackName(name)
}

/**
 * True if browsers must use HTTPS: at a public url with https. With a port in that URL, other programs may use the
 * same name, and browsers would require HTTPS of them too.
 */
export function requiresTls({ publicUrl }: Pick<Hosts, 'publicUrl'>, headers: Headers): boolean {
  if (publicUrl === null) return false
  const { protocol, host, port } = new URL(publicUrl)
  return protocol === 'https:' && port === '' && nameIn(headers.get('host')) === nameIn(host)
}

/** The client's IP address. `X-Forwarded-For` counts only from trusted proxies. */
export function clientAddress(
  headers: Headers,
  peer: Peer,
  isTrustedProxy: (address: string) => boolean,
): string {
  if (peer.address === null) return 'control socket'
  if (!isTrustedProxy(peer.address)) return peer.address
  const hops = (headers.get('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim())
  return hops.findLast((hop) => hop !== '' && !isTrustedProxy(hop))?.slice(0, 45) ?? peer.address
}

/** True for a loopback IP address, and for `localhost`. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || isLoopbackAddress(name)
}

/** `<hostname>.local`. The host name may end with `.local` (macOS) or with a domain (other systems). */
export function localName(hostname: string): string {
  return `${hostname.toLowerCase().replace(/\..*$/, '')}.local`
}

/** The name in a `Host` header, without the port; null if the header is malformed or repeated. */
function nameIn(header: string | null): string | null {
  const match = HOST.exec((header ?? '').toLowerCase())
  const name = match?.[1] ?? match?.[2]
  return name === undefined ? null : name.replace(/\.$/, '')
}
