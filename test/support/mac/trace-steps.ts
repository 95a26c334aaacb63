// The words in which traces are written.

import type { RowValues, TraceStep } from './trace.ts'

/** The number of the line; traces and the model agree on it. */
export const OWN_NUMBER = '+15550009999'
export const FRIEND = '+15550001111'

export function insert(t: number, row: string, set: RowValues): TraceStep {
  return { t, op: 'insert', table: 'message', row, set }
}

export function update(t: number, row: string, set: RowValues): TraceStep {
  return { t, op: 'update', table: 'message', row, set }
}

export function join(t: number, row: string, chat = FRIEND): TraceStep {
  return { t, op: 'join', table: 'chat_message_join', row, chat }
}

/** A row as an inbound message has it once it is whole (beeper's real rows). */
export function inboundRow(t: number, text: string | null, more: RowValues = {}): RowValues {
  return {
    handle: FRIEND,
    body: text,
    date: { at: t },
    service: 'iMessage',
    account: `P:${OWN_NUMBER}`,
    destination_caller_id: OWN_NUMBER,
    is_from_me: 0,
    is_sent: 0,
    is_delivered: 1,
    is_finished: 1,
    ...more,
  }
}
