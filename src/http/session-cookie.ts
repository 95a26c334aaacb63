// The cookie of a dashboard session. No script can read it, and no other site makes a browser send it.

import { SESSION_LIFE_MS } from '../access/sessions.ts'
import type { Peer } from './exchange.ts'
import type { SchemeOptions } from './hosts.ts'

const NAME = 'hookline_session'
/** A browser takes this name from HTTPS only, for this host only, and for all of its paths. */
const NAME_IF_SECURE = `__Host-${NAME}`
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/**
 * Whether the browser came by HTTPS: a trusted proxy says so, or it asked for the host of a public url
 * that begins with https. The relay itself speaks HTTP only.
 */
export function isSecure(headers: Headers, peer: Peer, options: SchemeOptions): boolean {
  const { hosts, isTrustedProxy } = options
  const [scheme = ''] = (headers.get('x-forwarded-proto') ?? '').split(',')
  const isProxy = peer.address !== null && isTrustedProxy(peer.address)
  if (isProxy && scheme.trim().toLowerCase() === 'https') return true
  if (hosts.publicUrl === null) return false
  const { protocol, host } = new URL(hosts.publicUrl)
  return protocol === 'https:' && headers.get('host')?.toLowerCase() === host
}

/** The token in the cookie of this scheme; null where there is none. */
export function tokenIn(headers: Headers, isSecure: boolean): string | null {
  const start = `${nameFor(isSecure)}=`
  const parts = (headers.get('cookie') ?? '').split(';').map((part) => part.trim())
  const value = parts.find((part) => part.startsWith(start))?.slice(start.length) ?? ''
  return TOKEN.test(value) ? value : null
}

/** What `Set-Cookie` says: seven days from now on, or with null that it is over. */
export function cookieFor(token: string | null, isSecure: boolean): string {
  const seconds = token === null ? 0 : SESSION_LIFE_MS / 1_000
  const parts = [`${nameFor(isSecure)}=${token ?? ''}`, 'Path=/', `Max-Age=${seconds}`]
  return [...parts, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].join('; ')
}

function nameFor(isSecure: boolean): string {
  return isSecure ? NAME_IF_SECURE : NAME
}
