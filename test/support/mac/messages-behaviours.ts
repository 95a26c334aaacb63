// What becomes of a message that Messages has taken, as steps of a trace. Which of this was seen on a
// real Mac, and by whom, is said beside each; the times between the flags are ours.

import { insert, join, update } from './trace-steps.ts'
import type { RowValues, TraceStep } from './trace.ts'

export type Stage = 'account' | 'resolve' | 'send'

/** A message on its way out. */
export type CarriedText = {
  readonly from: string
  /** A handle, or the identifier of a group. */
  readonly to: string
  readonly text: string
  /** Path of the file that it is instead of a text. */
  readonly file?: string | undefined
}

/** Milliseconds from the moment at which `send` returns to the script. */
export type Delays = {
  /** How long the script takes until then. */
  readonly scriptMs: number
  readonly rowMs: number
  readonly joinMs: number
  readonly sentMs: number
  readonly deliveredMs: number
  readonly readMs: number
  /** When a slow message is sent. */
  readonly slowMs: number
  /** When a message appears whose script hung: after the script was killed. */
  readonly lateMs: number
}

/** A row was seen 26 ms after osascript ended (imessage-max), and osascript takes about 100 ms. */
export const DELAYS: Delays = {
  scriptMs: 100,
  rowMs: 26,
  joinMs: 30,
  sentMs: 300,
  deliveredMs: 700,
  readMs: 2_000,
  slowMs: 30_000,
  lateMs: 45_000,
}

/** A step, or the moment at which the network takes the message: what counts for "never twice". */
export type SendStep =
  | TraceStep
  | { readonly t: number; readonly op: 'carry'; readonly letter: CarriedText }

/** What becomes of a message that came through `send`. */
export type Fate = keyof typeof FATES

/** Another person, into whose chat a misrouted message goes. */
const OTHER_PERSON = '+15550006666'
/** FZErrorType 22: the recipient does not exist on iMessage. */
const NOT_ON_IMESSAGE = 22
/** FZErrorType 6: no network. */
const NO_NETWORK = 6
/** FZErrorType 25. */
const NOT_TRANSCODED = 25
const ROW_LATE_MS = 300_000
const FAILURE_LATER_MS = 2_000
const SECOND_ROW_MS = 1_500
const CLEARED_MS = 5_000
const DOWNGRADED_MS = 3_000
const JOIN_LATE_MS = 3_000
/** Messages commits the preview of a link by itself, up to two seconds later (imsg). */
const PREVIEW_MS = 700
const LINK = /https?:\/\/\S/

type Course = (letter: CarriedText, delays: Delays) => readonly SendStep[]

const FATES = {
  /** Row, join, sent, delivered, read. */
  happy: (letter, delays) => [...writes(letter, delays), ...carries(letter, delays)],

  /** Written at once as failed: 7 of 7 probes of imessage-max. */
  failed22_at_once: (letter, delays) => writes(letter, delays, FAILED),

  /** Error 22 one to two seconds after `send` returned (mac_messages_mcp). */
  failed22_after_2s: (letter, delays) => [
    ...writes(letter, delays),
    update(FAILURE_LATER_MS, 'sent', FAILED),
  ],

  /** A failed row, then a second and clean one for the same send (imessage-max's verifier). */
  failed_then_clean_row: (letter, delays) => [
    ...writes(letter, delays, FAILED),
    ...later(SECOND_ROW_MS, 'again', [...writes(letter, delays), ...carries(letter, delays)]),
  ],

  /** Messages tries a message without network again by itself, in the same row. */
  fails_then_clears: (letter, delays) => [
    ...writes(letter, delays),
    update(delays.sentMs, 'sent', { error: NO_NETWORK, is_finished: 1 }),
    update(CLEARED_MS, 'sent', { error: 0, is_finished: 0 }),
    ...later(CLEARED_MS, 'sent', carries(letter, delays)),
  ],

  /** "Send as Text Message": the row changes its service, and SMS is never delivered nor read. */
  downgraded_to_sms: (letter, delays) => [
    ...writes(letter, delays),
    carry(DOWNGRADED_MS, letter),
    update(DOWNGRADED_MS, 'sent', { ...SENT, service: 'SMS', was_downgraded: 1 }),
  ],

  /** A carrier's text message from the beginning: what a chat of that service makes of a send. */
  sms: (letter, delays) => [
    ...writes(letter, delays, { service: 'SMS' }),
    carry(delays.sentMs, letter),
    update(delays.sentMs, 'sent', SENT),
  ],

  /** RCS has receipts. */
  rcs: (letter, delays) => [
    ...writes(letter, delays, { service: 'RCS' }),
    ...carries(letter, delays),
  ],

  /** On 26: accepted, and a row without chat and body whose handle is the target itself (imsg). */
  ghost_row: (letter, { rowMs }) => [
    insert(rowMs, 'sent', {
      ...ownRow(letter, rowMs),
      handle: letter.to,
      service: 'SMS',
      body: null,
    }),
  ],

  /** The row appears in the chat with another person (imessage-max calls it a mismatch). */
  misrouted: (letter, delays) => {
    const wrong = { ...letter, to: OTHER_PERSON }
    return [...writes(wrong, delays), ...carries(wrong, delays)]
  },

  /** A text with a link becomes a row with the text before it, and a row with its preview (imsg). */
  url_split_in_two_rows: (letter, delays) => {
    const at = letter.text.search(LINK)
    const link = { ...letter, text: letter.text.slice(Math.max(at, 0)) }
    const preview = later(PREVIEW_MS, 'preview', [
      ...writes(link, delays, { balloon_bundle_id: 'com.apple.messages.URLBalloonProvider' }),
      ...flags(delays),
    ])
    if (at <= 0) return [...preview, carry(PREVIEW_MS + delays.sentMs, letter)]
    const before = { ...letter, text: letter.text.slice(0, at).trimEnd() }
    const steps = [...writes(before, delays), ...flags(delays), carry(delays.sentMs, letter)]
    return [...steps, ...preview]
  },

  /** The row is there before it is joined to a chat. */
  join_3s_late: (letter, delays) => [
    ...writes(letter, { ...delays, joinMs: JOIN_LATE_MS }),
    ...carries(letter, delays),
  ],

  /** Rows that stay without a chat exist (beeper). */
  join_never: (letter, delays) => [
    insert(delays.rowMs, 'sent', ownRow(letter, delays.rowMs)),
    ...carries(letter, delays),
  ],

  /** Messages reads and converts a file before it writes its row (BlueBubbles waits for 20 minutes). */
  row_5min_late: (letter, delays) => {
    const late = delayedBy(ROW_LATE_MS, delays)
    return [...writes(letter, late), ...carries(letter, late)]
  },

  /** A file that its sandbox may not read is accepted, and fails later (imsg: error 25). */
  failed25_after_2s: (letter, delays) => [
    ...writes(letter, delays),
    update(FAILURE_LATER_MS, 'sent', { ...FAILED, error: NOT_TRANSCODED }),
  ],

  /** The script ends well and nothing ever appears. */
  no_row: () => [],

  /** Without a network the row waits for a while; Messages itself goes on trying. */
  slow_sending: (letter, delays) => [
    ...writes(letter, delays),
    ...later(delays.slowMs, 'sent', carries(letter, delays)),
  ],

  /** FZErrorType 30: the account is signed in and disabled. */
  account_disabled: (letter, delays) => writes(letter, delays, { ...FAILED, error: 30 }),

  /** The row stays as it was written. */
  stuck: (letter, delays) => writes(letter, delays),
} satisfies Readonly<Record<string, Course>>

