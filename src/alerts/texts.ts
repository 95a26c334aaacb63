// The owner's phone as a channel: a message from one of the relay's own lines.

import { RelayError, invalidRequest } from '../domain/errors.ts'
import { isSamePerson, understandRecipient, commonHome, type Handle } from '../domain/handle.ts'
import type { LineId, MessageId } from '../domain/ids.ts'
import { OPTED_OUT } from '../domain/opt-out.ts'
import type { LineLimits } from '../domain/routing.ts'
import type { AlertRow } from '../storage/alerts.ts'
import type { Tx } from '../storage/database.ts'
import type { AlertLine } from './causes.ts'
import type { Deliver } from './notices.ts'

/** Accepts a message in the transaction of `also`. Throws RelayError if it is refused. */
export type AcceptText = (
  text: {
    readonly to: Handle
    readonly text: string
    readonly limits: LineLimits
    readonly idempotencyKey: string
  },
  also: (tx: Tx, id: MessageId) => void,
) => Promise<void>

/** Permanent refusals. */
const FINAL: readonly string[] = [OPTED_OUT, 'invalid_recipient']

/** The phone that a person wrote. Throws if it isn't a number, or is one of the relay's own lines. */
export function phoneFor(written: string, lines: readonly AlertLine[]): Handle {
  const numbers = lines.map(({ line }) => line.number)
  const understood = understandRecipient(written, commonHome(numbers))
  if (!('handle' in understood)) throw invalidRequest({ path: 'to', message: understood.why })
  if (understood.handle.includes('@')) {
    throw invalidRequest({ path: 'to', message: 'must be a phone number' })
  }
  if (isOwn(understood.handle, lines)) {
    const message =
      "is the number of one of the relay's own lines: if that line fails, nobody would read it"
    throw invalidRequest({ path: 'to', message })
  }
  return understood.handle
}

function isOwn(handle: Handle, lines: readonly AlertLine[]): boolean {
  return lines.some(({ line }) => isSamePerson(line.number, handle, null))
}

/** Sends texts by lines that are online and aren't what the alert is about. */
export function createTexts(given: {
  readonly lines: () => readonly AlertLine[]
  readonly accept: AcceptText
}): Deliver {
  return async ({ channel, notice, said, about, handOver }) => {
    const { handle, lineId } = channel
    const lines = given.lines()
    if (handle === null || isOwn(handle, lines)) return { result: 'fail', error: 'own_number' }
    const lineIds = sendersOf(lines, about).filter((id) => lineId === null || id === lineId)
    if (lineIds.length === 0) return { result: 'wait', error: 'no_line' }
    const order = {
      to: handle,
      text: `${said.title}\n${said.text}`,
      limits: { lineIds, siteIds: null },
      idempotencyKey: `alert ${notice.id}`,
    }
    try {
      await given.accept(order, (tx, messageId) => handOver(tx, { messageId }))
    } catch (error) {
      const isFinal = error instanceof RelayError && FINAL.includes(error.code)
      if (isFinal) return { result: 'fail', error: error.code }
      throw error
    }
    return { result: 'handed_over' }
  }
}

/** A practice line sends nothing to anybody, so it counts only if there is no real line. */
function sendersOf(lines: readonly AlertLine[], about: readonly AlertRow[]): readonly LineId[] {
  const enabled = lines.filter(({ line }) => line.isEnabled)
  const hasReal = enabled.some(({ isReal }) => isReal)
  const off = about.filter(({ cause, resolvedAt }) => cause === 'line_off' && resolvedAt === null)
  return enabled
    .filter(({ isReal, state }) => {
      return isReal === hasReal && state.status === 'online' && state.imessageActive
    })
    .flatMap(({ line }) => (off.some(({ lineId }) => lineId === line.id) ? [] : [line.id]))
}
