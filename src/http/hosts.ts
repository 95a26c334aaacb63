// Which Host names are ours, and who is on this machine. A page in the owner's browser whose name is
// rebound to our address comes with a Host that is not ours.

import { isLoopbackAddress } from '../system/network-address.ts'
import type { Peer } from './request-context.ts'

export type HostOptions = {
  /** This machine's name, as in `<hostname>.local`. */
  readonly hostname: string
  /** The address under which the relay is reached from elsewhere, where there is one. */
  readonly publicUrl: string | null
  /** Tells an IP literal of this machine from everything else, names included. */
  readonly isOwnAddress: (address: string) => boolean
}

/** How a request may have come here. */
export type SchemeOptions = {
  readonly hosts: Pick<HostOptions, 'publicUrl'>
  readonly isTrustedProxy: (address: string) => boolean
}

const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?$/
/** The headers by which proxies say that they pass something on. */
const FORWARDING =
  /^(?:forwarded|via|cdn-loop|x-(?:forwarded|original|envoy)(?:-.+)?|x-(?:real|client)-ip|true-client-ip|.+-connecting-ip|.+-client-ip)$/

/** Whether a `Host` header names this relay. */
export function isOurHost(header: string | null, options: HostOptions): boolean {
  const name = nameIn(header)
  if (name === null) return false
  if (isLoopbackName(name) || name === localName(options.hostname)) return true
  if (options.publicUrl !== null && nameIn(new URL(options.publicUrl).host) === name) return true
  return options.isOwnAddress(name)
}

/**
 * Whether a request was made on this machine, to this machine, by nobody else's errand. A proxy need not
 * say that it passes something on: a trusted one never counts, and where a public url tells of one,
 * loopback alone proves nothing.
 */
export function isLoopbackOnly(headers: Headers, peer: Peer, options: SchemeOptions): boolean {
  if (peer.isControl) return true
  if (peer.address === null || !isLoopbackAddress(peer.address)) return false
  if (options.hosts.publicUrl !== null || options.isTrustedProxy(peer.address)) return false
  if ([...headers.keys()].some((name) => FORWARDING.test(name))) return false
  const name = nameIn(headers.get('host'))
  return name !== null && isLoopbackName(name)
}

/**
 * Whether browsers shall come by HTTPS only: to a public url with https. One with a port of its own shares
 * its name with other programs, which they would then ask by HTTPS too.
 */
export function requiresTls({ publicUrl }: SchemeOptions['hosts'], headers: Headers): boolean {
  if (publicUrl === null) return false
  const { protocol, host, port } = new URL(publicUrl)
  return protocol === 'https:' && port === '' && nameIn(headers.get('host')) === nameIn(host)
}

/** Whom a request comes from: `X-Forwarded-For` counts only from trusted proxies. */
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

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || isLoopbackAddress(name)
}

/** `<hostname>.local`; macOS tells its host name with that ending already, others with a domain. */
export function localName(hostname: string): string {
  return `${hostname.toLowerCase().replace(/\..*$/, '')}.local`
}

/** The name in a `Host` header without its port; null where it is malformed, or came twice. */
function nameIn(header: string | null): string | null {
  const match = HOST.exec((header ?? '').toLowerCase())
  const name = match?.[1] ?? match?.[2]
  return name === undefined ? null : name.replace(/\.$/, '')
}