export function isFate(name: string): name is Fate {
  return Object.hasOwn(FATES, name)
}

/** The same `ms` later. */
export function delayedBy(ms: number, delays: Delays): Delays {
  return {
    ...delays,
    rowMs: delays.rowMs + ms,
    joinMs: delays.joinMs + ms,
    sentMs: delays.sentMs + ms,
    deliveredMs: delays.deliveredMs + ms,
    readMs: delays.readMs + ms,
  }
}

/** What becomes of `letter`, in order of time. */
export function fateOf(fate: Fate, letter: CarriedText, delays: Delays): readonly SendStep[] {
  return [...FATES[fate](letter, delays)].sort((a, b) => a.t - b.t)
}

/** The same as rows of a message that a person typed on the Mac: it is not counted. */
export function typedOnTheMac(fate: Fate, letter: CarriedText): readonly TraceStep[] {
  return fateOf(fate, letter, DELAYS).flatMap((step) => (step.op === 'carry' ? [] : [step]))
}

const FAILED: RowValues = { error: NOT_ON_IMESSAGE, is_sent: 0, is_finished: 1 }
const SENT: RowValues = { error: 0, is_sent: 1, is_finished: 1 }

function ownRow({ from, to, text, file }: CarriedText, t: number): RowValues {
  return {
    ...(to.startsWith('chat') ? {} : { handle: to }),
    ...(file === undefined ? { body: text } : { file }),
    date: { at: t },
    service: 'iMessage',
    account: `P:${from}`,
    destination_caller_id: from,
    is_from_me: 1,
    is_delivered: 0,
    is_finished: 0,
  }
}

function writes(letter: CarriedText, { rowMs, joinMs }: Delays, more: RowValues = {}): TraceStep[] {
  const row = insert(rowMs, 'sent', { ...ownRow(letter, rowMs), ...more })
  return [row, join(joinMs, 'sent', letter.to)]
}

function carries(letter: CarriedText, delays: Delays): SendStep[] {
  return [carry(delays.sentMs, letter), ...flags(delays)]
}

function flags({ sentMs, deliveredMs, readMs }: Delays): TraceStep[] {
  return [
    update(sentMs, 'sent', SENT),
    update(deliveredMs, 'sent', { is_delivered: 1, date_delivered: { at: deliveredMs } }),
    update(readMs, 'sent', { is_read: 1, date_read: { at: readMs } }),
  ]
}

/** The same steps `ms` later, on a row of another name. */
function later(ms: number, row: string, steps: readonly SendStep[]): SendStep[] {
  return steps.map((step) => {
    const moved = { ...step, t: step.t + ms }
    if ('set' in moved) return { ...moved, row, set: movedDates(moved.set, ms) }
    return 'row' in moved ? { ...moved, row } : moved
  })
}

function movedDates(set: RowValues, ms: number): RowValues {
  const moved = Object.entries(set).map(([column, value]) => {
    const isDate = typeof value === 'object' && value !== null && 'at' in value
    return [column, isDate ? { ...value, at: value.at + ms } : value] as const
  })
  return Object.fromEntries(moved)
}

function carry(t: number, letter: CarriedText): SendStep {
  return { t, op: 'carry', letter }
}
