import type { LineId, SiteId } from './ids.ts'
import type { Capabilities } from './line.ts'
import type { MessageExtras } from './message-extras.ts'

/** The lines that something is limited to; null if there is no limit. */
export type LineLimit = readonly LineId[] | null

/**
 * A limit as its author named it: by lines, and by sites; null for no such limit. The lines that it allows now are
 * known only to the database (`linesWithin`), because lines move between sites.
 */
export type LineLimits = { readonly lineIds: LineLimit; readonly siteIds: readonly SiteId[] | null }

export const ALL_LINES: LineLimits = { lineIds: null, siteIds: null }

/** True if the first limit allows nothing that the second one doesn't, wherever the lines move. */
export function isNarrower(asked: LineLimits, own: LineLimits): boolean {
  return isSubset(asked.lineIds, own.lineIds) && isSubset(asked.siteIds, own.siteIds)
}

/** The limit as answers show it; empty without one. */
export function lineLimitFields({ lineIds, siteIds }: LineLimits) {
  return {
    ...(lineIds === null ? {} : { phone_line_ids: lineIds }),
    ...(siteIds === null ? {} : { site_ids: siteIds }),
  }
}

/** True if `own` has every id of `asked`. Null stands for all ids. */
export function isSubset(asked: readonly string[] | null, own: readonly string[] | null): boolean {
  if (own === null) return true
  return asked !== null && asked.every((id) => own.includes(id))
}

/** True if there is no limit, or the line is within it. */
export function includesLine(limit: LineLimit, id: string): boolean {
  return limit === null || limit.some((one) => one === id)
}

/** A line as routing sees it. */
export type RoutingLine = {
  readonly id: LineId
  /** False for a practice line, which takes a message only if there is no enabled real line. */
  readonly isReal: boolean
  readonly isEnabled: boolean
  readonly isOnline: boolean
  /** Only meaningful for an online line. */
  readonly imessageActive: boolean
  /** True if this start's options include the line; always true for a real one. */
  readonly isConfigured: boolean
}

export type Route =
  | { readonly route: 'take'; readonly lineId: LineId }
  /** No line is online; the message is queued on this one. */
  | { readonly route: 'queue'; readonly lineId: LineId }
  /** Every line that is otherwise available has reached its daily limit of new contacts. */
  | { readonly route: 'full'; readonly lineId: LineId }
  | { readonly route: 'none' }

/** The facts that each line knows about the recipient. */
export type RecipientView = {
  /** True if the line has written to them, or they to it. */
  readonly knowsContact: (id: LineId) => boolean
  /** True if the line may write to them today. */
  readonly hasBudget: (id: LineId) => boolean
  /** The number of new contacts that the line has had today. */
  readonly newContacts: (id: LineId) => number
  /** True if the line has every ability that the message needs. */
  readonly isAble: (id: LineId) => boolean
}

/**
 * The line for a message that names none. Online lines come before offline ones. Among them, a contact stays with
 * the first line that knows it; a new contact goes to the line with the fewest new contacts today, so that no
 * line gets all of them. A line must be enabled, configured, within its daily limit, able to send such a message,
 * have iMessage active, and be real if an enabled real line exists. `lines` are in order of creation, which
 * decides ties.
 */
export function chooseLine(lines: readonly RoutingLine[], recipient: RecipientView): Route {
  const usable = usableLines(lines).filter((line) => recipient.isAble(line.id))
  const first = usable[0]
  if (first === undefined) return { route: 'none' }

  const active = usable.filter((line) => !line.isOnline || line.imessageActive)
  const withBudget = active.filter((line) => recipient.hasBudget(line.id))
  const online = bestOf(
    withBudget.filter((line) => line.isOnline),
    recipient,
  )
  if (online !== null) return { route: 'take', lineId: online }
  const waiting = bestOf(withBudget, recipient)
  if (waiting !== null) return { route: 'queue', lineId: waiting }
  const full = active[0]
  if (full !== undefined) return { route: 'full', lineId: full.id }
  return { route: 'queue', lineId: first.id }
}

function bestOf(lines: readonly RoutingLine[], recipient: RecipientView): LineId | null {
  const [first] = lines
  if (first === undefined || lines.length === 1) return first?.id ?? null
  const knowing = lines.find((line) => recipient.knowsContact(line.id))
  if (knowing !== undefined) return knowing.id
  const counts = lines.map((line) => recipient.newContacts(line.id))
  return lines[counts.indexOf(Math.min(...counts))]?.id ?? null
}

/** The lines that a message without a line may take at all, whatever their present state. */
export function usableLines(lines: readonly RoutingLine[]): readonly RoutingLine[] {
  const enabled = lines.filter((line) => line.isEnabled && line.isConfigured)
  const real = enabled.filter((line) => line.isReal)
  return real.length > 0 ? real : enabled
}

/** An ability that a message needs of its line, named like the capability. */
export type Need = 'attachments' | 'choose_service' | 'groups' | 'replies'

/** The abilities that a message needs; none for a text to one person. */
export function needsOf({
  extras,
  isGroup = false,
}: {
  readonly extras: MessageExtras | null
  readonly isGroup?: boolean | undefined
}): readonly Need[] {
  const needs: Need[] = []
  if ((extras?.attachmentCount ?? 0) > 0) needs.push('attachments')
  if (extras?.wantedService !== undefined) needs.push('choose_service')
  if (isGroup) needs.push('groups')
  return needs
}

/** The first need that these abilities don't meet, if any. */
export function unmetNeed(abilities: Capabilities, needs: readonly Need[]): Need | null {
  return needs.find((need) => !isMet(abilities, need)) ?? null
}

function isMet(abilities: Capabilities, need: Need): boolean {
  if (need === 'groups') return abilities.groups === 'reply'
  if (need === 'replies') return abilities.replies === 'send'
  return abilities[need]
}
