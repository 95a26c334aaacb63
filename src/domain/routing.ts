import type { LineId } from './ids.ts'
import type { Capabilities } from './line.ts'
import type { MessageExtras } from './message-extras.ts'

/** Lines that something is limited to; null without a limit. */
export type LineLimit = readonly LineId[] | null

export function includesLine(limit: LineLimit, id: string): boolean {
  return limit === null || limit.some((one) => one === id)
}

/** A line as routing sees it, in order of creation. */
export type RoutingLine = {
  readonly id: LineId
  /** Practice lines are not real: they take a message only where no real line could. */
  readonly isReal: boolean
  readonly isEnabled: boolean
  readonly isOnline: boolean
  /** Asked only of an online line. */
  readonly imessageActive: boolean
  /** True if this start asked for the line; always true of real ones. */
  readonly isConfigured: boolean
}

export type Route =
  | { readonly route: 'take'; readonly lineId: LineId }
  /** No line is online: it is queued on this one. */
  | { readonly route: 'queue'; readonly lineId: LineId }
  /** Every line that is available otherwise has spent its contacts of the day. */
  | { readonly route: 'full'; readonly lineId: LineId }
  | { readonly route: 'none' }

/** The recipient as each line sees them. */
export type RecipientView = {
  /** True if the line has written to them, or they to it. */
  readonly knowsContact: (id: LineId) => boolean
  /** True if the line may write to them today. */
  readonly hasBudget: (id: LineId) => boolean
  /** Number of new contacts that the line has had today. */
  readonly newContacts: (id: LineId) => number
  /** False where the message needs an ability that the line does not have. */
  readonly isAble: (id: LineId) => boolean
}

/**
 * The line for a message that names none. Online lines come before offline ones. Among them a contact
 * stays with the first line that knows it; a stranger goes by the line with the fewest new contacts
 * today, so that no line alone writes to all of them. Available = enabled, iMessage active, with budget,
 * configured, able to send such a message, and real where an enabled real line exists. `lines` are in
 * order of creation, which decides between equals.
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

/** The lines that a message without a line may take at all, whatever their state now. */
export function usableLines(lines: readonly RoutingLine[]): readonly RoutingLine[] {
  const enabled = lines.filter((line) => line.isEnabled && line.isConfigured)
  const real = enabled.filter((line) => line.isReal)
  return real.length > 0 ? real : enabled
}

/** An ability that a message asks of its line, named like the capability that decides. */
export type Need = 'attachments' | 'choose_service' | 'groups' | 'replies'

type Needy = { readonly extras: MessageExtras | null; readonly isGroup?: boolean | undefined }

const NO_NEEDS: readonly Need[] = []

/** A text to a person needs nothing. */
export function needsOf({ extras, isGroup = false }: Needy): readonly Need[] {
  if (extras === null && !isGroup) return NO_NEEDS
  const needs: Need[] = []
  if ((extras?.attachmentCount ?? 0) > 0) needs.push('attachments')
  if (extras?.wantedService !== undefined) needs.push('choose_service')
  if (isGroup) needs.push('groups')
  return needs
}

/** The first need beyond these abilities; null where the line can do all. */
export function unmetNeed(abilities: Capabilities, needs: readonly Need[]): Need | null {
  return needs.find((need) => !isMet(abilities, need)) ?? null
}

function isMet(abilities: Capabilities, need: Need): boolean {
  if (need === 'groups') return abilities.groups === 'reply'
  if (need === 'replies') return abilities.replies === 'send'
  return abilities[need]
}
