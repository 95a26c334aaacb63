// Rights of a browser's session, by the rows of the operations: what a member may do, and which operations need
// the password within the last hour, so that a stolen session can't call them.

import type { Operation } from '../api/operation.ts'
import { RelayError } from '../domain/errors.ts'
import type { Attempt, Guard } from './bind.ts'
import type { Relay } from './relay.ts'
import { contextOf } from './request-context.ts'

type PasswordRule = Extract<Operation, { readonly password: string }>['password']

type Fields = Readonly<Record<string, unknown>>

/** Makes the guard that throws if the session may not call an operation, or must give the password first. */
export function sessionGuard(given: Pick<Relay, 'fakeBindings' | 'lines' | 'webhooks'>): Guard {
  const { fakeBindings, webhooks, lines } = given
  const asksForPassword = (rule: PasswordRule, { params, body }: Attempt): boolean => {
    switch (rule) {
      case 'no':
        return false
      case 'yes':
        return true
      case 'if it leads elsewhere':
        return leadsElsewhere(webhooks, String(params['id']), fieldsOf(body))
      case 'if it opens the line':
        return opensLine(lines, String(params['id']), fieldsOf(body))
    }
  }
  return (operation, attempt) => {
    if (!('member' in operation)) throw ownersAlone()
    const { session } = contextOf(attempt.request)
    if (session !== null && session.memberId !== null && operation.member === 'no')
      throw ownersAlone()
    if (fakeBindings !== null || !asksForPassword(operation.password, attempt)) return
    if (session !== null && session.elevatedUntil !== null) return
    const message = 'Enter the password again: the last time was more than an hour ago.'
    throw new RelayError('password_needed', message)
  }
}

function ownersAlone(): RelayError {
  return new RelayError('forbidden', 'Only the owner of this relay may do this.')
}

/** True if a change sends events to another URL or activates the webhook. Throws `not_found`. */
function leadsElsewhere(webhooks: Relay['webhooks'], id: string, body: Fields): boolean {
  const webhook = webhooks.get(id)
  const isMoved = body['url'] !== undefined && body['url'] !== webhook.url
  return isMoved || (body['is_active'] === true && !webhook.is_active)
}

/** True if a change allows more new contacts a day, relays SMS (with their one-time codes) or groups, or moves it. */
function opensLine(lines: Relay['lines'], id: string, body: Fields): boolean {
  const line = lines.list().find((one) => one.id === id)
  if (line === undefined) return false
  const isRaised = Number(body['daily_contact_limit'] ?? 0) > line.daily_contact_limit
  const isRelayed = body['relay_sms'] === true && !line.relay_sms
  const isMoved = body['site_id'] !== undefined && body['site_id'] !== (line.site_id ?? null)
  if (isMoved) return true
  return isRaised || isRelayed || (body['relay_groups'] === true && line.relay_groups !== true)
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
