// How a message is told: its status, why it waits, who sent it.

import type { StateWords } from './components/tone.ts'
import type { Message } from './resources.ts'

const STATUSES: Readonly<Record<string, StateWords>> = {
  queued: { text: 'Queued', tone: 'wait', icon: 'clock' },
  sending: { text: 'Sending', tone: 'wait', icon: 'send' },
  sent: { text: 'Sent', tone: 'plain', icon: 'check' },
  delivered: { text: 'Delivered', tone: 'plain', icon: 'checks' },
  read: { text: 'Read', tone: 'ok', icon: 'eye' },
  failed: { text: 'Failed', tone: 'bad', icon: 'cross' },
  expired: { text: 'Expired', tone: 'bad', icon: 'clock' },
  uncertain: { text: 'Uncertain', tone: 'warn', icon: 'question' },
  received: { text: 'Received', tone: 'plain', icon: 'arrow-in' },
}

const WAITS: Readonly<Record<string, string>> = {
  earlier_message: 'It waits for an earlier message to the same person.',
  same_text_uncertain:
    'It waits, because nobody can say yet whether the same text has already left.',
  daily_contact_limit:
    'The line has no new contacts left for today. It goes out after midnight UTC.',
  retry: 'The last try did not send it, and nothing of it left. It is tried again by itself.',
  pacing: 'The line sends slowly on purpose, so that it is not taken for a machine.',
  clock_jumped: 'It waits until it is certain how long it has waited: see Health.',
  line_offline: 'The line is offline. It goes out as soon as the line is back.',
  line_disabled: 'The line is switched off. It goes out when the line is switched on.',
  storage_full: "The relay's disk is full. It goes out when there is room again.",
}

const SOURCES: Readonly<Record<string, string>> = {
  api: 'API',
  cli: 'Command line',
  dashboard: 'Dashboard',
  device: 'Typed on the device',
}

export function statusWords(status: string): StateWords {
  return STATUSES[status] ?? { text: status, tone: 'plain', icon: 'info' }
}

export function sourceWords(source: string): string {
  return SOURCES[source] ?? source
}

/** Whether no more becomes of it, short of proof from the device. */
export function isSettled({ status }: Message): boolean {
  return status !== 'queued' && status !== 'sending'
}

/** Whether the device sent it, or the recipient has it. */
export function hasLeft({ direction, status }: Message): boolean {
  return direction === 'outbound' && ['sent', 'delivered', 'read'].includes(status)
}

/** Why the message is not on its way, in a sentence; null where there is nothing to explain. */
export function whyNot({ status, queued_reason, error }: Message): string | null {
  if (status === 'queued') return WAITS[queued_reason ?? ''] ?? null
  if (status === 'uncertain') {
    return error?.message ?? 'It was handed to the device, and nobody can say whether it left.'
  }
  return error?.message ?? null
}
