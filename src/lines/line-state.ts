import { OFFLINE_REASONS, type Line, type LineState, type OfflineReason } from '../domain/line.ts'
import type { Log } from '../system/log.ts'
import type { LineEvent } from './driver.ts'

export type OnlineEvent = Extract<LineEvent, { readonly type: 'online' }>

/** What is known of a line; `stateOf` says what follows. */
export type LineFacts = {
  /** Why a line of its kind has no device. */
  readonly absence: OfflineReason
  readonly isStopping: boolean
  /** Whether its device is there; null until the driver was asked. */
  readonly isFound: boolean | null
  /** The device's number where that is not the stored one. */
  readonly otherNumber: string | null
  /** What the driver said last, while a session lives and none before it has a send left. */
  readonly online: OnlineEvent | null
  /** Why the line went down last. */
  readonly downReason: OfflineReason | null
}

export function stateOf(facts: LineFacts): LineState {
  if (facts.isStopping) return offline(OFFLINE_REASONS.stopping)
  if (facts.isFound === false) {
    const { code, hint } = facts.absence
    return offline({ code, hint })
  }
  if (facts.otherNumber !== null) return offline(OFFLINE_REASONS.number_changed)
  if (facts.online === null) return offline(facts.downReason ?? OFFLINE_REASONS.starting)
  const { imessageActive, capabilities } = facts.online
  return { status: 'online', imessageActive, capabilities }
}

export function isSameState(a: LineState, b: LineState): boolean {
  if (a.status === 'offline') {
    return (
      b.status === 'offline' && a.reason.code === b.reason.code && a.reason.hint === b.reason.hint
    )
  }
  if (b.status === 'offline' || a.imessageActive !== b.imessageActive) return false
  const { new_contacts, choose_service, delivered, read, guid, attachments } = a.capabilities
  const other = b.capabilities
  return (
    new_contacts === other.new_contacts &&
    choose_service === other.choose_service &&
    delivered === other.delivered &&
    read === other.read &&
    guid === other.guid &&
    attachments === other.attachments
  )
}

/** Once when a line goes away, once when it is back; `error` is what it failed by. */
export function logState(log: Log, line: Line, state: LineState, error: Error | null): void {
  const fields = { line_id: line.id, driver: line.driver }
  if (state.status === 'online') {
    log.info('line is online', fields)
    return
  }
  const reason = state.reason.code
  if (error === null) log.info('line is offline', { ...fields, reason })
  else log.warn('line is offline', { ...fields, reason, error })
}

function offline(reason: OfflineReason): LineState {
  return { status: 'offline', reason }
}
