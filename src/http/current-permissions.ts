// The permissions of a caller while its answer goes on: its key or session may end, and lines move between sites.

import { EVERYTHING, permissionsOf, type Permissions } from '../domain/permissions.ts'
import { keyIn } from './authentication.ts'
import type { Relay } from './relay.ts'
import { callerOf, contextOf, unauthorized } from './request-context.ts'

/** The caller's permissions as they are now; null if its key, session or member has ended since. */
export function permissionsNow(
  request: Request,
  { authenticate, access }: Pick<Relay, 'authenticate' | 'access'>,
): Permissions | null {
  const { caller, session } = contextOf(request)
  if (caller?.kind === 'key') return keyIn(request.headers, authenticate)?.permissions ?? null
  if (session === null) return permissionsOf(callerOf(request))
  if (!access.sessions.isOpen(session)) return null
  return session.memberId === null ? EVERYTHING : access.members.permissionsOf(session.memberId)
}

/** Throws if the caller has ended. */
export function requirePermissionsNow(
  request: Request,
  relay: Pick<Relay, 'authenticate' | 'access'>,
): Permissions {
  const permissions = permissionsNow(request, relay)
  if (permissions !== null) return permissions
  throw unauthorized()
}
