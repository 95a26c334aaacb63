import { invalidRequest, type Issue } from '../domain/errors.ts'
import { EVENT_NAMES, type EventName } from '../domain/webhook.ts'
import { checkAddress, parseTarget, type TargetRules } from './targets.ts'

/** A caller's settings of a webhook; fields that are left out stay as they are. */
export type WebhookInput = {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  readonly isActive?: boolean | undefined
  readonly description?: string | null | undefined
}

export type CheckedInput = {
  readonly url?: string
  readonly events?: readonly EventName[]
  readonly isActive?: boolean
  readonly description?: string | null
}

const URL_LENGTH_MAX = 2_048
const DESCRIPTION_LENGTH_MAX = 500
const CONTROL_CHARACTER = /\p{Cc}/u

/** The input as it is stored; throws `invalid_request` with every field that does not fit. */
export function checkInput(input: WebhookInput, rules: TargetRules): CheckedInput {
  const { url, events, isActive, description } = input
  const issues: Issue[] = []
  const report = (path: string, message: string | null) => {
    if (message !== null) issues.push({ path, message })
  }
  if (url !== undefined) report('url', wrongUrl(url, rules))
  if (events !== undefined) report('events', wrongEvents(events))
  if ((description?.length ?? 0) > DESCRIPTION_LENGTH_MAX) {
    report('description', `must have at most ${DESCRIPTION_LENGTH_MAX} characters`)
  }
  if (issues.length > 0) throw invalidRequest(...issues)
  return {
    ...(url === undefined ? {} : { url: plainUrl(url) }),
    ...(events === undefined
      ? {}
      : { events: EVENT_NAMES.filter((name) => events.includes(name)) }),
    ...(isActive === undefined ? {} : { isActive }),
    ...(description === undefined ? {} : { description }),
  }
}

function wrongUrl(url: string, rules: TargetRules): string | null {
  if (url.length > URL_LENGTH_MAX) return `must have at most ${URL_LENGTH_MAX} characters`
  if (CONTROL_CHARACTER.test(url)) return 'must not contain control characters'
  const target = parseTarget(url)
  if (typeof target === 'string') return target
  if (target.address === null) return null
  const checked = checkAddress(target.address, target.port, rules)
  return checked.isAllowed ? null : `must not name an address that ${checked.why}`
}

/**
 * The url as it is called, so that it names the host which is called, however it was typed. A host
 * alone stays as it was sent, without a slash behind it.
 */
function plainUrl(text: string): string {
  const { origin, href } = new URL(text)
  return text === origin ? text : href
}

function wrongEvents(events: readonly string[]): string | null {
  if (events.length === 0) return 'must name at least one event'
  const known: readonly string[] = EVENT_NAMES
  const unknown = events.filter((name) => !known.includes(name))
  if (unknown.length === 0) return null
  return `must be of ${EVENT_NAMES.join(', ')}; unknown: ${unknown.slice(0, 5).join(', ')}`
}
