import type { RelayState } from '../../api/dashboard.ts'
import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import type { DayStats } from '../../api/stats.ts'
import type { StateWords } from '../components/drawings.ts'
import { isGroup } from '../people.ts'
import { momentWords } from '../time-words.ts'
import { countWords } from './common.ts'

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

/** The states of failed messages that a caller ended, by their error. */
const ENDED: Readonly<Record<string, StateWords>> = {
  canceled: { text: 'Canceled', tone: 'plain', icon: 'cross' },
  denied: { text: 'Denied', tone: 'plain', icon: 'cross' },
}

const QUEUED_REASONS: Readonly<Record<string, string>> = {
  approval: 'Waiting for approval.',
  quiet_hours: 'Quiet hours. It will be sent when they end.',
  earlier_message: 'Waiting for an earlier message to the same contact.',
  same_text_uncertain: 'Waiting until we know if the same text has already been sent.',
  daily_contact_limit:
    'The line has no new contacts left for today. It will be sent when the next day begins.',
  retry: "The last attempt didn't send anything. It will be retried automatically.",
  pacing: 'The line sends slowly on purpose, so that Apple does not flag it as automated.',
  clock_jumped: 'Waiting because the clock changed. See Home for details.',
  line_offline: 'The line is offline. It will be sent once the line is back.',
  line_disabled: 'Sending is turned off for this line. It will be sent once you turn it on.',
  storage_full: "The relay's disk is full. It will be sent once there is space.",
}

export function statusWords(status: string, error: Message['error'] = null): StateWords {
  const ended = status === 'failed' ? ENDED[error?.code ?? ''] : undefined
  return ended ?? STATUSES[status] ?? { text: status, tone: 'plain', icon: 'info' }
}

/** True if a caller canceled or denied the message, or marked it as failed. */
export function isEndedOnPurpose({ error }: Message): boolean {
  return error !== null && (error.code in ENDED || error.code === 'resolved_by_hand')
}

/** Only a report from the device could still change a settled status. */
function isSettled({ status }: Message): boolean {
  return status !== 'queued' && status !== 'sending'
}

/** Returns whether the device sent the message. */
export function hasLeft({ direction, status }: Message): boolean {
  return direction === 'outbound' && ['sent', 'delivered', 'read'].includes(status)
}

/** The reason why a message isn't sent or is uncertain; null if there is nothing to explain. */
export function whyNot({ status, queued_reason, send_at, error }: Message): string | null {
  if (queued_reason === 'scheduled') return `Scheduled for ${momentWords(send_at ?? '')}.`
  if (status === 'queued') return QUEUED_REASONS[queued_reason ?? ''] ?? null
  if (error) return error.message
  if (status !== 'uncertain') return null
  return "We handed this to the device but couldn't confirm it was sent."
}

/** The current state of a message that was sent again. */
export function againWords(message: Message): { readonly isBad: boolean; readonly text: string } {
  if (hasLeft(message)) return { isBad: false, text: 'Sent again as a new message.' }
  const why = whyNot(message)
  const isBad = isSettled(message)
  const state = isBad ? statusWords(message.status, message.error).text : 'Queued as a new message'
  return { isBad, text: why === null ? `${state}.` : `${state}: ${why}` }
}

/** Returns whether the recipient isn't on iMessage and the line can send SMS. */
export function goesAsSms({ error, handle }: Message, line: PhoneLine | undefined): boolean {
  const canSms = line?.capabilities.choose_service === true && handle.startsWith('+')
  return canSms && error?.code === 'not_on_imessage'
}

/** The requested service, or the switch to SMS; null if no service was requested. */
export function serviceWords({ service_requested, downgraded_at }: Message): string | null {
  if (downgraded_at !== undefined) return 'Not on iMessage, switched to SMS'
  if (service_requested === undefined) return null
  return service_requested === 'auto' ? 'Service: automatic' : `Requested as ${service_requested}`
}

/** The reason why nothing can be sent to a group; null if it can, and for a person. */
export function groupRefusal(conversation: Conversation, line: PhoneLine | null): string | null {
  if (!isGroup(conversation)) return null
  if (conversation.state === 'left') return 'This line is no longer in the group.'
  if (conversation.state === 'unreachable') return "The device can't find this group any more."
  if (line === null || line.status === 'offline' || line.capabilities.groups === 'reply')
    return null
  return "This line receives group messages but can't send them."
}

/** The relay's state, with today's messages once they are known. */
export function stateSentence({ lines, webhooks }: RelayState, today: DayStats | null): string {
  return `${[lines, ...(today === null ? [] : [messagesOf(today)]), webhooks].join(', ')}.`
}

function messagesOf({ sent, received, uncertain }: DayStats): string {
  const count = sent + received + uncertain
  return `${count === 0 ? 'no messages' : countWords(count, 'message')} today`
}
