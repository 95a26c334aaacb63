// What the owner is alerted of, and how an alert is written.

import type { FindingCode } from './finding-codes.ts'
import { countWords, durationWords } from './number-words.ts'

type CauseRow = {
  /** Minutes that the cause must last before the owner is alerted, unless the owner chooses another time. */
  readonly afterMinutes: number
  /** The findings that show the cause; empty if it isn't read from findings. */
  readonly codes: readonly FindingCode[]
  readonly sentence: string
}

/** Every cause of alerts. A new one needs a row here, and its text in the guide. */
export const ALERT_CAUSES = {
  line_off: {
    afterMinutes: 5,
    codes: ['line_offline', 'imessage_off', 'imessage_not_connected', 'messages_signed_out'],
    sentence: 'A phone line cannot send.',
  },
  webhook_failing: {
    afterMinutes: 10,
    codes: [
      'webhook_failing',
      'webhook_out_of_reach',
      'webhook_gone',
      'webhook_deactivated',
      'webhook_secret_unreadable',
    ],
    sentence: 'The events of a webhook do not arrive.',
  },
  approval_waiting: {
    afterMinutes: 15,
    codes: [],
    sentence: 'A message waits for an approval.',
  },
  disk: {
    afterMinutes: 5,
    codes: ['storage_full', 'box_storage_full'],
    sentence: 'A disk is almost full.',
  },
  certificate: {
    afterMinutes: 10,
    codes: ['certificate_expires', 'certificate_not_renewed'],
    sentence: 'The certificate expires soon.',
  },
  backup: {
    afterMinutes: 10,
    codes: ['backup_failed'],
    sentence: 'The daily backup fails.',
  },
  alerts_not_delivered: {
    afterMinutes: 15,
    codes: ['alerts_not_delivered'],
    sentence: 'An alert reached nobody.',
  },
} as const satisfies Readonly<Record<string, CauseRow>>

export type AlertCause = keyof typeof ALERT_CAUSES

// The keys of the table are its names.
export const ALERT_CAUSE_NAMES = Object.keys(ALERT_CAUSES) as readonly AlertCause[]

/** The cause that a finding belongs to, or null. */
export function causeOfFinding(code: string): AlertCause | null {
  const isOf = (name: AlertCause) => ALERT_CAUSES[name].codes.some((one) => one === code)
  return ALERT_CAUSE_NAMES.find(isOf) ?? null
}

export const CHANNEL_KINDS = ['text', 'post'] as const
export const POST_FORMS = ['ntfy', 'apprise'] as const
export type PostForm = (typeof POST_FORMS)[number]

/** A `summary` is sent at the end of an hour in which the channel reached its limit of notices. */
export const NOTICE_KINDS = ['raised', 'resolved', 'summary', 'test'] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/**
 * `waiting`: nothing of it was sent, and more alerts may join it. `handed_over`: its text is fixed, and it may have
 * arrived. `done`: it was sent, or the receiver took it.
 */
export const NOTICE_STATUSES = ['waiting', 'handed_over', 'done', 'failed'] as const
export type NoticeStatus = (typeof NOTICE_STATUSES)[number]

export const CHANNELS_MAX = 20
/** The longest that an owner may let a cause last before an alert: a week. */
export const AFTER_MINUTES_MAX = 10_080
/** Most notices of a channel in any hour; further ones become one summary. */
export const NOTICES_PER_HOUR = 6
/** Most alerts that one text names; the others are only counted. */
const NAMED_MAX = 3

/** An alert as a notice says it. */
export type NoticeAlert = {
  readonly title: string
  /** How long the cause has lasted, or had lasted when it ended. */
  readonly lastedMs: number
  readonly isOver: boolean
}

/** The title and the text of a notice. `also` is the number of alerts that are not listed. */
export function noticeWords(
  kind: NoticeKind,
  alerts: readonly NoticeAlert[],
  { time, also }: { readonly time: string; readonly also: number },
): { readonly title: string; readonly text: string } {
  if (kind === 'test') {
    return { title: 'Hookline: test', text: `This is a test of your alerts, made at ${time}.` }
  }
  const lasting = alerts.filter(({ isOver }) => !isOver)
  const over = alerts.filter(({ isOver }) => isOver)
  const parts = [
    ...(kind === 'summary' ? ['Summary of what came since the last alerts.'] : []),
    ...(lasting.length > 0 ? [listed(lasting, 'for')] : []),
    ...(over.length > 0 ? [`Over: ${listed(over, 'after')}`] : []),
    ...(also > 0 ? [`And ${countWords(also, 'more alert')}.`] : []),
    `As of ${time}.`,
  ]
  return { title: titleOf(lasting.length + also, over.length), text: parts.join(' ') }
}

function titleOf(lasting: number, over: number): string {
  const counts = [
    ...(lasting > 0 ? [countWords(lasting, 'problem')] : []),
    ...(over > 0 ? [`${over} over`] : []),
  ]
  return `Hookline: ${counts.join(', ')}`
}

function listed(alerts: readonly NoticeAlert[], how: 'for' | 'after'): string {
  const named = alerts
    .slice(0, NAMED_MAX)
    .map(({ title, lastedMs }) => `${title} (${how} ${durationWords(lastedMs)})`)
  const rest = alerts.length - named.length
  return `${[...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ')}.`
}
